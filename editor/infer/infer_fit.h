/* infer_fit.h - estimates counts of functions with samples or seen edges by likelihood */
#ifndef EDITOR_INFER_INFER_FIT_H
#define EDITOR_INFER_INFER_FIT_H

#include "postmorph/ir/ir.h"

/* Makes the counts of moved functions with samples or seen edges likelier, calls between
 * functions included; they must have counts (infer.c).  weight[BRANCHGUESS_WEIGHTS] gets
 * what was learnt of features of branches.  False when there is no such function. */
bool infer_fit(struct prog *prog, struct arena *scratch, double *weight);

#endif
