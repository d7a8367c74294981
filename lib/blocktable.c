/* blocktable.c - encoding, checking and searching of block tables
 *
 * Written by a confined job that worked on hostile input, so reading checks everything: counts
 * against the bytes that are there, order, disjointness, indices and bounds.
 */
#include "lib/blocktable.h"

#include <stdlib.h>

#include "lib/err.h"
#include "lib/search.h"

static const char magic[8] = { 'M', 'O', 'R', 'P', 'H', 'B', 'L', 'K' };

enum {
	SEG_SIZE = 24,
	FN_SIZE = 16,
	BLOCK_SIZE = 16,
};

void blocktable_write(const struct blocktable *t, struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, BLOCKTABLE_VERSION);
	wr_raw(out, t->original.b, sizeof(t->original.b));
	wr_u64(out, t->base);
	wr_u64(out, t->text_size);
	wr_u32(out, t->nseg);
	wr_u32(out, t->nfn);
	wr_u32(out, t->nblock);
	blockmap_segs_write(t->seg, t->nseg, out);
	for (uint32_t i = 0; i < t->nfn; i++) {
		wr_u64(out, t->fn[i].entry);
		wr_u32(out, t->fn[i].size);
		wr_u32(out, t->fn[i].reason);
	}
	for (uint32_t i = 0; i < t->nblock; i++) {
		wr_u32(out, t->block[i].off);
		wr_u32(out, t->block[i].size);
		wr_u32(out, t->block[i].ninsn);
		wr_u32(out, t->block[i].fn);
	}
}

static int read_header(struct rd *r, struct blocktable *t, struct err *err)
{
	const uint8_t *m8 = rd_skip(r, sizeof(magic));

	if (!m8 || memcmp(m8, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "not a block table");
	uint32_t version = rd_u32(r);
	if (!r->bad && version != BLOCKTABLE_VERSION)
		return err_set(err, ERR_INPUT,
			       "block table of version %u, this program reads %d", version,
			       BLOCKTABLE_VERSION);
	const uint8_t *digest = rd_skip(r, sizeof(t->original.b));
	if (digest)
		memcpy(t->original.b, digest, sizeof(t->original.b));
	t->base = rd_u64(r);
	t->text_size = rd_u64(r);
	t->nseg = rd_u32(r);
	t->nfn = rd_u32(r);
	t->nblock = rd_u32(r);
	if (r->bad)
		return err_set(err, ERR_INPUT, "header is cut off");
	if (t->base > UINT64_MAX - UINT32_MAX)
		return err_set(err, ERR_INPUT, "text wraps around the address space");
	if (rd_left(r) != (uint64_t)t->nseg * SEG_SIZE + (uint64_t)t->nfn * FN_SIZE +
			  (uint64_t)t->nblock * BLOCK_SIZE)
		return err_set(err, ERR_INPUT,
			       "%llu bytes of records are not what its counts say",
			       (unsigned long long)rd_left(r));
	return 0;
}

static int read_fns(struct rd *r, struct blocktable *t, struct err *err)
{
	t->fn = calloc((size_t)t->nfn + 1, sizeof(*t->fn));
	if (!t->fn)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < t->nfn; i++) {
		t->fn[i].entry = rd_u64(r);
		t->fn[i].size = rd_u32(r);
		t->fn[i].reason = rd_u32(r);
		if (i && t->fn[i].entry <= t->fn[i - 1].entry)
			return err_set(err, ERR_INPUT, "function %u is out of order", i);
	}
	return 0;
}

static int read_blocks(struct rd *r, struct blocktable *t, struct err *err)
{
	uint64_t end = 0;

	t->block = calloc((size_t)t->nblock + 1, sizeof(*t->block));
	if (!t->block)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < t->nblock; i++) {
		struct blocktable_block *b = &t->block[i];

		b->off = rd_u32(r);
		b->size = rd_u32(r);
		b->ninsn = rd_u32(r);
		b->fn = rd_u32(r);
		if (b->size == 0 || b->ninsn == 0 || b->size > UINT32_MAX - b->off)
			return err_set(err, ERR_INPUT, "block %u is empty or wraps around", i);
		if (b->off < end)
			return err_set(err, ERR_INPUT, "block %u overlaps the one before it",
				       i);
		end = (uint64_t)b->off + b->size;
		if (b->fn >= t->nfn)
			return err_set(err, ERR_INPUT, "block %u belongs to no function", i);
	}
	return 0;
}

int blocktable_read(struct bytes b, struct blocktable *out, struct err *err)
{
	struct blocktable t = { 0 };
	struct rd r = rd_of(b);

	if (read_header(&r, &t, err) < 0 ||
	    blockmap_segs_read(&r, t.nseg, &t.seg, err) < 0 ||
	    read_fns(&r, &t, err) < 0 || read_blocks(&r, &t, err) < 0) {
		blocktable_free(&t);
		return err_wrap(err, "block table");
	}
	*out = t;
	return 0;
}

void blocktable_free(struct blocktable *t)
{
	free(t->seg);
	free(t->fn);
	free(t->block);
	*t = (struct blocktable){ 0 };
}

uint32_t blocktable_find(const struct blocktable *t, vaddr addr)
{
	if (addr < t->base || addr - t->base > UINT32_MAX)
		return UINT32_MAX;
	uint32_t off = (uint32_t)(addr - t->base);
	uint32_t k = search_first(i, 0, t->nblock, t->block[i].off <= off);
	if (k == 0 || off - t->block[k - 1].off >= t->block[k - 1].size)
		return UINT32_MAX;
	return k - 1;
}

int blocktable_vaddr_of(const struct blocktable *t, file_off off, vaddr *out)
{
	return blockmap_segs_vaddr(t->seg, t->nseg, off, out);
}
