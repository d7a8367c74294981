/* lists.c - lists of address ranges, and of the places of variables in them
 *
 * A list is read in the terms of its unit (base address, addresses by number) and written in
 * absolute addresses.  Places of variables get entries for images beside those of originals.
 * Lists that units name by offset stand one behind the other; a table of lists that are named
 * by number (DWARF 5) is written anew with the same numbers, and filled as its numbers are
 * used.
 *
 *   DWARF 2 to 4   .debug_ranges, .debug_loc: pairs of addresses, behind an entry that makes 0
 *                  the base
 *   DWARF 5        .debug_rnglists, .debug_loclists: start and length
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

#include <assert.h>

#include "editor/debug/dwarfinfo.h"
#include "lib/err.h"
#include "lib/search.h"

enum { HEADER_SIZE = 12, OFFSET_SIZE = 4 };
#define OLD_BASE UINT64_MAX	/* begins an entry of DWARF 4 that sets the base */

void debug_lists_init(struct debug *d)
{
	d->ranges = (struct debug_lists){ .old = DEBUG_RANGES, .new = DEBUG_RNGLISTS };
	d->most_bytes = UINT32_MAX / 2;
	d->locations = (struct debug_lists){ .old = DEBUG_LOC, .new = DEBUG_LOCLISTS,
					     .locations = true };
}

int debug_address(struct debug *d, const struct debug_unit *u, uint64_t index, vaddr *out)
{
	struct bytes b = { 0 };

	if (index < UINT32_MAX)
		b = bytes_at(d->section[DEBUG_ADDR].was, u->addr_base + 8 * index, 8);
	if (!b.p)
		return debug_malformed(d, u->section, u->off, "an address that is not there");
	*out = bytes_first(b);
	return 0;
}

/* --- reading --- */

struct entry {
	struct addresses_range r;
	struct bytes location;
	bool anywhere;			/* the default location */
};

struct reader {
	struct debug *d;
	const struct debug_lists *l;
	const struct debug_unit *u;
	struct rd r;
	vaddr base;
};

static int bad_list(const struct reader *rd)
{
	return debug_malformed(rd->d, rd->u->section, rd->u->off, "a bad list");
}

static void read_location(struct reader *rd, struct entry *e)
{
	uint64_t n = rd->u->version >= 5 ? rd_uleb(&rd->r) : rd_u16(&rd->r);
	const uint8_t *p = rd_skip(&rd->r, n);

	e->location = (struct bytes){ p, p ? n : 0 };
}

/* 1: *e is an entry; 0: the end; -1. */
static int read_old(struct reader *rd, struct entry *e)
{
	for (;;) {
		uint64_t from = rd_u64(&rd->r), to = rd_u64(&rd->r);

		if (rd->r.bad || debug_count(rd->d, 1) < 0)
			return bad_list(rd);
		if (from == OLD_BASE) {
			rd->base = to;
			continue;
		}
		if (from == 0 && to == 0)
			return 0;
		*e = (struct entry){ .r = { rd->base + from, rd->base + to } };
		if (rd->l->locations)
			read_location(rd, e);
		return rd->r.bad ? bad_list(rd) : 1;
	}
}

static int read_index(struct reader *rd, vaddr *out)
{
	return debug_address(rd->d, rd->u, rd_uleb(&rd->r), out);
}

/* The kinds of entries of lists of places, which have one kind more, as those of ranges. */
static uint32_t read_kind(struct reader *rd, bool *anywhere)
{
	uint32_t kind = rd_u8(&rd->r);

	*anywhere = rd->l->locations && kind == DW_LLE_default_location;
	if (rd->l->locations && kind > DW_LLE_default_location && kind <= DW_LLE_start_length)
		return kind - 1;
	return kind;
}

static int read_range(struct reader *rd, uint32_t kind, struct addresses_range *r)
{
	uint64_t from = 0, to = 0;

	switch (kind) {
	case DW_RLE_startx_endx:
		if (read_index(rd, &from) < 0 || read_index(rd, &to) < 0)
			return -1;
		break;
	case DW_RLE_startx_length:
		if (read_index(rd, &from) < 0)
			return -1;
		to = from + rd_uleb(&rd->r);
		break;
	case DW_RLE_offset_pair:
		from = rd->base + rd_uleb(&rd->r);
		to = rd->base + rd_uleb(&rd->r);
		break;
	case DW_RLE_start_end:
		from = rd_u64(&rd->r);
		to = rd_u64(&rd->r);
		break;
	case DW_RLE_start_length:
		from = rd_u64(&rd->r);
		to = from + rd_uleb(&rd->r);
		break;
	default:
		return bad_list(rd);
	}
	*r = (struct addresses_range){ from, to };
	return 0;
}

static int read_new(struct reader *rd, struct entry *e)
{
	bool anywhere;

	for (;;) {
		uint32_t kind = read_kind(rd, &anywhere);

		*e = (struct entry){ .anywhere = anywhere };
		if (rd->r.bad || debug_count(rd->d, 1) < 0)
			return bad_list(rd);
		if (anywhere)
			break;
		if (kind == DW_RLE_end_of_list)
			return 0;
		if (kind == DW_RLE_base_address) {
			rd->base = rd_u64(&rd->r);
		} else if (kind == DW_RLE_base_addressx) {
			if (read_index(rd, &rd->base) < 0)
				return -1;
		} else if (rd->l->locations && kind == DW_LLE_GNU_view_pair) {
			(void)rd_uleb(&rd->r);	/* numbers of views */
			(void)rd_uleb(&rd->r);
		} else if (read_range(rd, kind, &e->r) < 0) {
			return -1;
		} else {
			break;
		}
	}
	if (rd->l->locations)
		read_location(rd, e);
	return rd->r.bad ? bad_list(rd) : 1;
}

static int read_entry(struct reader *rd, struct entry *e)
{
	return rd->u->version >= 5 ? read_new(rd, e) : read_old(rd, e);
}

static struct reader reader_of(struct debug *d, const struct debug_lists *l,
			       const struct debug_unit *u, uint64_t off)
{
	struct bytes all = d->section[u->version >= 5 ? l->new : l->old].was;

	return (struct reader){ d, l, u,
		rd_of(off <= all.n ? bytes_at(all, off, all.n - off) : (struct bytes){ 0 }),
		u->base };
}

/* --- writing --- */

static void begin_list(const struct debug_unit *u, struct wr *out)
{
	if (u->version < 5) {
		wr_u64(out, OLD_BASE);
		wr_u64(out, 0);
	}
}

static void write_entry(const struct debug_lists *l, const struct debug_unit *u,
			const struct entry *e, struct wr *out)
{
	if (u->version < 5) {
		wr_u64(out, e->r.from);
		wr_u64(out, e->r.to);
	} else if (e->anywhere) {
		wr_u8(out, DW_LLE_default_location);
	} else {
		wr_u8(out, l->locations ? DW_LLE_start_length : DW_RLE_start_length);
		wr_u64(out, e->r.from);
		wr_uleb(out, e->r.to - e->r.from);
	}
	if (!l->locations)
		return;
	if (u->version < 5)
		wr_u16(out, (uint16_t)e->location.n);
	else
		wr_uleb(out, e->location.n);
	wr_raw(out, e->location.p, e->location.n);
}

static void end_list(const struct debug_lists *l, const struct debug_unit *u, struct wr *out)
{
	if (u->version >= 5) {
		wr_u8(out, l->locations ? DW_LLE_end_of_list : DW_RLE_end_of_list);
		return;
	}
	wr_u64(out, 0);
	wr_u64(out, 0);
}

static int check_size(struct debug *d, const struct debug_unit *u, const struct wr *out)
{
	return out->n > d->most_bytes ?
		       debug_malformed(d, u->section, u->off, "too many lists") : 0;
}

static int write_location(struct debug *d, const struct debug_unit *u, const struct entry *e,
			  struct wr *out)
{
	addresses_ranges images = { 0 };

	if (!e->anywhere && e->r.from < e->r.to &&
	    addresses_images(&d->addresses, e->r.from, e->r.to, &images, d->err) < 0)
		return -1;
	addresses_merge(&images, 0);
	for (uint32_t i = 0; i < images.n; i++) {
		write_entry(&d->locations, u,
			    &(struct entry){ .r = images.v[i], .location = e->location }, out);
		if (check_size(d, u, out) < 0)
			return -1;
	}
	if (e->anywhere || e->r.from < e->r.to)
		write_entry(&d->locations, u, e, out);
	return check_size(d, u, out);
}

static int collect_ranges(struct reader *rd, addresses_ranges *out)
{
	struct entry e;
	int rc;

	while ((rc = read_entry(rd, &e)) > 0)
		if (e.r.from < e.r.to)
			vec_push(rd->d->a, out, e.r);
	return rc;
}

static int copy_places(struct reader *rd, struct wr *out)
{
	struct entry e;
	int rc;

	begin_list(rd->u, out);
	while ((rc = read_entry(rd, &e)) > 0)
		if (write_location(rd->d, rd->u, &e, out) < 0)
			return -1;
	end_list(rd->l, rd->u, out);
	return rc;
}

static void write_ranges(const struct debug *d, const struct debug_unit *u,
			 const addresses_ranges *from, struct wr *out)
{
	begin_list(u, out);
	for (uint32_t i = 0; i < from->n; i++)
		if (from->v[i].from < from->v[i].to)
			write_entry(&d->ranges, u, &(struct entry){ .r = from->v[i] }, out);
	end_list(&d->ranges, u, out);
}

/* The section that lists named by offset go to; one of DWARF 5 begins with a header. */
static struct wr *offset_section(struct debug *d, const struct debug_lists *l,
				 const struct debug_unit *u)
{
	struct wr *out = &d->section[u->version >= 5 ? l->new : l->old].now;

	if (u->version >= 5 && out->n == 0)
		(void)wr_reserve(out, HEADER_SIZE);	/* debug_finish_lists() fills it */
	return out;
}

/* The place of the list in the hash table; known already if `taken`. */
static struct debug_list *find_list(struct debug *d, struct debug_lists *l, bool new,
				    const struct debug_list *key)
{
	uint32_t room = l->room[new], was = room;

	if (2 * l->nknown[new] >= room) {
		struct debug_list *old = l->known[new];

		room = room ? 2 * room : 1024;
		l->known[new] = arena_array(d->a, room, sizeof(*old));
		l->room[new] = room;
		l->nknown[new] = 0;
		for (uint32_t i = 0; i < was; i++)
			if (old[i].taken) {
				*find_list(d, l, new, &old[i]) = old[i];
				l->nknown[new]++;
			}
	}
	uint64_t hash = (key->was * 31 + key->base) * 0x9e3779b97f4a7c15 + key->addr_base;
	uint32_t at = (uint32_t)(hash >> 32) & (room - 1);

	while (l->known[new][at].taken &&
	       (l->known[new][at].was != key->was || l->known[new][at].base != key->base ||
		l->known[new][at].addr_base != key->addr_base))
		at = (at + 1) & (room - 1);
	return &l->known[new][at];
}

int debug_translate_list(struct debug *d, const struct debug_unit *u, uint64_t off,
			 uint64_t *now)
{
	struct debug_lists *l = &d->locations;
	bool new = u->version >= 5;
	struct debug_list key = { .was = off, .base = u->base, .addr_base = u->addr_base,
				  .taken = true };
	struct debug_list *known = find_list(d, l, new, &key);

	if (!known->taken) {
		struct wr *out = offset_section(d, l, u);
		struct reader rd = reader_of(d, l, u, off);

		key.now = out->n;
		if (copy_places(&rd, out) < 0)
			return -1;
		*known = key;
		l->nknown[new]++;
	}
	*now = known->now;
	return 0;
}

int debug_write_ranges(struct debug *d, const struct debug_unit *u,
		       const addresses_ranges *ranges, uint64_t *now)
{
	struct wr *out = offset_section(d, &d->ranges, u);

	*now = out->n;
	write_ranges(d, u, ranges, out);
	return check_size(d, u, out);
}

/* --- tables of DWARF 5 --- */

static uint32_t first_table(const struct debug_lists *l, uint64_t base)
{
	return search_first(i, 0, l->by_base.n, l->by_base.v[i]->was < base);
}

static struct debug_listtable *find_table(const struct debug_lists *l, uint64_t base)
{
	uint32_t i = first_table(l, base);

	return i < l->by_base.n && l->by_base.v[i]->was == base ? l->by_base.v[i] : NULL;
}

/* As a rule it is the last one. */
static void add_table(struct debug *d, struct debug_lists *l, struct debug_listtable *t)
{
	uint32_t at = first_table(l, t->was), behind = l->by_base.n - at;

	vec_push(d->a, &l->table, t);
	vec_push(d->a, &l->by_base, t);
	memmove(&l->by_base.v[at + 1], &l->by_base.v[at], behind * sizeof(t));
	l->by_base.v[at] = t;
}

int debug_use_table(struct debug *d, struct debug_lists *l, const struct debug_unit *u,
		    uint64_t base, uint64_t at)
{
	struct debug_listtable *t = find_table(l, base);
	struct bytes was = d->section[l->new].was;
	struct debug_fix fix = { u->section, at, base, false };

	if (!t) {
		struct bytes n = base >= HEADER_SIZE ? bytes_at(was, base - OFFSET_SIZE, 4) :
						       (struct bytes){ 0 };

		t = arena_alloc(d->a, sizeof(*t));
		*t = (struct debug_listtable){ .was = base, .n = (uint32_t)bytes_first(n) };
		if (!n.p || !bytes_at(was, base, (uint64_t)t->n * OFFSET_SIZE).p)
			return debug_malformed(d, l->new, base, "a bad table of lists");
		if (debug_count(d, t->n + l->table.n) < 0)
			return -1;
		t->offset = arena_array(d->a, t->n, sizeof(*t->offset));
		t->user = arena_array(d->a, t->n, sizeof(*t->user));
		add_table(d, l, t);
	}
	vec_push(d->a, &t->fixes, fix);
	return 0;
}

/* The offset of list number `index`. */
static int indexed_offset(struct debug *d, const struct debug_lists *l,
			  const struct debug_unit *u, uint64_t index, uint64_t *off)
{
	uint64_t base = l->locations ? u->loclists_base : u->rnglists_base;
	struct debug_listtable *t = find_table(l, base);

	if (!t || index >= t->n)
		return debug_malformed(d, u->section, u->off, "a list that is not there");
	*off = base + bytes_first(bytes_at(d->section[l->new].was, base + index * OFFSET_SIZE,
					   OFFSET_SIZE));
	return 0;
}

/* Number `index` of the unit's table is to be the next list of that: 1; 0: it is there. */
static int begin_indexed(struct debug *d, const struct debug_lists *l,
			 const struct debug_unit *u, uint64_t index,
			 struct debug_listtable **table)
{
	uint64_t base = l->locations ? u->loclists_base : u->rnglists_base;
	struct debug_listtable *t = *table = find_table(l, base);
	const struct debug_unit *user = t->user[index];

	if (user && (user->base != u->base || user->addr_base != u->addr_base))
		return debug_malformed(d, u->section, u->off, "a list that others use, too");
	if (user)
		return 0;
	t->user[index] = u;
	t->offset[index] = (uint32_t)(t->n * OFFSET_SIZE + t->lists.n);
	return 1;
}

int debug_translate_indexed(struct debug *d, const struct debug_unit *u, uint64_t index)
{
	struct debug_listtable *t;
	uint64_t off;

	if (indexed_offset(d, &d->locations, u, index, &off) < 0)
		return -1;
	int begun = begin_indexed(d, &d->locations, u, index, &t);
	if (begun <= 0)
		return begun;
	struct reader rd = reader_of(d, &d->locations, u, off);

	return copy_places(&rd, &t->lists);
}

int debug_write_indexed(struct debug *d, const struct debug_unit *u,
			const addresses_ranges *ranges, uint64_t index)
{
	struct debug_listtable *t;
	uint64_t off;

	if (indexed_offset(d, &d->ranges, u, index, &off) < 0)
		return -1;
	int begun = begin_indexed(d, &d->ranges, u, index, &t);
	if (begun <= 0)
		return begun;
	write_ranges(d, u, ranges, &t->lists);
	return check_size(d, u, &t->lists);
}

int debug_read_ranges(struct debug *d, const struct debug_unit *u, uint32_t form,
		      uint64_t value, addresses_ranges *out)
{
	if (form == DW_FORM_rnglistx && indexed_offset(d, &d->ranges, u, value, &value) < 0)
		return -1;
	struct reader rd = reader_of(d, &d->ranges, u, value);

	return collect_ranges(&rd, out);
}

static void put_header(struct wr *out, size_t at, size_t end, uint32_t n)
{
	const uint32_t version_and_sizes = 5 | 8 << 16;	/* of addresses; no segments */

	wr_put_u32(out, at, (uint32_t)(end - at - 4));
	wr_put_u32(out, at + 4, version_and_sizes);
	wr_put_u32(out, at + 8, n);
}

void debug_free_lists(struct debug_lists *l)
{
	for (uint32_t i = 0; i < l->table.n; i++)
		wr_free(&l->table.v[i]->lists);
}

int debug_finish_lists(struct debug *d, struct debug_lists *l)
{
	struct wr *out = &d->section[l->new].now;

	if (out->n > 0)
		put_header(out, 0, out->n, 0);
	for (uint32_t i = 0; i < l->table.n; i++) {
		struct debug_listtable *t = l->table.v[i];
		size_t at = out->n, base = at + HEADER_SIZE;

		(void)wr_reserve(out, HEADER_SIZE);
		for (uint32_t k = 0; k < t->n; k++)
			wr_u32(out, t->offset[k]);
		wr_raw(out, t->lists.p, t->lists.n);
		if (out->n > d->most_bytes)
			return err_set(d->err, ERR_REFUSED, "too many lists of ranges");
		put_header(out, at, out->n, t->n);
		for (uint32_t k = 0; k < t->fixes.n; k++)
			wr_put_u32(&d->section[t->fixes.v[k].section].now, t->fixes.v[k].at,
				   (uint32_t)base);
	}
	return 0;
}
