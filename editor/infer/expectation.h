/* expectation.h - the numbers that inference assumes where nothing was observed */
#ifndef EDITOR_INFER_EXPECTATION_H
#define EDITOR_INFER_EXPECTATION_H

#include <math.h>

#include "postmorph/ir/ir.h"
#include "postmorph/machine/insncost.h"

/* Executions of a call that are assumed to have gone to targets nobody saw; chosen, not
 * measured. */
#define EXPECTATION_UNSEEN_TARGET 0.5

/* Samples expected of one execution of the block, in units of the mean instruction.  Even a
 * short block takes some time; how much is chosen, not measured. */
static inline double expectation_samples(const struct prog *prog, const struct fn *fn,
					 const struct block *b)
{
	return b->padding ? 0 : fmax(block_cost(prog, fn, b), 0.3);
}

#endif
