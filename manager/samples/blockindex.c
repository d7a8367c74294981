/* blockindex.c - makes and searches the index of blockindex.h: blocks and images as ranges
 *
 * An address is looked for among the images of a generation first, then among the blocks at
 * their original addresses.
 */
#include "manager/samples/blockindex.h"

#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/ranges.h"

struct blockindex {
	struct blockmap_seg *seg;	/* of the file */
	uint32_t nseg;
	vaddr base;
	struct ranges block;		/* from base */
	new_vaddr gen_base;
	struct ranges image;		/* of a generation, from gen_base */
	vaddr orig_base;		/* what they are of, from here; marked: called */
};

static void add_blocks(struct blockindex *p, const struct blocktable *t)
{
	p->base = t->base;
	ranges_init(&p->block, t->nblock);
	for (uint32_t i = 0; i < t->nblock; i++)
		ranges_add(&p->block, t->block[i].off, t->block[i].size);
	ranges_finish(&p->block);
}

static void add_images(struct blockindex *p, const struct blockmap *map)
{
	p->gen_base = map->gen_base;
	p->orig_base = map->orig_base;
	ranges_init(&p->image, map->nblock);
	for (uint32_t i = 0; i < map->nblock; i++) {
		const struct blockmap_block *b = &map->block[i];

		if (b->gen_size)
			ranges_add_image(&p->image, b->gen, b->gen_size, b->orig, b->called);
	}
	ranges_finish(&p->image);
}

struct blockindex *blockindex_new(const struct blocktable *t, const struct blockmap *map)
{
	const struct blockmap_seg *seg = map ? map->seg : t->seg;
	struct blockindex *p = memory_new(1, sizeof(*p));

	p->nseg = map ? map->nseg : t->nseg;
	p->seg = memory_new((size_t)p->nseg + 1, sizeof(*seg));
	if (p->nseg)
		memcpy(p->seg, seg, p->nseg * sizeof(*seg));
	add_blocks(p, t);
	if (map)
		add_images(p, map);
	return p;
}

void blockindex_free(struct blockindex *p)
{
	if (!p)
		return;
	ranges_free(&p->block);
	ranges_free(&p->image);
	free(p->seg);
	free(p);
}

size_t blockindex_bytes(const struct blockindex *p)
{
	return sizeof(*p) + p->nseg * sizeof(*p->seg) + ranges_bytes(&p->block) +
	       ranges_bytes(&p->image);
}

int blockindex_addr(const struct blockindex *p, file_off off, uint64_t *out)
{
	return blockmap_segs_vaddr(p->seg, p->nseg, off, out);
}

/* The image that holds the address; false: none does. */
static bool image_at(const struct blockindex *p, uint64_t addr, struct range *out)
{
	return addr >= p->gen_base && ranges_find(&p->image, addr - p->gen_base, out);
}

static bool block_at(const struct blockindex *p, vaddr addr, struct range *out)
{
	return addr >= p->base && ranges_find(&p->block, addr - p->base, out);
}

uint32_t blockindex_block(const struct blockindex *p, file_off off)
{
	struct range image, block;
	uint64_t addr;

	if (blockindex_addr(p, off, &addr) < 0)
		return UINT32_MAX;
	if (image_at(p, addr, &image))
		addr = p->orig_base + image.of;
	return block_at(p, addr, &block) ? block.index : UINT32_MAX;
}

int blockindex_place(const struct blockindex *p, file_off off, vaddr *out)
{
	enum { CALL_LEN = 5 };
	struct range image, block;
	uint64_t addr;

	if (blockindex_addr(p, off, &addr) < 0)
		return -1;
	vaddr begin = addr;
	if (image_at(p, addr, &image)) {
		uint64_t within = addr - p->gen_base - image.start;

		begin = p->orig_base + image.of;
		within -= image.marked && within >= CALL_LEN;
		addr = begin + within;
	}
	*out = addr;
	/* else: what a generation has added to a block */
	return block_at(p, addr, &block) && begin >= p->base + block.start ? 0 : -1;
}
