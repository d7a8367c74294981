/* ranges.h - which of many disjoint ranges holds a number
 *
 * For numbers below 2^32.  Each range may be the image of another one of the same size: where
 * that begins, and a mark, are told with it.  The structure takes about two bytes a range, and
 * some four more for an image that does not follow the one before it there; a search reads 16
 * ranges at most.  Malloc-backed; a failed allocation exits as in lib/arena.h.
 */
#ifndef LIB_RANGES_H
#define LIB_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bracket.h"
#include "lib/wr.h"

struct range {
	uint32_t index;		/* in the order of adding */
	uint32_t start;
	uint32_t of;		/* where what it is the image of begins */
	bool marked;
};

struct ranges {			/* zeroed: empty */
	struct wr code;
	struct ranges_group *group;
	uint32_t ngroup, nrange;
	uint64_t end, of_end;	/* of the last range, and of what it is the image of */
	struct bracket bracket;
};

/* Makes *r empty, with room for `n` ranges. */
void ranges_init(struct ranges *r, uint32_t n);
/* Adds a range behind all that were added before; `size` is not 0. */
void ranges_add(struct ranges *r, uint32_t start, uint32_t size);
/* The same, of one that is an image. */
void ranges_add_image(struct ranges *r, uint32_t start, uint32_t size, uint32_t of,
		      bool marked);
/* To be called once, after the last range was added and before the first search. */
void ranges_finish(struct ranges *r);
/* The range that holds x; false: none does. */
bool ranges_find(const struct ranges *r, uint64_t x, struct range *out);
size_t ranges_bytes(const struct ranges *r);
void ranges_free(struct ranges *r);

#endif
