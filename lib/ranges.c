/* ranges.c - finds the range that holds a number, among ranges that are kept as differences
 *
 * A range is one number and up to two more, each of as few bytes as it needs (ULEB128):
 *
 *   size << 2 | more << 1 | gap?   gap in front of it   zigzag(step) << 1 | marked
 *
 * A step is from where what it is the image of would follow the one before it.  Where a group
 * of GROUP ranges begins, in numbers and in bytes, is kept beside them; its first range has no
 * gap in front, and a step from 0.
 *
 * Tested by tests/unit/lib/test_ranges.c.
 */
#include "lib/ranges.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/search.h"

enum { GROUP = 16, HAS_GAP = 1, HAS_MORE = 2, SIZE_SHIFT = 2 };

struct ranges_group {
	uint32_t start;		/* of the first range */
	uint32_t code;		/* where that is in the code */
};

void ranges_init(struct ranges *r, uint32_t n)
{
	*r = (struct ranges){ 0 };
	r->group = memory_new((size_t)n / GROUP + 1, sizeof(*r->group));
}

static void add(struct ranges *r, uint32_t start, uint32_t size, int64_t step, bool marked)
{
	bool first = r->nrange % GROUP == 0;
	uint64_t gap = first ? 0 : start - r->end;
	uint64_t more = (uint64_t)(step < 0 ? -2 * step - 1 : 2 * step) << 1 | marked;

	assert(size && start >= r->end && r->code.n <= UINT32_MAX);
	if (first)
		r->group[r->ngroup++] = (struct ranges_group){ start, (uint32_t)r->code.n };
	wr_uleb(&r->code, (uint64_t)size << SIZE_SHIFT | (gap ? HAS_GAP : 0) |
			  (more ? HAS_MORE : 0));
	if (gap)
		wr_uleb(&r->code, gap);
	if (more)
		wr_uleb(&r->code, more);
	r->nrange++;
	r->end = (uint64_t)start + size;
}

void ranges_add(struct ranges *r, uint32_t start, uint32_t size)
{
	add(r, start, size, 0, false);
}

void ranges_add_image(struct ranges *r, uint32_t start, uint32_t size, uint32_t of, bool marked)
{
	uint64_t follows = r->nrange % GROUP == 0 ? 0 : r->of_end;

	add(r, start, size, (int64_t)of - (int64_t)follows, marked);
	r->of_end = (uint64_t)of + size;
}

static uint64_t start_of(const void *ctx, uint32_t i)
{
	const struct ranges *r = ctx;

	return r->group[i].start;
}

void ranges_finish(struct ranges *r)
{
	uint32_t *room = memory_new((size_t)r->ngroup + 2, sizeof(*room));

	bracket_make(&r->bracket, room, r->ngroup, start_of, r);
	r->bracket.before = room;
	r->code.p = memory_grow(r->code.p, r->code.n + 1, 1);
	r->code.cap = r->code.n + 1;
}

bool ranges_find(const struct ranges *r, uint64_t x, struct range *out)
{
	uint32_t lo = 0, hi = r->ngroup;

	if (x >= r->end)
		return false;
	bracket_narrow(&r->bracket, x, &lo, &hi);
	uint32_t g = search_first(i, lo, hi, r->group[i].start <= x);
	if (g == 0)
		return false;
	struct rd code = { r->code.p + r->group[--g].code, r->code.p + r->code.n, false };
	uint64_t at = r->group[g].start, of = 0;
	for (uint32_t i = g * GROUP; i < r->nrange && i < (g + 1) * GROUP; i++) {
		uint64_t first = rd_uleb(&code), size = first >> SIZE_SHIFT;

		at += first & HAS_GAP ? rd_uleb(&code) : 0;
		uint64_t more = first & HAS_MORE ? rd_uleb(&code) : 0, step = more >> 1;
		of += step & 1 ? -(step / 2) - 1 : step / 2;
		if (x < at)
			return false;
		if (x - at < size) {
			*out = (struct range){ i, (uint32_t)at, (uint32_t)of, more & 1 };
			return true;
		}
		at += size;
		of += size;
	}
	return false;
}

size_t ranges_bytes(const struct ranges *r)
{
	return r->code.n + r->ngroup * sizeof(*r->group) +
	       (r->bracket.before ? (size_t)r->bracket.nslot + 1 : 0) *
		       sizeof(*r->bracket.before);
}

void ranges_free(struct ranges *r)
{
	wr_free(&r->code);
	free(r->group);
	free(r->bracket.before);
	*r = (struct ranges){ 0 };
}
