/* optimize.h - the pipeline: original and profile in, generation and block map out */
#ifndef EDITOR_OPTIMIZE_H
#define EDITOR_OPTIMIZE_H

#include "editor/emit/generation.h"
#include "editor/passes/pass.h"
#include "lib/profile.h"

/* original bytes + profile -> generation bytes, deterministic.  profile may be NULL with
 * options->all.  ERR_REFUSED when nothing can be moved or the file must not be touched. */
int edit_optimize(struct bytes original, const struct profile *profile,
		  const struct edit_options *options, struct arena *a, struct wr *generation,
		  struct wr *map, struct edit_stats *stats, struct err *err);

/* Analyzes `original` and attaches the profile, which may be NULL with `all`.
 * Without `all` only functions with samples are looked at closely, and unless the profile is
 * exact those in which edges were seen, those seen to be called, and those that all of these
 * call; these are `moved`, too. */
int edit_analyze(struct bytes original, const struct profile *profile, bool all,
		 struct arena *a, struct prog *prog, struct err *err);

#endif
