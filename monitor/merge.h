/* merge.h - merges the records of all CPUs' rings in the order of time; no system calls
 *
 * A CPU may take a record's time and commit the record a moment later, so what the rings hold
 * at one look is not all that happened before its newest time.  The finished-round rule: after
 * look n + 1 everything up to the newest time of look n may go out.  Records that may not go
 * out yet stay in their ring; nothing is copied.
 *
 * Samples of a ring are perf_format.apart_ns apart at least: what comes sooner is left out, and
 * is not counted as lost, because no time has passed that it would stand for.
 */
#ifndef MONITOR_MERGE_H
#define MONITOR_MERGE_H

#include "monitor/perf_decode.h"

struct merge;

struct merge_counts {		/* since merge_new() */
	uint64_t unknown;	/* records of unknown type, skipped */
	uint64_t malformed;	/* records skipped, or rings skipped up to their head */
	uint64_t late;		/* records older than what had gone out; given its time */
	/* samples whose state was dropped: of tasks not known to be dumpable */
	uint64_t private;
};

/* Allocation failure exits, as in lib/wr.h. */
struct merge *merge_new(unsigned nring, const struct perf_format *format);
void merge_free(struct merge *m);			/* NULL is allowed */

/* Tells the merge how ring i stands; for every ring, before each round.  Heads only grow. */
void merge_look(struct merge *m, unsigned i, const struct perf_ring *ring);
/* One round over the rings looked at: `emit` gets events in ascending time.  With `all`,
 * nothing is held back (for the end).  True when records were held back: another round
 * should follow. */
bool merge_round(struct merge *m, bool all,
		 void (*emit)(void *ctx, const struct spool_event *ev), void *ctx);
/* No round follows for a while: wipes and gives up what copies of records are held, but for
 * memory whose sample may come with the next look. */
void merge_rest(struct merge *m);
/* Everything before this position of ring i has gone out. */
uint64_t merge_tail(const struct merge *m, unsigned i);
const struct merge_counts *merge_counts(const struct merge *m);

#endif
