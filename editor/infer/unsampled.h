/* unsampled.h - blocks of which nothing that was seen tells that they run */
#ifndef EDITOR_INFER_UNSAMPLED_H
#define EDITOR_INFER_UNSAMPLED_H

#include "postmorph/ir/ir.h"

/* Nothing that was seen tells that the block runs, whatever its count is guessed to be. */
static inline bool unsampled_is(const struct block *b)
{
	return b->count <= 0 || b->guessed;
}

/* Returns, for each unsampled block, the executions of the hottest other block that leads to
 * it, be it over unsampled blocks that may run; 0 if none does, and for other blocks.
 * [nblock], in arena `a`. */
double *unsampled_reached(const struct fn *fn, struct arena *a);
/* Sets the confidence of unsampled blocks, which is in that they do not run. */
void unsampled_judge(struct fn *fn, struct arena *scratch);

#endif
