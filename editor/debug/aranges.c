/* aranges.c - .debug_aranges: which unit has an address
 *
 * The set of a unit gets the images of its ranges, and loses the originals of these to a set of
 * the unit that these have (originals.c).
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

#include "lib/search.h"

enum { PADDED = 16 };		/* the header, and what aligns the ranges */

static int bad_set(struct debug *d, uint64_t off)
{
	return debug_malformed(d, DEBUG_ARANGES, off, "a bad set of ranges");
}

static const struct debug_unit *find_unit(const struct debug *d, uint64_t off)
{
	uint32_t i = search_first(k, 0, d->unit.n,
				  d->unit.v[k].section == DEBUG_INFO && d->unit.v[k].off < off);

	return i < d->unit.n && d->unit.v[i].section == DEBUG_INFO &&
			       d->unit.v[i].off == off ? &d->unit.v[i] : NULL;
}

/* A set of the unit at `off` of .debug_info. */
static void write_set(const addresses_ranges *ranges, uint64_t off, struct wr *out)
{
	size_t at = out->n;

	wr_u32(out, 0);			/* length */
	wr_u16(out, 2);			/* version */
	wr_u32(out, (uint32_t)off);
	wr_u16(out, sizeof(vaddr));	/* size of addresses; no segments */
	wr_u32(out, 0);			/* up to a multiple of 16 */
	for (uint32_t i = 0; i < ranges->n; i++) {
		wr_u64(out, ranges->v[i].from);
		wr_u64(out, ranges->v[i].to - ranges->v[i].from);
	}
	wr_u64(out, 0);
	wr_u64(out, 0);
	wr_put_u32(out, at, (uint32_t)(out->n - at - 4));
}

static int read_set(struct debug *d, struct bytes set, addresses_ranges *out)
{
	struct rd r = rd_of(bytes_at(set, PADDED, set.n - PADDED));

	while (rd_left(&r) >= 16) {
		struct addresses_range range = { .from = rd_u64(&r) };

		range.to = range.from + rd_u64(&r);
		if (debug_count(d, 1) < 0)
			return -1;
		if (range.from < range.to)
			vec_push(d->a, out, range);
	}
	return 0;
}

static int translate_set(struct debug *d, struct bytes set, uint64_t unit)
{
	const struct debug_unit *u = find_unit(d, unit);
	struct wr *out = &d->section[DEBUG_ARANGES].now;
	addresses_ranges was = { 0 }, now = { 0 }, originals = { 0 };

	if (read_set(d, set, &was) < 0)
		return -1;
	for (uint32_t i = 0; i < was.n; i++)
		if (addresses_images(&d->addresses, was.v[i].from, was.v[i].to, &now,
				     d->err) < 0)
			return -1;
	addresses_merge(&now, 0);
	for (uint32_t i = 0; i < was.n; i++) {
		if (!u || !u->originals) {
			vec_push(d->a, &now, was.v[i]);
			continue;
		}
		addresses_outside(d->a, was.v[i], &u->moved, &now);
		addresses_inside(d->a, was.v[i], &u->moved, &originals);
	}
	write_set(&now, unit, out);
	if (u && u->originals)
		write_set(&originals, u->originals, out);
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

		uint16_t version = rd_u16(&r);
		uint64_t unit = rd_u32(&r);

		if (!set.p || set.n < PADDED || version != 2 || rd_u16(&r) != sizes)
			return bad_set(d, off);
		if (translate_set(d, set, unit) < 0)
			return -1;
		off += set.n;
	}
	return 0;
}
