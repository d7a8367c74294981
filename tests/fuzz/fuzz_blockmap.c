/* fuzz_blockmap.c - block maps and block tables from any bytes
 *
 * What is accepted must look up consistently.  A table must encode to the same bytes again; a
 * map, whose numbers can be written longer than they need be, to bytes that read as the same
 * map.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/blocktable.h"
#include "lib/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_bytes(const struct wr *w, const uint8_t *data, size_t size)
{
	assert(w->n == size);
	assert(size == 0 || memcmp(w->p, data, size) == 0);
}

static void same_map(const struct wr *w)
{
	struct blockmap map = { 0 };
	struct wr again = { 0 };
	struct err err = { 0 };

	assert(blockmap_read(wr_bytes(w), &map, &err) == 0);
	blockmap_write(&map, &again);
	same_bytes(&again, w->p, w->n);
	wr_free(&again);
	blockmap_free(&map);
}

static void try_map(const uint8_t *data, size_t size)
{
	struct blockmap map = { 0 };
	struct wr w = { 0 };
	struct err err = { 0 };
	new_vaddr at;

	if (blockmap_read((struct bytes){ data, size }, &map, &err) < 0)
		return;
	blockmap_write(&map, &w);
	same_map(&w);
	wr_free(&w);
	for (uint32_t i = 0; i < map.nblock; i++) {
		const struct blockmap_block *b = &map.block[i];

		if (b->gen_size)	/* a jump that became a fall-through leaves nothing */
			assert(blockmap_find_gen(&map, map.gen_base + b->gen) == b);
		assert(blockmap_find_orig(&map, map.orig_base + b->orig) == b);
	}
	for (uint32_t i = 0; i < map.nseg; i++)
		/* empty ones have none */
		(void)blockmap_vaddr_of(&map, map.seg[i].offset, &at);
	blockmap_free(&map);
}

static void try_table(const uint8_t *data, size_t size)
{
	struct blocktable t = { 0 };
	struct wr w = { 0 };
	struct err err = { 0 };

	if (blocktable_read((struct bytes){ data, size }, &t, &err) < 0)
		return;
	blocktable_write(&t, &w);
	same_bytes(&w, data, size);
	wr_free(&w);
	for (uint32_t i = 0; i < t.nblock; i++)
		assert(blocktable_find(&t, t.base + t.block[i].off) == i);
	blocktable_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_map(data, size);
	try_table(data, size);
	return 0;
}
