/* relax.h - branch relaxation: finds the shortest encoding of each branch in a sequence of
 * code; knows items and sizes only */
#ifndef EDITOR_EMIT_RELAX_H
#define EDITOR_EMIT_RELAX_H

#include <stdbool.h>
#include <stdint.h>

#include "editor/graph/linefit.h"

#define RELAX_NONE UINT32_MAX		/* no branch */
#define RELAX_FAR (UINT32_MAX - 1)	/* a branch out of the sequence: always long */

struct relax_item {			/* `size` bytes, then at most one branch */
	uint32_t size;
	uint32_t target;		/* index of the item the branch goes to, or as above */
	uint16_t align;			/* of the item's start, a power of two; 0 = none */
	/* not aligned when that takes more bytes; 0 = no limit */
	uint8_t max_skip;
	bool parted;			/* a byte at least in front, unless it is the first */
	/* bytes of the branch; the short form reaches -128..127 from its end */
	uint8_t short_size, long_size;
	/* how the ends of lines are weighed; NULL: they are not.  Those of adjacent items are
	 * adjacent, and belong to one row up to the next that begins one.  Their size and tail
	 * are filled in here; their alignment is what counts, not `align`. */
	struct linefit_item *fit;
	bool begins_row;
	/* with fit: so many of the last bytes of `size` belong to the branch */
	uint8_t tail;
	uint8_t front;			/* out: by how many it has grown, on top of `size` */
	bool is_long;			/* out */
	uint8_t fitted_at;		/* relax.c's own: where its row began in a line */
	uint64_t addr;			/* out: offset from the start of the sequence */
};

/* Fills addr, front and is_long; returns the size of the sequence in bytes.  It ends, because
 * every branch starts short and none gets shorter again.  The sequence must be placed at a
 * multiple of the largest align, and of a line's size. */
uint64_t relax_run(struct relax_item *item, uint32_t nitem);
/* As it, for items that were placed before and are to be placed otherwise; what is long stays
 * long. */
uint64_t relax_again(struct relax_item *item, uint32_t nitem);
/* Bytes that the row which begins with item[0] would take from `at` on, padding in front of it
 * included, with branches as they are.  Changes nothing but what `fit` points to. */
uint64_t relax_try_row(struct relax_item *item, uint32_t nitem, uint64_t at);

/* Bytes of an item's branch, and of the whole item without the gap in front of it. */
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
