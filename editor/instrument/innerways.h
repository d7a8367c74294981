/* innerways.h - where something but branches leads into functions
 *
 * There a computed jump at which the frame is that of the entry need not be a tail call:
 * compilers dispatch like that in functions without a frame, and keep flags across it.
 */
#ifndef EDITOR_INSTRUMENT_INNERWAYS_H
#define EDITOR_INSTRUMENT_INNERWAYS_H

#include "postmorph/ir/ir.h"

struct memview_file;

struct innerway {
	uint32_t fn;
	vaddr to;		/* where one of its jump tables leads, be it outside */
};

struct innerways {
	const bool *any;	/* [nfn] something leads inside, or may */
	/* [nfn] and that is not all in way[]: computed jumps whose table is not known, or a
	 * label, which something else than a table leads to, be it to add a distance to it; its
	 * own, or of a function that goes on here without a call */
	const bool *unclear;
	/* [nfn] calculated_find(); NULL: no jumps, or nobody knows what leads where */
	const bool *const *calculated;
	const bool *loose;	/* [nfn] likewise, but for jumps with a known table */
	const struct innerway *way;	/* [n] ascending, each once */
	uint32_t n;
	const vaddr *named;	/* [nnamed] ascending: entries that something leads to, too */
	uint32_t nnamed;
};

/* All in the arena; `words` are those that the loader fills.  NULL, nobody knows them: then all
 * is unclear. */
const struct innerways *innerways_find(const struct prog *prog,
				       const struct memview_file *words, struct arena *a);
/* The first way into the function, or into a later one. */
uint32_t innerways_first(const struct innerways *w, uint32_t fn);

#endif
