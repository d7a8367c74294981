/* carry.h - carries a profile over to another version of its program */
#ifndef EDITOR_INHERIT_CARRY_H
#define EDITOR_INHERIT_CARRY_H

#include "editor/inherit/match.h"

struct profile;

struct carried {
	uint32_t functions;		/* with weight in the old profile */
	uint32_t matched;		/* of these: with a partner */
	double weight;			/* samples, or instructions that were executed */
	double matched_weight;		/* of it: in blocks that have a partner */
	uint32_t blocks, matched_blocks;	/* that have weight */
	double how[MATCH_NHOW];		/* matched_weight, by how the function was found */
};

/* The profile `old`, of m->old, for m->now: *out lives in the arena.  Complete counts become
 * executions of which a part is missing.  What has no partner is in out->outside. */
void carry_profile(const struct match *m, const struct profile *old, struct arena *a,
		   struct profile *out, struct carried *told);

#endif
