/* expectation.h - what inference expects of code of which nothing else is known */
#ifndef EDITOR_INFER_EXPECTATION_H
#define EDITOR_INFER_EXPECTATION_H

#include <math.h>

#include "postmorph/ir/ir.h"
#include "postmorph/machine/insncost.h"

/* Calls of an instruction that went elsewhere than all that were seen; chosen, not measured. */
#define EXPECTATION_UNSEEN_TARGET 0.5

/* Samples expected of one execution of the block, in units of the mean instruction.  Even a
 * short block takes some time; how much is chosen, not measured. */
static inline double expectation_samples(const struct prog *prog, const struct fn *fn,
					 const struct block *b)
{
	return b->padding ? 0 : fmax(block_cost(prog, fn, b), 0.3);
}

#endif
