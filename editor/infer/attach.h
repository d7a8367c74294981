/* attach.h - a profile put on the annotated program */
#ifndef EDITOR_INFER_ATTACH_H
#define EDITOR_INFER_ATTACH_H

#include "lib/profile.h"
#include "postmorph/ir/ir.h"

/* Sets block.samples, fn.samples, fn.moved and what was seen of edges and calls
 * from the profile (digest must match).  A profile block that is no block here is an error:
 * wrong analysis version; a call at no instruction is left out and counted.  Blocks of an
 * exact profile get executions times length as samples. */
int profile_attach(struct prog *prog, const struct profile *profile, struct err *err);

#endif
