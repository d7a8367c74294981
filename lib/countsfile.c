/* countsfile.c - makes and reads the file in which an instrumented program counts
 *
 *	head, fields, path | zero bytes to a page | counters, slots | block map | heat
 *
 * Tested by tests/unit/lib/test_countsfile.c, tests/fuzz/fuzz_counts.c and
 * tests/programs/instrument.sh.
 */
#include "lib/countsfile.h"

#include "lib/arena.h"
#include "lib/err.h"

enum { PAGE = 4096, FIELDS = COUNTSFILE_HEAD + 32 + 6 * 8 + 4 * 4, VERSION_AT = 8, READY = 3 };

static const char magic[8] = "MORPHCNT";

static uint64_t page_up(uint64_t v)
{
	return (v + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

uint64_t countsfile_slots_at(uint32_t ncounter)
{
	return (8 * (uint64_t)ncounter + COUNTSFILE_SLOT - 1) &
	       ~(uint64_t)(COUNTSFILE_SLOT - 1);
}

uint64_t countsfile_size(uint32_t ncounter, uint32_t nslot)
{
	return page_up(countsfile_slots_at(ncounter) + COUNTSFILE_SLOT * (uint64_t)nslot);
}

uint64_t countsfile_offset(const char *path)
{
	return page_up(FIELDS + strlen(path));
}

void countsfile_write(const struct countsfile *f, struct wr *out)
{
	size_t start = out->n;

	wr_raw(out, f->head, sizeof(f->head));
	wr_raw(out, f->original.b, sizeof(f->original.b));
	wr_u64(out, f->base);
	wr_u64(out, f->offset);
	wr_u64(out, f->size);
	wr_u64(out, f->offset + f->size);
	wr_u64(out, f->map.n);
	wr_u64(out, f->heat.n);
	wr_u32(out, f->ncounter);
	wr_u32(out, f->nslot);
	wr_u32(out, f->nsite);
	wr_u32(out, (uint32_t)strlen(f->path));
	wr_text(out, f->path);
	(void)wr_reserve(out, f->offset - (out->n - start));
	(void)wr_reserve(out, f->size);
	wr_raw(out, f->map.p, f->map.n);
	if (f->heat.n)
		wr_raw(out, f->heat.p, f->heat.n);
}

bool countsfile_is(struct bytes start)
{
	return start.n >= sizeof(magic) && memcmp(start.p, magic, sizeof(magic)) == 0;
}

static const char *read_path(struct rd *r, uint32_t n, struct arena *a)
{
	const uint8_t *p = rd_skip(r, n);

	if (!p || n == 0 || *p != '/' || memchr(p, '\0', n))
		return NULL;
	char *path = arena_alloc(a, n + 1);
	memcpy(path, p, n);
	return path;
}

int countsfile_read(struct bytes file, struct arena *a, struct countsfile *out, struct err *err)
{
	struct countsfile f = { 0 };
	struct rd r = rd_of(file);
	const uint8_t *head = rd_skip(&r, COUNTSFILE_HEAD), *sha = rd_skip(&r, 32);

	if (!sha || !countsfile_is(file))
		return err_set(err, ERR_INPUT, "not a file of counts");
	memcpy(f.head, head, sizeof(f.head));
	memcpy(f.original.b, sha, sizeof(f.original.b));
	struct rd version = rd_of((struct bytes){ head + VERSION_AT, 4 });
	uint32_t v = rd_u32(&version);

	if (v != COUNTSFILE_VERSION)
		return err_set(err, ERR_INPUT,
			       "file of counts of version %u, this program reads %u", v,
			       COUNTSFILE_VERSION);
	f.base = rd_u64(&r);
	f.offset = rd_u64(&r);
	f.size = rd_u64(&r);
	uint64_t map = rd_u64(&r), nmap = rd_u64(&r), nheat = rd_u64(&r);
	f.ncounter = rd_u32(&r);
	f.nslot = rd_u32(&r);
	f.nsite = rd_u32(&r);
	f.path = read_path(&r, rd_u32(&r), a);
	f.map = bytes_at(file, map, nmap);
	struct bytes region = bytes_at(file, f.offset, f.size);
	/* What follows the map begins within the file if the map is in it. */
	f.heat = bytes_at(file, f.map.p ? map + nmap : 0, nheat);
	if (r.bad || !f.path || !f.map.p || !f.heat.p || !region.p ||
	    f.ncounter < COUNTSFILE_FIRST || countsfile_size(f.ncounter, f.nslot) != f.size)
		return err_set(err, ERR_INPUT, "file of counts is damaged");
	f.counters = bytes_at(region, 0, 8 * (uint64_t)f.ncounter);
	f.slots = bytes_at(region, countsfile_slots_at(f.ncounter),
			   COUNTSFILE_SLOT * (uint64_t)f.nslot);
	*out = f;
	return 0;
}

uint64_t countsfile_counter(const struct countsfile *f, uint32_t i)
{
	struct rd r = rd_of(bytes_at(f->counters, 8 * (uint64_t)i, 8));

	return rd_u64(&r);
}

bool countsfile_slot(const struct countsfile *f, uint32_t i, struct countsfile_slot *out)
{
	struct rd r = rd_of(bytes_at(f->slots, COUNTSFILE_SLOT * (uint64_t)i, COUNTSFILE_SLOT));
	uint32_t state = rd_u32(&r);

	out->site = rd_u32(&r);
	out->target = rd_u64(&r);
	out->count = rd_u64(&r);
	return state == READY && !r.bad;
}
