/* counterruntime.h - the routines that an instrumented generation has at the end of its text
 *
 *   start    runs first: opens the file of counts and maps it over the counters. When there is
 *            no such file, or it belongs to another generation, the program runs on with
 *            counters of its own, which nobody sees.
 *   target   is told where indirect calls and jumps go, and counts that in a hash table.
 *   jump     the same for jumps that may go to blocks whose addresses the program holds: tells
 *            where their images are.
 */
#ifndef EDITOR_EMIT_COUNTERRUNTIME_H
#define EDITOR_EMIT_COUNTERRUNTIME_H

#include "lib/addr.h"
#include "lib/countsfile.h"
#include "lib/wr.h"


struct counterruntime_move {	/* both from the base */
	uint32_t block, image;
};

struct counterruntime {
	/* what the file is mapped over; the first counter counts starts, the second targets
	 * that found no slot */
	new_vaddr counters;
	new_vaddr slots;	/* [nslot], a power of two, of COUNTSFILE_SLOT bytes */
	uint64_t nslot;
	uint64_t size;		/* of what is mapped, whole pages */
	uint64_t offset;	/* of it in the file */
	vaddr base;		/* targets count from here ... */
	uint64_t span;		/* ... and are nothing of ours from here on */
	vaddr entry, init;	/* where start goes on, by how it was entered; 0: it returns */
	bool locked;
	uint8_t head[COUNTSFILE_HEAD];	/* of the file; the program compares all of it */
	const char *path;	/* of the file */
	const struct counterruntime_move *move;	/* [nmove] ascending by block */
	uint32_t nmove;
};

/* for unwinding: from `off` on the stack is `depth` bytes lower */
struct counterruntime_row {
	uint32_t off, depth;
};

uint32_t counterruntime_size(const struct counterruntime *r);
/* Offsets of the entries: of start as a program's first instruction, and as a library's
 * DT_INIT. */
uint32_t counterruntime_target(void);
uint32_t counterruntime_jump(void);
uint32_t counterruntime_entry(void);
uint32_t counterruntime_init(void);
/* Ascending; *n of them, the first at 0. */
const struct counterruntime_row *counterruntime_rows(uint32_t *n);
/* Appends counterruntime_size() bytes as they stand at `at`. */
void counterruntime_write(const struct counterruntime *r, new_vaddr at, struct wr *out);

#endif
