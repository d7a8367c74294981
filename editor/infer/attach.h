/* attach.h - puts a profile on the annotated program */
#ifndef EDITOR_INFER_ATTACH_H
#define EDITOR_INFER_ATTACH_H

#include "lib/profile.h"
#include "postmorph/ir/ir.h"

/* Sets block.samples, fn.samples, fn.moved, fn.seen_edge and fn.seen_call from the profile.  -1
 * with *err filled when it is of another file (by its digest), or when one of its blocks is no
 * block here: then another version of the analysis made it.  A call at no instruction is left
 * out and counted in prog->calls_left_out.  Blocks of an exact profile get executions times
 * length as samples, those of one of branch stacks the samples that inference expects of so
 * many executions. */
int profile_attach(struct prog *prog, const struct profile *profile, struct err *err);

#endif
