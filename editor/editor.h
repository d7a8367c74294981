/* editor.h - the Editor's pipeline and the interfaces between its parts */
#ifndef EDITOR_EDITOR_H
#define EDITOR_EDITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/blockmap.h"
#include "lib/profile.h"
#include "lib/wr.h"
#include "postmorph/ir.h"

struct edit_options {
	/* comma-separated names from the pass table; NULL = the default list, with a minus
	 * in front of each = that but for these */
	const char *passes;
	const char *print_after;	/* name of a pass, NULL = none; dump goes to stderr */
	bool all;		/* move every movable function, profile or not */
	/* leave pointers to moved functions, and labels in them, as they are */
	bool keep_pointers;
	/* run the test-only pass shuffle with `seed` instead of the passes */
	bool shuffle;
	uint64_t seed;
	uint32_t generation;	/* number recorded in the block map */
};

struct edit_stats {		/* of one generation; one line each in --stats, "name value" */
	uint32_t functions, functions_moved;
	uint32_t functions_redirected;		/* pointers to them lead to the new text */
	uint32_t functions_threaded;		/* pointers to labels in them do */
	uint64_t hot_bytes, fluff_bytes;	/* of new text */
	uint64_t original_bytes;		/* of the moved functions */
	/* Ext-TSP score over the moved functions, normalised by the sum of all edge counts */
	double exttsp_before, exttsp_after;
	double samples;
	uint64_t file_bytes_before, file_bytes_after;
	uint32_t jump_tables, jump_tables_new;
	uint32_t calls_left_out;	/* of the profile: at no instruction */
	char layout;		/* 'F' or 'L': how the segments were added (elfout_room.c) */
};

/* original bytes + profile -> generation bytes, deterministic.  profile may be NULL with
 * options->all.  ERR_REFUSED when nothing can be moved or the file must not be touched. */
int edit_optimize(struct bytes original, const struct profile *profile,
		  const struct edit_options *options, struct arena *a, struct wr *generation,
		  struct wr *map, struct edit_stats *stats, struct err *err);

/* optimize.c: analyzes `original` and attaches the profile, which may be NULL with `all`.
 * Without `all` only functions with samples are looked at closely, and unless the profile is
 * exact those in which edges were seen, those seen to be called, and those that all of these
 * call; these are `moved`, too. */
int edit_analyze(struct bytes original, const struct profile *profile, bool all,
		 struct arena *a, struct prog *prog, struct err *err);
/* attach.c: sets block.samples, fn.samples, fn.moved and what was seen of edges and calls
 * from the profile (digest must match).  A profile block that is no block here is an error:
 * wrong analysis version; a call at no instruction is left out and counted.  Blocks of an
 * exact profile get executions times length as samples. */
int profile_attach(struct prog *prog, const struct profile *profile, struct err *err);
/* infer.c: fills block.count, fall_count, taken_count, jump_table.count, fn.entry_count of
 * every moved function: by exact.c when all is known, else what is likeliest given samples,
 * seen edges and calls (infer.c). */
int infer_counts(struct prog *prog, struct err *err);
/* exact.c: the same for one function from samples and seen edges that are exact and
 * complete. */
void exact_counts(struct arena *a, struct fn *fn);

/* counts.c: the counts of all moved functions, in the form of a complete profile (`clock
 * exact`).  Estimates are in thousandths of a sample per instruction.  Arena lifetime. */
void counts_profile(const struct prog *prog, const char *module, struct profile *out);

/* emit.c: writes the generation of that number from prog->order, fn->order and block->cold. */
int emit_generation(struct prog *prog, uint32_t generation, struct wr *out, struct wr *map,
		    struct edit_stats *stats, struct err *err);

/* The same with code that counts, and a routine that runs first; fills what is known only
 * then in `tallies` and their routine. */
struct tallies;
int emit_instrumented(struct prog *prog, struct tallies *tallies, struct wr *out,
		      struct wr *map, struct edit_stats *stats, struct err *err);

/* verify.c: 0 only when `generation` is shown, block by block, to be `original` in another
 * order; else -1 with ERR_REFUSED and the first doubt, naming addresses on both sides.
 * Shares only the instruction decoder and the ELF reader (image.h) with what produced the
 * generation. */
struct verify_stats {
	uint32_t blocks, instructions, entries, tables, unwind_rows;
	uint32_t generation;
	struct digest original;
};
int verify_generation(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err);

#endif
