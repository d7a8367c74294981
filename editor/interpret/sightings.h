/* sightings.h - turns sightings in a mapped file into edges and calls of its original
 *
 * A sighting becomes an edge of the original's flow graph, or a call if it leads out of the
 * function.  One that fits neither is left out, and counted by the reason.
 */
#ifndef EDITOR_INTERPRET_SIGHTINGS_H
#define EDITOR_INTERPRET_SIGHTINGS_H

#include "editor/interpret/interpret.h"
#include "lib/blockmap.h"
#include "lib/profile.h"
#include "postmorph/ir/ir.h"

struct sightings_stats {		/* how many sightings ... */
	uint64_t edges, calls;		/* became these */
	uint64_t uncut;			/* were in code that is not divided into blocks */
	uint64_t outside;		/* led to where no function of this module begins */
	/* were calls of another function than the one that ran: that one was tail-called */
	uint64_t others;
	uint64_t no_edge;		/* are not in the flow graph */
	/* could be one of several edges, to blocks whose images are empty */
	uint64_t ambiguous;
	/* of branch stacks: */
	uint64_t runs, taken;		/* that the code has; the others: */
	uint64_t no_branch;		/* branches from instructions that are none, ... */
	uint64_t no_target;		/* ... to where they do not lead */
	uint64_t no_run;		/* runs over what always branches, or no code */
	uint64_t returns;		/* of the taken ones: no edges, no calls */
	uint64_t own;			/* likewise: entry jumps of a generation */
};

/* The input: sightings in the file that was mapped, which is the original itself (map NULL) or
 * a generation with that block map. */
struct sightings_source {
	const struct image *mapped;
	const struct blockmap *map;
	const struct sighting *sighting;
	uint32_t nsighting;
	bool executions;		/* tell how often runs came through blocks */
};

/* [*n] in arena `a`: the addresses in the original of all sightings, for prog_analyze_at(). */
vaddr *sightings_wanted(const struct sightings_source *source, struct arena *a, uint32_t *n);
/* Fills edge, nedge, call and ncall of *out, in prog's arena; `prog` is the original, analysed
 * at least where sightings_wanted() says. */
void sightings_place(const struct sightings_source *source, struct prog *prog,
		     struct profile *out, struct sightings_stats *stats);

#endif
