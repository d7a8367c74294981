/* bracket.h - narrows binary searches among many ascending numbers
 *
 * The span of the numbers is cut into equal slots, at most one for each number, and for each
 * slot it is kept how many numbers lie in front of it.  A search looks into its slot, where
 * there are few numbers as a rule, instead of through all of them: it touches less memory.
 */
#ifndef LIB_BRACKET_H
#define LIB_BRACKET_H

#include <stdint.h>

struct bracket {		/* zeroed: narrows nothing */
	uint64_t lowest;
	uint32_t *before;	/* [nslot + 1] numbers in front of the slot */
	uint32_t nslot;
	uint8_t shift;		/* a slot is 1 << shift numbers wide */
};

/* The `n` numbers at(ctx, 0) <= at(ctx, 1) ...  `room` is for n + 2 counts and stays the
 * caller's. */
void bracket_make(struct bracket *b, uint32_t *room, uint32_t n,
		  uint64_t (*at)(const void *ctx, uint32_t i), const void *ctx);

/* At least *lo and at most *hi of the numbers are <= x.  Unchanged where nothing better is
 * known. */
static inline void bracket_narrow(const struct bracket *b, uint64_t x, uint32_t *lo,
				  uint32_t *hi)
{
	uint64_t slot = (x - b->lowest) >> b->shift;

	if (x < b->lowest || slot >= b->nslot)
		return;
	*lo = b->before[slot];
	*hi = b->before[slot + 1];
}

#endif
