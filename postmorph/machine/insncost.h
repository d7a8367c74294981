/* insncost.h - estimates how long instructions take, compared with each other */
#ifndef POSTMORPH_MACHINE_INSNCOST_H
#define POSTMORPH_MACHINE_INSNCOST_H

#include "postmorph/ir/ir.h"

/* Clock samples that one execution of the block is expected to get, in units of the mean
 * instruction.  Estimated from the kinds of its instructions; positive unless all are NOPs. */
double block_cost(const struct prog *prog, const struct fn *fn, const struct block *b);

#endif
