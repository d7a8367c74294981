/* counterruntime.h - the counter runtime: code that an instrumented generation has at the end
 * of its text
 *
 * It has three entries:
 *
 *   start    runs before anything else of the program or library: opens the file of counts and
 *            maps it over the counters.  If there is no such file, or it is that of another
 *            generation, the program runs on with counters that are lost when it ends.
 *   target   gets the targets of indirect calls and jumps and counts each in a hash table.
 *   jump     does the same for jumps that may go to a block by its address in the original, and
 *            returns where the image of that block is.
 */
#ifndef EDITOR_EMIT_COUNTERRUNTIME_H
#define EDITOR_EMIT_COUNTERRUNTIME_H

#include "lib/addr.h"
#include "lib/countsfile.h"
#include "lib/wr.h"

struct counterruntime_move {
	uint32_t block, image;	/* addresses of a block and of its image, from `base` */
};

struct counterruntime {
	/* The file is mapped over counters and slots.  Counter 0 counts starts, counter 1
	 * targets that found no slot. */
	new_vaddr counters;
	/* the hash table: [nslot] of COUNTSFILE_SLOT bytes; nslot is a power of two */
	new_vaddr slots;
	uint64_t nslot;		/* 0: private counters, which have no runtime but their start */
	uint64_t size;		/* bytes that are mapped, whole pages */
	uint64_t offset;	/* of these in the file of counts */
	vaddr base;		/* targets are stored as their distance from here ... */
	uint64_t span;		/* ... or as -1 if that is so far or farther */
	/* original entry point and DT_INIT, at which `start` goes on; 0: it returns */
	vaddr entry, init;
	bool locked;		/* counters are changed by locked instructions */
	/* of the file of counts; `start` maps only a file that begins so */
	uint8_t head[COUNTSFILE_HEAD];
	const char *path;	/* of the file of counts, absolute */
	const struct counterruntime_move *move;	/* [nmove] ascending by block */
	uint32_t nmove;
};

/* Counters in memory of the process alone (counterstart.h). */
static inline bool counterruntime_is_private(const struct counterruntime *r)
{
	return r->nslot == 0;
}

/* An unwind row of the code: from byte `off` on, the stack is `depth` bytes lower than at an
 * entry. */
struct counterruntime_row {
	uint32_t off, depth;
};

/* Bytes of code and data. */
uint32_t counterruntime_size(const struct counterruntime *r);
/* Offsets of the entries from the first byte.  `start` has two: one to be the program's entry
 * point, one to be a library's DT_INIT. */
uint32_t counterruntime_target(void);
uint32_t counterruntime_jump(void);
uint32_t counterruntime_entry(void);
uint32_t counterruntime_init(void);
/* Static, ascending by off; *n of them, the first at 0. */
const struct counterruntime_row *counterruntime_rows(uint32_t *n);
/* Appends counterruntime_size() bytes as they stand at address `at`. */
void counterruntime_write(const struct counterruntime *r, new_vaddr at, struct wr *out);

#endif
