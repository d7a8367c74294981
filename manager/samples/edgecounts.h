/* edgecounts.h - how often edges and calls of one original module were seen
 *
 * These counts are all that is kept of states once a confined `morph-edit interpret` has looked
 * at them.  Places are given by the module's block table, against which the job's text is
 * checked: a job that a hostile program has taken over can report wrong counts, but none of a
 * place that does not exist.
 */
#ifndef MANAGER_SAMPLES_EDGECOUNTS_H
#define MANAGER_SAMPLES_EDGECOUNTS_H

#include <stdint.h>

#include "lib/blocktable.h"
#include "lib/profile.h"

struct arena;
struct err;

/* from the end of one block straight to the start of another */
struct edgecounts_edge {
	uint32_t from, to;	/* blocks */
	uint64_t count;
};

/* by the call or jump at block + at into the function of a block */
struct edgecounts_call {
	uint32_t block, at, target;
	uint64_t count;
};

struct edgecounts {			/* zeroed: empty; malloc-backed */
	uint32_t nedge, ncall;
	struct edgecounts_edge *edge;	/* ascending by from, to, each once */
	struct edgecounts_call *call;	/* ascending by block, at, target, each once */
	uint64_t left_out;	/* by the job: what the code does not have; not added up */
};

/* Reads the job's text, a profile; edgecounts_of() takes one that was read already, which may
 * have blocks.  Lines with places that the table does not have, or with
 * counts that round to 0, are left out; a malformed text, or one of another original, is an
 * error. */
struct profile;
int edgecounts_of(const struct profile *p, const struct blocktable *t, struct edgecounts *out,
		  struct err *err);
int edgecounts_read(struct bytes text, const struct blocktable *t, struct edgecounts *out,
	       struct err *err);
/* Adds each count of `from` times `unit`; counts that would be too large stay at the
 * largest. */
void edgecounts_add(struct edgecounts *to, const struct edgecounts *from, uint64_t unit);
/* Multiplies by 0..1; what becomes 0 is left out. */
void edgecounts_scale(struct edgecounts *e, double factor);
uint64_t edgecounts_sum(const struct edgecounts *e);
/* Fills edge and call of *p, each count divided by `unit`; the arrays are in the arena.  Places
 * that the table does not have are left out. */
void edgecounts_to_profile(const struct edgecounts *e, uint64_t unit,
			   const struct blocktable *t, struct arena *a, struct profile *p);
void edgecounts_free(struct edgecounts *e);		/* leaves it empty */

#endif
