/* stateset.h - samples with the state of their task, until they are interpreted
 *
 * One pass over a spool gathers them here, by mapped file.  Malloc-backed, in memory only,
 * bounded; cleared with zeros, because it is the users' data.
 */
#ifndef MANAGER_SAMPLES_STATESET_H
#define MANAGER_SAMPLES_STATESET_H

#include <stdint.h>

#include "lib/addr.h"
#include "lib/wr.h"
#include "monitor/spool.h"

/* Items, and bytes of stack and memory; chosen, and more than the Monitor holds at a time. */
enum { STATESET_MAX = 1 << 20, STATESET_STACK_MAX = 1 << 30 };

struct stateset_item {
	uint32_t file;
	file_off off;
	uint64_t pc;
	struct spool_state state;	/* its stack is stateset.stack at stack_at */
	size_t stack_at;		/* and after it its memory */
};

struct stateset {		/* zeroed: empty */
	struct stateset_item *item;
	uint32_t n, cap;
	struct wr stack;
};

/* -1 when it did not fit. */
int stateset_add(struct stateset *s, uint32_t file, file_off off, uint64_t pc,
		 const struct spool_state *state);
/* Makes item[] ascending by file and offset.  The set can then only be read and cleared. */
void stateset_sort(struct stateset *s);
/* The items of a file, once sorted: *n of them. */
const struct stateset_item *stateset_of(const struct stateset *s, uint32_t file, uint32_t *n);
void stateset_clear(struct stateset *s);

#endif
