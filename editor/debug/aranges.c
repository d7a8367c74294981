/* aranges.c - .debug_aranges: which unit has an address
 *
 * Each set of ranges is followed by the images of these.  Offsets of units do not change.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

enum { PADDED = 16 };		/* the header, and what aligns the ranges */

static int bad_set(struct debug *d, uint64_t off)
{
	return debug_malformed(d, DEBUG_ARANGES, off, "a bad set of ranges");
}

static void write_ranges(const addresses_ranges *ranges, struct wr *out)
{
	for (uint32_t i = 0; i < ranges->n; i++) {
		wr_u64(out, ranges->v[i].from);
		wr_u64(out, ranges->v[i].to - ranges->v[i].from);
	}
}

/* The tuples behind the header of the set at `off`. */
static int translate_set(struct debug *d, struct bytes set, uint64_t off)
{
	struct wr *out = &d->section[DEBUG_ARANGES].now;
	struct rd r = rd_of(bytes_at(set, PADDED, set.n - PADDED));
	addresses_ranges was = { 0 }, images = { 0 };
	size_t at = out->n;

	wr_raw(out, set.p, PADDED);
	while (rd_left(&r) >= 16) {
		struct addresses_range range = { .from = rd_u64(&r) };

		range.to = range.from + rd_u64(&r);
		if (debug_count(d, 1) < 0)
			return bad_set(d, off);
		if (range.from < range.to)
			vec_push(d->a, &was, range);
		if (range.from < range.to &&
		    addresses_images(&d->addresses, range.from, range.to, &images, d->err) < 0)
			return -1;
	}
	addresses_merge(&images, 0);
	write_ranges(&was, out);
	write_ranges(&images, out);
	wr_u64(out, 0);
	wr_u64(out, 0);
	wr_put_u32(out, at, (uint32_t)(out->n - at - 4));
	return 0;
}

int debug_translate_aranges(struct debug *d)
{
	struct bytes all = d->section[DEBUG_ARANGES].was;

	for (uint64_t off = 0; off < all.n;) {
		struct rd r = rd_of(bytes_at(all, off, all.n - off));
		uint64_t length = rd_u32(&r);
		struct bytes set = bytes_at(all, off, 4 + length);
		const uint32_t sizes = 8;	/* of addresses; no segments */

		if (!set.p || set.n < PADDED || rd_u16(&r) != 2 || !rd_skip(&r, 4) ||
		    rd_u16(&r) != sizes)
			return bad_set(d, off);
		if (translate_set(d, set, off) < 0)
			return -1;
		off += set.n;
	}
	return 0;
}
