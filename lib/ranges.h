/* ranges.h - which of many disjoint ranges holds a number
 *
 * For numbers below 2^32.  The structure takes about three bytes a range, however far apart the
 * ranges are, and a search looks at a few neighbouring marks: it touches no more memory among
 * many ranges than among few.  Malloc-backed; a failed allocation exits as in lib/arena.h.
 */
#ifndef LIB_RANGES_H
#define LIB_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum { RANGES_NONE = UINT32_MAX };

struct ranges {			/* zeroed: empty */
	struct ranges_slot *slot;
	uint16_t *mark;
	uint32_t nslot, nmark, nrange;
	uint64_t end;		/* of the last range */
	uint8_t shift;
};

/* Makes *r empty, with room for `n` ranges that end at `end` (<= 2^32) or before. */
void ranges_init(struct ranges *r, uint32_t n, uint64_t end);
/* Adds a range behind all that were added before; `size` is not 0. */
void ranges_add(struct ranges *r, uint32_t start, uint32_t size);
/* To be called once, after the last range was added and before the first search. */
void ranges_finish(struct ranges *r);
/* Index, in the order of adding, of the range that holds x; RANGES_NONE: none does. */
uint32_t ranges_find(const struct ranges *r, uint64_t x);
/* Where the range that holds x begins; one does. */
uint32_t ranges_start(const struct ranges *r, uint64_t x);
size_t ranges_bytes(const struct ranges *r);
void ranges_free(struct ranges *r);

#endif
