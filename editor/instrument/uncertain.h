/* uncertain.h - functions of which it would help most to know how they run */
#ifndef EDITOR_INSTRUMENT_UNCERTAIN_H
#define EDITOR_INSTRUMENT_UNCERTAIN_H

#include "postmorph/ir/ir.h"

/* [nfn], in arena `a`: the fewest functions that together have `share` of what is uncertain
 * in the estimates of all moved ones that are known to run: how often they choose a way, by
 * how often it was seen which. */
bool *uncertain_select(const struct prog *prog, double share, struct arena *a);

#endif
