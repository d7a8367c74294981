/* ranges.c - finds the range that holds a number, by slots of equal width with marks in them
 *
 *   numbers  |      slot 0      |      slot 1      |      slot 2      |
 *   ranges      [ 0  )[ 1 )        [    2                  )[ 3 )
 *   marks    g  r     r   g        r                      r     g
 *
 * A mark says where in its slot a range begins, or a gap behind one.  The last mark at or in
 * front of a number tells what the number is in; a slot knows its first mark, and how many
 * ranges begin in front of it.  Their width is chosen so that each has four to eight ranges on
 * average, so few marks are looked at; four was chosen, not measured.
 *
 * INVARIANTS
 *   I1  mark[0] is a gap in front of everything, so there always is a last mark;
 *   I2  marks ascend within a slot; of two at the same place, the second one counts;
 *   I3  slots in front of `filled` are complete; slot[nslot] ends the last one.
 */
#include "lib/ranges.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/memory.h"

enum { PLACE_BITS = 15, GAP = 1 << PLACE_BITS, RANGES_A_SLOT = 4, SLOTS_LEAST = 64 };

struct ranges_slot {
	uint32_t mark;		/* first one */
	uint32_t nrange;	/* that begin in front of the slot */
};

void ranges_init(struct ranges *r, uint32_t n, uint64_t end)
{
	uint32_t slots = n / RANGES_A_SLOT + SLOTS_LEAST;

	assert(end <= UINT64_C(1) << 32);
	*r = (struct ranges){ 0 };
	while (r->shift < PLACE_BITS && end >> r->shift > slots)
		r->shift++;
	uint32_t most = (uint32_t)(end >> r->shift) + 1;
	r->slot = memory_new((size_t)most + 1, sizeof(*r->slot));
	r->mark = memory_new(2 * (size_t)n + 2, sizeof(*r->mark));
	r->mark[r->nmark++] = GAP;
}

/* nslot are complete as far as marks and ranges are known. */
static void put_mark(struct ranges *r, uint64_t at, uint16_t kind)
{
	uint32_t slot = (uint32_t)(at >> r->shift);

	for (; r->nslot <= slot; r->nslot++)
		r->slot[r->nslot] = (struct ranges_slot){ r->nmark, r->nrange };
	r->mark[r->nmark++] = (uint16_t)(kind | (at & ((UINT64_C(1) << r->shift) - 1)));
}

void ranges_add(struct ranges *r, uint32_t start, uint32_t size)
{
	assert(size && start >= r->end);
	if (start > r->end && r->nrange)
		put_mark(r, r->end, GAP);
	put_mark(r, start, 0);
	r->nrange++;
	r->end = (uint64_t)start + size;
}

void ranges_finish(struct ranges *r)
{
	put_mark(r, r->end, GAP);
	r->slot[r->nslot] = (struct ranges_slot){ r->nmark, r->nrange };
	r->mark = memory_grow(r->mark, r->nmark, sizeof(*r->mark));
}

/* The last mark at or in front of x < r->end; *nrange ranges begin at it or in front of it. */
static uint32_t last_mark(const struct ranges *r, uint64_t x, uint32_t *nrange)
{
	const struct ranges_slot *s = &r->slot[x >> r->shift];
	unsigned place = (unsigned)(x & ((UINT64_C(1) << r->shift) - 1));
	uint32_t i = s->mark, n = s->nrange;

	for (; i < s[1].mark && (r->mark[i] & ~(unsigned)GAP) <= place; i++)
		n += !(r->mark[i] & GAP);
	*nrange = n;
	return i - 1;
}

uint32_t ranges_find(const struct ranges *r, uint64_t x)
{
	uint32_t n;

	if (x >= r->end)
		return RANGES_NONE;
	return r->mark[last_mark(r, x, &n)] & GAP ? RANGES_NONE : n - 1;
}

uint32_t ranges_start(const struct ranges *r, uint64_t x)
{
	uint64_t slot = x >> r->shift;
	uint32_t n, i = last_mark(r, x, &n);

	assert(x < r->end && !(r->mark[i] & GAP));
	while (r->slot[slot].mark > i)		/* it began in a slot before */
		slot--;
	return (uint32_t)(slot << r->shift | r->mark[i]);
}

size_t ranges_bytes(const struct ranges *r)
{
	return r->nmark * sizeof(*r->mark) + ((size_t)r->nslot + 1) * sizeof(*r->slot);
}

void ranges_free(struct ranges *r)
{
	free(r->slot);
	free(r->mark);
	*r = (struct ranges){ 0 };
}
