/* unsampled.h - blocks that no sample and no seen edge shows to run */
#ifndef EDITOR_INFER_UNSAMPLED_H
#define EDITOR_INFER_UNSAMPLED_H

#include "postmorph/ir/ir.h"

/* True when no sample and no seen edge shows that the block runs, whatever its guessed
 * count. */
static inline bool unsampled_is(const struct block *b)
{
	return b->count <= 0 || b->guessed;
}

/* Returns an array [nblock] in arena `a`: for each unsampled block, the executions of the
 * hottest other block that leads to it, directly or over unsampled blocks that may run; 0 if
 * none does, and for other blocks. */
double *unsampled_reached(const struct fn *fn, struct arena *a);
/* Sets the confidence of unsampled blocks, which is in that they do not run. */
void unsampled_judge(struct fn *fn, struct arena *scratch);

#endif
