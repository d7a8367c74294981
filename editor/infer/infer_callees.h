/* infer_callees.h - estimates counts of functions without samples from their callers' counts */
#ifndef EDITOR_INFER_INFER_CALLEES_H
#define EDITOR_INFER_INFER_CALLEES_H

#include "postmorph/ir/ir.h"

/* Sets the counts of moved functions of which nothing was seen, by the counts of those that
 * call them and by what infer_fit() learnt of features of branches. */
void infer_callees(struct prog *prog, const double *weight, struct arena *scratch);

#endif
