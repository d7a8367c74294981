/* uncertain.h - chooses the functions whose exact counts would help most */
#ifndef EDITOR_INSTRUMENT_UNCERTAIN_H
#define EDITOR_INSTRUMENT_UNCERTAIN_H

#include "postmorph/ir/ir.h"

/* [nfn], in arena `a`: true for the fewest functions that together have `share` (0 to 1) of the
 * uncertainty in the estimates of all moved functions that are known to run.  A branch or
 * computed jump is the more uncertain the oftener it runs, and the fewer of its edges were
 * observed. */
bool *uncertain_select(const struct prog *prog, double share, struct arena *a);

/* What is left open by what `prog`, whose counts are estimates, tells of the branches and
 * computed jumps of all moved functions: the part of their executions whose likelier successor
 * is expected to be another than the one taken for it, of what that part is where nothing is
 * known.  0 to 1; 1 if nothing runs. */
double uncertain_open(const struct prog *prog);

#endif
