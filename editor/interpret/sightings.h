/* sightings.h - sightings in a mapped file as edges and calls of its original
 *
 * An edge is one of the original's flow graph, or it is left out and counted.  Edges out of a
 * function are calls.
 */
#ifndef EDITOR_INTERPRET_SIGHTINGS_H
#define EDITOR_INTERPRET_SIGHTINGS_H

#include "editor/interpret/interpret.h"
#include "lib/blockmap.h"
#include "lib/profile.h"
#include "postmorph/ir/ir.h"

struct sightings_stats {			/* sightings */
	uint64_t edges, calls;		/* placed */
	uint64_t uncut;			/* in code that is not cut into blocks */
	uint64_t outside;		/* to where no function of this module begins */
	/* calls to another function than the one that ran: tail calls */
	uint64_t others;
	uint64_t no_edge;		/* not in the flow graph */
	/* could be one of two, whose blocks left nothing behind */
	uint64_t ambiguous;
};

/* What was mapped: the original itself (map NULL) or a generation of it. */
struct sightings_source {
	const struct image *mapped;
	const struct blockmap *map;
	const struct sighting *sighting;
	uint32_t nsighting;
};

/* Addresses in the original of all branches and calls seen, for prog_analyze_at(); *n of
 * them. */
vaddr *sightings_wanted(const struct sightings_source *source, struct arena *a, uint32_t *n);
/* Fills edge, nedge, call and ncall of *out from the analysed original, in prog's arena. */
void sightings_place(const struct sightings_source *source, struct prog *prog,
		     struct profile *out, struct sightings_stats *stats);

#endif
