/* stateset.h - samples with the state of their task, until they are interpreted
 *
 * One pass over a spool gathers them here, by mapped file.  Bounded, in memory only; the
 * states themselves, the users' data, are in secret memory (lib/secret.h).
 */
#ifndef MANAGER_SAMPLES_STATESET_H
#define MANAGER_SAMPLES_STATESET_H

#include <stdint.h>

#include "lib/addr.h"
#include "lib/wr.h"
#include "monitor/spool.h"

/* Items, and bytes of stack and memory; chosen, and more than the Monitor holds at a time. */
enum { STATESET_MAX = 1 << 20, STATESET_BYTES_MAX = 1 << 30 };

struct stateset_item {
	uint32_t file;
	file_off off;
	uint64_t pc;
	size_t at;			/* of its state in stateset.states */
};

struct stateset {		/* zeroed: empty */
	struct stateset_item *item;
	uint32_t n, cap;
	/* each a struct spool_state, then its stack, its memory, and zeros up to 8 bytes */
	struct wr states;
};

/* -1 when it did not fit. */
int stateset_add(struct stateset *s, uint32_t file, file_off off, uint64_t pc,
		 const struct spool_state *state);
/* Makes item[] ascending by file and offset.  The set can then only be read and cleared. */
void stateset_sort(struct stateset *s);
/* The items of a file, once sorted: *n of them. */
const struct stateset_item *stateset_of(const struct stateset *s, uint32_t file, uint32_t *n);
/* Its stack and its memory point into the set. */
struct spool_state stateset_state(const struct stateset *s, const struct stateset_item *item);
void stateset_clear(struct stateset *s);

#endif
