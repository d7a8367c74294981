/* uncertain.h - chooses the functions whose exact counts would help most */
#ifndef EDITOR_INSTRUMENT_UNCERTAIN_H
#define EDITOR_INSTRUMENT_UNCERTAIN_H

#include "postmorph/ir/ir.h"

/* [nfn], in arena `a`: true for the fewest functions that together have `share` (0 to 1) of the
 * uncertainty in the estimates of all moved functions that are known to run.  A branch or
 * computed jump is the more uncertain the oftener it runs, and the fewer of its edges were
 * observed. */
bool *uncertain_select(const struct prog *prog, double share, struct arena *a);

#endif
