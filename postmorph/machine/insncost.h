/* insncost.h - how long an instruction takes, compared with others */
#ifndef POSTMORPH_MACHINE_INSNCOST_H
#define POSTMORPH_MACHINE_INSNCOST_H

#include "postmorph/ir/ir.h"

/* Clock samples that one execution of the block is expected to get, in units of the mean
 * instruction.  A guess from the kinds of its instructions; positive if it has any but NOPs. */
double block_cost(const struct prog *prog, const struct fn *fn, const struct block *b);

#endif
