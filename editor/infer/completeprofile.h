/* completeprofile.h - writes inferred counts in the form of a complete profile */
#ifndef EDITOR_INFER_COMPLETEPROFILE_H
#define EDITOR_INFER_COMPLETEPROFILE_H

#include "lib/profile.h"
#include "postmorph/ir/ir.h"

/* Sets *out to the counts of all moved functions, in the form of a complete profile (`clock
 * exact`): executions if those are known, else in thousandths of a sample per instruction.
 * Lives in the program's arena. */
void completeprofile_make(const struct prog *prog, const char *module, struct profile *out);

#endif
