/* instrument.h - instrumentation: a generation with edge counters, and the exact profile that
 * follows from its counters */
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
	/* counters in memory of the process alone (editor/emit/counterstart.h): the generation
	 * can be verified, and `counts` gets what reads them; the path means nothing */
	bool is_private;
	/* where the new segments are to be, as for edit_optimize(); 0: behind the original's */
	uint64_t text_at;
	/* locked instructions: counts are exact also when several threads or processes count
	 * at the same time */
	bool threads;
	/* counters are put on edges that run seldom by this profile; NULL: by a static guess */
	const struct profile *profile;
	/* with a profile, instrument only the fewest functions that together have this share,
	 * 0 to 1, of the uncertainty of its estimates (uncertain.h); 0: all functions */
	double uncertain;
};

struct instrument_stats {
	uint32_t functions, counters;	/* that count */
	double open;			/* without a profile 1; else uncertain_open() */
};

/* Appends to `generation` the instrumented generation, in which the functions that can be moved
 * have edge counters (or those of them that `uncertain` chooses), and to `counts` its file of
 * counts (lib/countsfile.h) with all counters 0.  Both must be empty and are the caller's.  The
 * same input gives the same bytes.  -1 with ERR_REFUSED when nothing can be moved, ERR_INPUT
 * when file or profile is malformed. */
int edit_instrument(struct bytes original, const struct instrument_options *options,
		    struct arena *a, struct wr *generation, struct wr *counts,
		    struct instrument_stats *stats, struct err *err);

/* Appends the exact profile of a file of counts, as text.  `original` must be the file that was
 * instrumented.  -1 with ERR_INPUT when it is another one, or when the program has not run. */
int edit_counts(struct bytes original, struct bytes counts, struct arena *a, struct wr *profile,
		struct err *err);

/* --- shared by the two, internal --- */

struct countgraph;
struct edgecounters;
struct flaglive;
struct flagscan;

struct instrument {
	struct prog *prog;
	struct flaglive *flags;		/* NULL: counters are private, and `scan` is there */
	const struct flagscan *scan;
	uint32_t ncounter;
	struct instrument_site {
		uint32_t fn, block, insn;	/* insn: of the block */
		/* may go to a block by its address in the original: goes through the counter
		 * runtime's jump entry */
		bool jumps;
	} *site;	 /* [nsite] indirect calls and jumps whose targets are recorded */
	uint32_t nsite;
	/* frequencies (countgraph.h) of all functions that can be moved: for each a byte that
	 * says whether it is instrumented, then its blocks' if it is; n == 0: none */
	struct bytes heat;
	double open;			/* what the profile leaves open; 1 without one */
	uint32_t *heat_at;		/* [nfn] offset in heat of a function's blocks */
};

struct instrument_choice {		/* by what functions and edges are chosen */
	const struct profile *profile;	/* as in struct instrument_options */
	double uncertain;
	/* without a profile: the heat in a file of counts, unchecked; n == 0: none */
	struct bytes heat;
	bool is_private;
	/* not NULL: gets the edge counters of each function, but for their addresses, and
	 * `nentry` */
	struct edgecounters *counters;
};

/* Analyses the original and numbers counters and sites: the same numbers for the same original
 * and heat.  *out lives in arena `a`. */
int instrument_prepare(struct bytes original, const struct instrument_choice *by,
		       struct arena *a, struct instrument *out, struct err *err);
/* The frequencies of function `f`'s blocks, COUNTGRAPH_HEAT bytes each; NULL: there are
 * none. */
const uint8_t *instrument_heat(const struct instrument *in, uint32_t f);
/* The graph of function `f`, in arena `a`. */
void instrument_graph(const struct instrument *in, uint32_t f, struct arena *a,
		      struct countgraph *out);
/* The edge has a counter of its own.  Other counted edges get their counts from the recorded
 * targets of their jump. */
bool instrument_has_counter(const struct countgraph *g, uint32_t edge);

#endif
