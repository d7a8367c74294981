/* unsampled.h - blocks of which nothing that was seen says that they run */
#ifndef EDITOR_INFER_UNSAMPLED_H
#define EDITOR_INFER_UNSAMPLED_H

#include "postmorph/ir/ir.h"

static inline bool unsampled_is(const struct block *b)
{
	return b->count <= 0 || b->guessed;
}

/* [nblock] For each unseen block executions of the hottest seen one that leads to it, over
 * unseen ones of which it is not sure that they do not run; 0 if none does, and for seen
 * ones. */
double *unsampled_reached(const struct fn *fn, struct arena *a);
/* Sets the confidence of unseen blocks: in that they do not run. */
void unsampled_judge(struct fn *fn, struct arena *scratch);

#endif
