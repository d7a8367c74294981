/* blockmap.c - encoding, checking and searching of block maps
 *
 * A map comes out of a file that anybody may have written, so reading believes no number: every
 * count is held against the bytes that are there before anything is allocated, and order,
 * disjointness and bounds are checked once, so that the searches need no care.
 *
 * A block may have an empty image (its instructions were all NOPs); it then shares its place
 * with the block behind it, which comes later in block[] and is the one that a search finds.
 */
#include "lib/blockmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/search.h"

const char blockmap_refusal[] = "it is a generation made by Morph";

/* A generation's names of sections are behind everything else, but for their headers. */
enum { TAIL = 1 << 16 };

bool blockmap_may_be_in(int fd)
{
	static const char name[] = ".morph.map";
	static uint8_t tail[TAIL];
	struct stat st;
	char magic[4];

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd, magic, 4, 0) != 4 ||
	    memcmp(magic, "\177ELF", 4) != 0)
		return false;
	off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
	ssize_t n = pread(fd, tail, sizeof(tail), from);
	return n > 0 && memmem(tail, (size_t)n, name, sizeof(name));
}

static const char magic[8] = { 'M', 'O', 'R', 'P', 'H', 'M', 'A', 'P' };

enum {
	HEADER_SIZE = 88,
	SEG_SIZE = 24,
	BLOCK_SIZE_MIN = 1,
	ENTRY_SIZE = 4,
	TABLE_SIZE = 24,
	MAX_SEGS = 64,		/* chosen: they are searched one by one, and files have few */
};

void blockmap_segs_write(const struct blockmap_seg *seg, uint32_t nseg, struct wr *out)
{
	for (uint32_t i = 0; i < nseg; i++) {
		wr_u64(out, seg[i].vaddr);
		wr_u64(out, seg[i].offset);
		wr_u64(out, seg[i].size);
	}
}

/* What most blocks do not have: their first number has a bit for each. */
enum {
	HAS_GAP = 1,			/* or begins with a longer call */
	HAS_STEP = 2,
	HAS_MORE = 4,
	SIZE_SHIFT = 3,
};

/* Most blocks are as long as their originals, and stand right behind another one in both
 * files. */
static void write_blocks(const struct blockmap *map, struct wr *out)
{
	uint32_t gen_end = 0, orig_end = 0;

	for (uint32_t i = 0; i < map->nblock; i++) {
		const struct blockmap_block *b = &map->block[i];
		uint64_t gap = (uint64_t)(b->gen - gen_end) << 1 | b->called;
		int64_t step = (int64_t)b->orig - orig_end;
		int64_t more = (int64_t)b->orig_size - b->gen_size;

		wr_uleb(out, (uint64_t)b->gen_size << SIZE_SHIFT | (gap ? HAS_GAP : 0) |
			     (step ? HAS_STEP : 0) | (more ? HAS_MORE : 0));
		if (gap)
			wr_uleb(out, gap);
		if (step)
			wr_sleb(out, step);
		if (more)
			wr_sleb(out, more);
		gen_end = b->gen + b->gen_size;
		orig_end = b->orig + b->orig_size;
	}
}

void blockmap_write(const struct blockmap *map, struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, BLOCKMAP_VERSION);
	wr_u32(out, map->generation);
	wr_raw(out, map->original.b, sizeof(map->original.b));
	wr_u64(out, map->orig_base);
	wr_u64(out, map->gen_base);
	wr_u32(out, map->hot_size);
	wr_u32(out, map->fluff_size);
	wr_u32(out, map->nseg);
	wr_u32(out, map->nblock);
	wr_u32(out, map->nentry);
	wr_u32(out, map->ntable);
	blockmap_segs_write(map->seg, map->nseg, out);
	write_blocks(map, out);
	for (uint32_t i = 0; i < map->nentry; i++)
		wr_u32(out, map->entry[i]);
	for (uint32_t i = 0; i < map->ntable; i++) {
		wr_u64(out, map->table[i].orig_addr);
		wr_u64(out, map->table[i].new_addr);
		wr_u32(out, map->table[i].nentry);
		wr_u32(out, map->table[i].kind);
	}
}

int blockmap_segs_read(struct rd *r, uint32_t nseg, struct blockmap_seg **out, struct err *err)
{
	if (nseg > MAX_SEGS || rd_left(r) < (uint64_t)nseg * SEG_SIZE)
		return err_set(err, ERR_INPUT, "%u segments are too many", nseg);
	struct blockmap_seg *seg = calloc(nseg ? nseg : 1, sizeof(*seg));
	if (!seg)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < nseg; i++) {
		seg[i].vaddr = rd_u64(r);
		seg[i].offset = rd_u64(r);
		seg[i].size = rd_u64(r);
		if (seg[i].size > UINT64_MAX - seg[i].vaddr ||
		    seg[i].size > UINT64_MAX - seg[i].offset) {
			free(seg);
			return err_set(err, ERR_INPUT, "segment %u wraps around", i);
		}
	}
	*out = seg;
	return 0;
}

static int read_header(struct rd *r, struct blockmap *m, struct err *err)
{
	const uint8_t *m8 = rd_skip(r, sizeof(magic));

	if (!m8 || memcmp(m8, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "not a block map");
	uint32_t version = rd_u32(r);
	if (!r->bad && version != BLOCKMAP_VERSION)
		return err_set(err, ERR_INPUT, "block map of version %u, this program reads %d",
			       version, BLOCKMAP_VERSION);
	m->generation = rd_u32(r);
	const uint8_t *digest = rd_skip(r, sizeof(m->original.b));
	if (digest)
		memcpy(m->original.b, digest, sizeof(m->original.b));
	m->orig_base = rd_u64(r);
	m->gen_base = rd_u64(r);
	m->hot_size = rd_u32(r);
	m->fluff_size = rd_u32(r);
	m->nseg = rd_u32(r);
	m->nblock = rd_u32(r);
	m->nentry = rd_u32(r);
	m->ntable = rd_u32(r);
	if (r->bad)
		return err_set(err, ERR_INPUT, "header is cut off");
	if (m->hot_size > UINT32_MAX - m->fluff_size ||
	    m->gen_base > UINT64_MAX - m->hot_size - m->fluff_size ||
	    m->orig_base > UINT64_MAX - UINT32_MAX)
		return err_set(err, ERR_INPUT, "text wraps around the address space");
	/* No sum can overflow: four products of 32-bit numbers with at most 24. */
	if (rd_left(r) < (uint64_t)m->nseg * SEG_SIZE + (uint64_t)m->nblock * BLOCK_SIZE_MIN +
			 (uint64_t)m->nentry * ENTRY_SIZE + (uint64_t)m->ntable * TABLE_SIZE)
		return err_set(err, ERR_INPUT, "%llu bytes are not what its counts say",
			       (unsigned long long)rd_left(r) + HEADER_SIZE);
	return 0;
}

/* In order, disjoint, and each wholly in the hot text or wholly in the fluff text. */
static int read_blocks(struct rd *r, struct blockmap *m, struct err *err)
{
	uint64_t end = 0, text = (uint64_t)m->hot_size + m->fluff_size;
	int64_t orig_end = 0;

	m->block = calloc((size_t)m->nblock + 1, sizeof(*m->block));
	if (!m->block)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < m->nblock; i++) {
		struct blockmap_block *b = &m->block[i];

		uint64_t first = rd_uleb(r), gen_size = first >> SIZE_SHIFT;
		uint64_t gap = first & HAS_GAP ? rd_uleb(r) : 0;
		int64_t step = first & HAS_STEP ? rd_sleb(r) : 0;
		int64_t more = first & HAS_MORE ? rd_sleb(r) : 0;

		if (r->bad)
			return err_set(err, ERR_INPUT, "block %u is cut off", i);
		if (gap >> 1 > text || gen_size > text || end + (gap >> 1) + gen_size > text)
			return err_set(err, ERR_INPUT, "block %u is not inside the new text",
				       i);
		if (step < -(int64_t)UINT32_MAX || step > UINT32_MAX || orig_end + step < 0 ||
		    more < -(int64_t)UINT32_MAX || more > UINT32_MAX ||
		    (int64_t)gen_size + more <= 0 ||
		    orig_end + step + (int64_t)gen_size + more > UINT32_MAX)
			return err_set(err, ERR_INPUT, "block %u has no original", i);
		*b = (struct blockmap_block){
			.gen = (uint32_t)(end + (gap >> 1)), .gen_size = (uint32_t)gen_size,
			.orig = (uint32_t)(orig_end + step),
			.orig_size = (uint32_t)((int64_t)gen_size + more), .called = gap & 1,
		};
		end = (uint64_t)b->gen + b->gen_size;
		orig_end = (int64_t)b->orig + b->orig_size;
		if (b->gen < m->hot_size && end > m->hot_size)
			return err_set(err, ERR_INPUT, "block %u is not inside the new text",
				       i);
	}
	return 0;
}

static int read_entries(struct rd *r, struct blockmap *m, struct err *err)
{
	m->entry = calloc((size_t)m->nentry + 1, sizeof(*m->entry));
	if (!m->entry)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < m->nentry; i++) {
		m->entry[i] = rd_u32(r);
		if (i && m->entry[i] <= m->entry[i - 1])
			return err_set(err, ERR_INPUT, "entry %u is out of order", i);
	}
	return 0;
}

static int read_tables(struct rd *r, struct blockmap *m, struct err *err)
{
	uint64_t end = 0;

	m->table = calloc((size_t)m->ntable + 1, sizeof(*m->table));
	if (!m->table)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < m->ntable; i++) {
		struct blockmap_table *t = &m->table[i];

		t->orig_addr = rd_u64(r);
		t->new_addr = rd_u64(r);
		t->nentry = rd_u32(r);
		t->kind = rd_u32(r);
		if (t->kind < BLOCKMAP_TABLE_REL32 || t->kind > BLOCKMAP_TABLE_BESIDE32)
			return err_set(err, ERR_INPUT, "table %u is of unknown kind %u", i,
				       t->kind);
		uint64_t size = (uint64_t)t->nentry * blockmap_entry_size(t->kind);
		if (t->nentry == 0 || size > UINT64_MAX - t->new_addr ||
		    size > UINT64_MAX - t->orig_addr)
			return err_set(err, ERR_INPUT, "table %u is empty or wraps around", i);
		if (t->new_addr < end)
			return err_set(err, ERR_INPUT, "table %u overlaps the one before it",
				       i);
		end = t->new_addr + size;
	}
	return 0;
}

static int read_end(const struct rd *r, struct err *err)
{
	if (r->bad)
		return err_set(err, ERR_INPUT, "it is cut off");
	if (rd_left(r) > 0)
		return err_set(err, ERR_INPUT, "%llu bytes stand behind its end",
			       (unsigned long long)rd_left(r));
	return 0;
}

static int by_orig_cmp(const void *x, const void *y, void *block)
{
	const struct blockmap_block *b = block;
	const uint32_t *i = x, *j = y;

	return (b[*i].orig > b[*j].orig) - (b[*i].orig < b[*j].orig);
}

static uint64_t orig_at(const void *ctx, uint32_t i)
{
	const struct blockmap *m = ctx;

	return m->block[m->by_orig[i]].orig;
}

static int sort_by_orig(struct blockmap *m, struct err *err)
{
	m->by_orig = calloc((size_t)m->nblock + 1, sizeof(*m->by_orig));
	uint32_t *room = calloc((size_t)m->nblock + 2, sizeof(*room));
	m->bracket.before = room;
	if (!m->by_orig || !room)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < m->nblock; i++)
		m->by_orig[i] = i;
	qsort_r(m->by_orig, m->nblock, sizeof(*m->by_orig), by_orig_cmp, m->block);
	for (uint32_t i = 1; i < m->nblock; i++) {
		const struct blockmap_block *p = &m->block[m->by_orig[i - 1]];

		if (m->block[m->by_orig[i]].orig < p->orig + p->orig_size)
			return err_set(err, ERR_INPUT,
				       "original blocks at offsets %#x and %#x overlap",
				       p->orig, m->block[m->by_orig[i]].orig);
	}
	bracket_make(&m->bracket, room, m->nblock, orig_at, m);
	return 0;
}

int blockmap_read_images(struct bytes b, struct blockmap *out, struct err *err)
{
	struct blockmap m = { 0 };
	struct rd r = rd_of(b);

	if (read_header(&r, &m, err) < 0 ||
	    blockmap_segs_read(&r, m.nseg, &m.seg, err) < 0 ||
	    read_blocks(&r, &m, err) < 0 || read_entries(&r, &m, err) < 0 ||
	    read_tables(&r, &m, err) < 0 || read_end(&r, err) < 0) {
		blockmap_free(&m);
		return err_wrap(err, "block map");
	}
	*out = m;
	return 0;
}

int blockmap_read(struct bytes b, struct blockmap *out, struct err *err)
{
	struct blockmap m;

	if (blockmap_read_images(b, &m, err) < 0)
		return -1;
	if (sort_by_orig(&m, err) < 0) {
		blockmap_free(&m);
		return err_wrap(err, "block map");
	}
	*out = m;
	return 0;
}

void blockmap_free(struct blockmap *map)
{
	free(map->seg);
	free(map->block);
	free(map->entry);
	free(map->table);
	free(map->by_orig);
	free(map->bracket.before);
	*map = (struct blockmap){ 0 };
}

const struct blockmap_block *blockmap_find_gen(const struct blockmap *map, new_vaddr addr)
{
	if (addr < map->gen_base || addr - map->gen_base > UINT32_MAX)
		return NULL;
	uint32_t off = (uint32_t)(addr - map->gen_base);
	uint32_t k = search_first(i, 0, map->nblock, map->block[i].gen <= off);
	if (k == 0 || off - map->block[k - 1].gen >= map->block[k - 1].gen_size)
		return NULL;
	return &map->block[k - 1];
}

const struct blockmap_block *blockmap_find_orig(const struct blockmap *map, vaddr addr)
{
	uint32_t lo = 0, hi = map->nblock;

	if (addr < map->orig_base || addr - map->orig_base > UINT32_MAX)
		return NULL;
	uint32_t off = (uint32_t)(addr - map->orig_base);
	bracket_narrow(&map->bracket, off, &lo, &hi);
	lo = search_first(i, lo, hi, map->block[map->by_orig[i]].orig <= off);
	if (lo == 0)
		return NULL;
	const struct blockmap_block *b = &map->block[map->by_orig[lo - 1]];
	return off - b->orig < b->orig_size ? b : NULL;
}

enum { CALL_LEN = 5 };

vaddr blockmap_orig_of(const struct blockmap *map, const struct blockmap_block *b,
		       new_vaddr addr)
{
	uint64_t off = addr - map->gen_base - b->gen;

	off -= b->called && off >= CALL_LEN;
	return map->orig_base + b->orig + (off < b->orig_size ? off : b->orig_size);
}

new_vaddr blockmap_gen_of(const struct blockmap *map, const struct blockmap_block *b,
			  vaddr addr)
{
	uint64_t off = addr - map->orig_base - b->orig;

	off += b->called && off >= CALL_LEN;
	return map->gen_base + b->gen + (off < b->gen_size ? off : b->gen_size);
}

int blockmap_segs_vaddr(const struct blockmap_seg *seg, uint32_t nseg, file_off off, vaddr *out)
{
	for (uint32_t i = 0; i < nseg; i++) {
		if (off >= seg[i].offset && off - seg[i].offset < seg[i].size) {
			*out = seg[i].vaddr + (off - seg[i].offset);
			return 0;
		}
	}
	return -1;
}

int blockmap_vaddr_of(const struct blockmap *map, file_off off, new_vaddr *out)
{
	return blockmap_segs_vaddr(map->seg, map->nseg, off, out);
}
