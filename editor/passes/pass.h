/* pass.h - the passes over the annotated program, and their runner
 *
 * A pass reorders or marks; it never adds, drops or rewrites code.  After each pass the parts
 * of the program that it may change are checked, after the last one everything (ir_check()).
 */
#ifndef EDITOR_PASSES_PASS_H
#define EDITOR_PASSES_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "postmorph/ir/ir.h"

struct edit_options {
	/* comma-separated names from the pass table; NULL = the default list; with a minus in
	 * front of each name = the default list without these */
	const char *passes;
	const char *print_after;	/* name of a pass, NULL = none; dump goes to stderr */
	bool all;		/* move every movable function, profile or not */
	/* leave pointers to moved functions, and labels in them, as they are */
	bool keep_pointers;
	/* run the test-only pass shuffle with `seed` instead of the passes */
	bool shuffle;
	uint64_t seed;
	/* family of processors (lib/cpucosts.def) for which code is laid out; NULL = that which
	 * this runs on */
	const char *processor;
	/* where new text goes, for a process in which its usual place is taken; 0: there */
	uint64_t text_at;
	uint32_t generation;	/* number recorded in the block map */
};

struct pass {
	const char *name;	/* for --passes= and --print-after= */
	const char *help;	/* NULL: an earlier step of the pass of that name */
	bool by_default;
	int (*run)(struct prog *prog, const struct edit_options *options, struct err *err);
	bool keeps_blocks;	/* leaves their order, and cold, warm and stays, as they are */
};

extern const struct pass passes[];	/* in running order, ends with name == NULL */

/* Runs the passes that options name (always in table order), or the default ones.  Unknown
 * names are ERR_USAGE and list the known ones. */
int passes_run(struct prog *prog, const struct edit_options *options, struct err *err);

/* needs: counts.  Changes: block->cold, block->warm.  Keeps: order. */
int pass_fluff(struct prog *prog, const struct edit_options *options, struct err *err);
/* needs: counts, cold.  Changes: block->stays, fn->leaves.  Keeps the rest. */
int pass_leave(struct prog *prog, const struct edit_options *options, struct err *err);
/* needs: counts, cold, warm.  Changes: prog->order, fn->moved.  Keeps the rest. */
int pass_layout_choose(struct prog *prog, const struct edit_options *options, struct err *err);
/* needs: counts, cold, warm.  Changes: fn->order.  Keeps the rest. */
int pass_align(struct prog *prog, const struct edit_options *options, struct err *err);
/* needs: counts, cold, warm, fn->order.  Changes: prog->order, fn->moved.  Keeps the rest. */
int pass_layout(struct prog *prog, const struct edit_options *options, struct err *err);
/* needs: cold, warm.  Changes: block->direct.  Keeps the rest. */
int pass_calls(struct prog *prog, const struct edit_options *options, struct err *err);
/* True when calls of the block may be made direct at all. */
bool pass_calls_may(const struct fn *fn, const struct block *b);
/* needs: counts, cold, warm.  Changes: block->in_line, block->jump_in_line, prog->line_costs.
 * Keeps the rest.  An unknown processor is ERR_USAGE and lists the known ones. */
int pass_lines_choose(struct prog *prog, const struct edit_options *options, struct err *err);
int pass_lines(struct prog *prog, const struct edit_options *options, struct err *err);
/* test only; needs nothing.  Changes fn->order, cold, warm, stays, direct, in_line, counts
 * and prog->order to any valid ones. */
int pass_shuffle(struct prog *prog, const struct edit_options *options, struct err *err);

#endif
