/* relax.h - the shortest encoding of branches in a row of code pieces; knows items and sizes
 * only */
#ifndef EDITOR_EMIT_RELAX_H
#define EDITOR_EMIT_RELAX_H

#include <stdbool.h>
#include <stdint.h>

#define RELAX_NONE UINT32_MAX		/* no branch */
#define RELAX_FAR (UINT32_MAX - 1)	/* a branch to outside of the row: always long */
#define RELAX_LINE 32u			/* bytes */

struct relax_item {			/* `size` bytes, then at most one branch */
	uint32_t size;
	uint32_t target;		/* index of the item the branch goes to, or as above */
	uint8_t align;			/* of the item's start, a power of two; 0 = none */
	/* not aligned when that takes more bytes; 0 = no limit */
	uint8_t max_skip;
	/* of the branch; short reach is -128..127 from its end */
	uint8_t short_size, long_size;
	/* with in_line: the last bytes of `size`, which with the branch */
	uint8_t tail;
	/* neither cross a multiple of RELAX_LINE nor end at one */
	bool in_line;
	/* with in_line: bytes to grow by in front instead of moving */
	uint8_t max_front;
	uint8_t front;			/* out: by how many it has, on top of `size` */
	bool is_long;			/* out */
	uint64_t addr;			/* out: offset from the start of the row */
};

/* Fills addr, front and is_long.  Starts with every branch short and only ever grows, so it
 * ends.  Returns the size of the row.  The row must be placed at a multiple of the largest
 * align, and of RELAX_LINE. */
uint64_t relax_run(struct relax_item *item, uint32_t nitem);

/* Bytes of its branch; of an item: what it has grown by, fixed part and branch, without
 * padding in front. */
static inline uint64_t relax_branch_size(const struct relax_item *item)
{
	if (item->target == RELAX_NONE)
		return 0;
	return item->is_long ? item->long_size : item->short_size;
}

static inline uint64_t relax_size(const struct relax_item *item)
{
	return (uint64_t)item->front + item->size + relax_branch_size(item);
}

#endif
