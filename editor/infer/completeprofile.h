/* completeprofile.h - inferred counts in the form of a complete profile */
#ifndef EDITOR_INFER_COMPLETEPROFILE_H
#define EDITOR_INFER_COMPLETEPROFILE_H

#include "lib/profile.h"
#include "postmorph/ir/ir.h"

/* The counts of all moved functions, in the form of a complete profile (`clock
 * exact`).  Estimates are in thousandths of a sample per instruction.  Arena lifetime. */
void completeprofile_make(const struct prog *prog, const char *module, struct profile *out);

#endif
