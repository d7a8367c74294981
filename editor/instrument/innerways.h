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
	/* inside of it, not its entry; or where one of its jump tables leads, anywhere */
	vaddr to;
};

struct innerways {
	const bool *any;	/* [nfn] something leads inside */
	/* [nfn] or may, and not all of it is in way[]: jumps without a known table, or an
	 * address inside that code forms, perhaps to add a distance to it */
	const bool *unclear;
	const struct innerway *way;	/* [n] ascending, each once */
	uint32_t n;
};

/* All in the arena; `words` are those that the loader fills.  NULL, nobody knows them: then all
 * is unclear. */
const struct innerways *innerways_find(const struct prog *prog,
				       const struct memview_file *words, struct arena *a);
/* The first way into the function, or into a later one. */
uint32_t innerways_first(const struct innerways *w, uint32_t fn);

#endif
