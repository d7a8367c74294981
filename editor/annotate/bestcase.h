/* bestcase.h - how long each instruction of a path keeps those behind it from retiring, at best
 *
 * A model of an out-of-order processor: instructions come in order, BESTCASE_WIDTH in a
 * cycle, begin when what they need is there and a unit of their kind is free, and retire in
 * order, as many.  An
 * instruction is charged with the time from the retirement of the one in front of it to its
 * own.  So the cycles of a path's instructions add up to the path's, and where it waits, the
 * model knows for what: for the instruction that computes an operand, for the unit that another
 * one has, or for its own result.
 */
#ifndef EDITOR_ANNOTATE_BESTCASE_H
#define EDITOR_ANNOTATE_BESTCASE_H

#include "postmorph/machine/insntime.h"

enum { BESTCASE_WIDTH = 8 };	/* what the widest ones have */

struct bestcase {
	double cycles;
	/* index in the path of the one that it waits for, itself when for its own result;
	 * UINT32_MAX: it does not wait */
	uint32_t culprit;
	/* likewise: of what it needs, the one that computes what came last; UINT32_MAX: none */
	uint32_t operand;
	/* a load of what was just stored, but not as it was stored: the index of the store;
	 * UINT32_MAX: none */
	uint32_t unforwarded;
	bool stored;			/* a load of what was just stored, as it was or not */
};

/* path[0..n), n > 0; fills out[0..n).  The first ones stand for what ran before.  What ran
 * before them retires `ahead` cycles after the path comes: so much of its latencies is hidden
 * behind that.  No instruction takes longer by a larger `ahead`. */
void bestcase_run(const struct insntime *const *path, uint32_t n, double ahead,
		  struct bestcase *out);

#endif
