/* instrument.h - an instrumented generation, and a profile from what it counted */
#ifndef EDITOR_INSTRUMENT_INSTRUMENT_H
#define EDITOR_INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/profile.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;

struct instrument_options {
	const char *original;		/* absolute path of the original, for the profile */
	const char *counts;		/* absolute path of the file of counts */
	/* counters are exact when several threads or processes count at the same time */
	bool threads;
	/* counters fall where it says that little runs; NULL: by guess */
	const struct profile *profile;
	/* count the fewest functions that together have this share of what is uncertain in
	 * what the profile tells (uncertain.h); 0: all */
	double uncertain;
};

/* Original bytes -> an instrumented generation and a file of counts with nothing counted
 * yet.  All functions that can be moved are, or those that are chosen.  Deterministic. */
int edit_instrument(struct bytes original, const struct instrument_options *options,
		    struct arena *a, struct wr *generation, struct wr *counts, struct err *err);

/* The exact profile, as text.  `original` must be the file that was instrumented. */
int edit_counts(struct bytes original, struct bytes counts, struct arena *a, struct wr *profile,
		struct err *err);

/* --- shared by the two, internal --- */

struct countgraph;
struct flaglive;

struct instrument {
	struct prog *prog;
	struct flaglive *flags;
	uint32_t ncounter;
	struct instrument_site {
		uint32_t fn, block, insn;	/* insn: of the block */
		/* may go to blocks by addresses of the original */
		bool jumps;
	} *site;	 /* [nsite] indirect calls and jumps whose targets are told */
	uint32_t nsite;
	struct bytes heat;		/* of all functions that can be moved; n == 0: none */
	uint32_t *heat_at;		/* [nfn] where a function's begins (countgraph.h) */
};

struct instrument_choice {		/* of what is counted, and where counters fall */
	const struct profile *profile;
	double uncertain;
	/* without a profile: that of a file of counts, any bytes; or none */
	struct bytes heat;
};

/* Analyses, and numbers what is counted: the same for the same original and heat. */
int instrument_prepare(struct bytes original, const struct instrument_choice *by,
		       struct arena *a, struct instrument *out, struct err *err);
/* Of one function; NULL: none. */
const uint8_t *instrument_heat(const struct instrument *in, uint32_t f);
/* The edge has a counter; others that are counted are told by the targets of their jump. */
bool instrument_has_counter(const struct countgraph *g, uint32_t edge);

#endif
