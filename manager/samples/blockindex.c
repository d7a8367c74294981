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
	vaddr orig_base;
	struct image *of;		/* [image.nrange], what they are of */
};

struct image {
	uint32_t orig : 31;		/* of its block, from orig_base */
	uint32_t called : 1;		/* as lib/blockmap.h has it */
};

static void add_blocks(struct blockindex *p, const struct blocktable *t)
{
	const struct blocktable_block *last = t->nblock ? &t->block[t->nblock - 1] : NULL;

	p->base = t->base;
	ranges_init(&p->block, t->nblock, last ? (uint64_t)last->off + last->size : 0);
	for (uint32_t i = 0; i < t->nblock; i++)
		ranges_add(&p->block, t->block[i].off, t->block[i].size);
	ranges_finish(&p->block);
}

static void add_images(struct blockindex *p, const struct blockmap *map)
{
	const struct blockmap_block *last = map->nblock ? &map->block[map->nblock - 1] : NULL;

	p->gen_base = map->gen_base;
	p->orig_base = map->orig_base;
	p->of = memory_grow(NULL, (size_t)map->nblock + 1, sizeof(*p->of));
	ranges_init(&p->image, map->nblock, last ? (uint64_t)last->gen + last->gen_size : 0);
	for (uint32_t i = 0; i < map->nblock; i++) {
		const struct blockmap_block *b = &map->block[i];

		/* nothing is in it, or what is no original's: no text is that long */
		if (b->gen_size == 0 || b->orig > INT32_MAX)
			continue;
		p->of[p->image.nrange] = (struct image){ b->orig & INT32_MAX, b->called };
		ranges_add(&p->image, b->gen, b->gen_size);
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
	free(p->of);
	free(p->seg);
	free(p);
}

size_t blockindex_bytes(const struct blockindex *p)
{
	return sizeof(*p) + p->nseg * sizeof(*p->seg) + ranges_bytes(&p->block) +
	       ranges_bytes(&p->image) + p->image.nrange * sizeof(*p->of);
}

int blockindex_addr(const struct blockindex *p, file_off off, uint64_t *out)
{
	return blockmap_segs_vaddr(p->seg, p->nseg, off, out);
}

/* The image that holds the address; NULL: none does. */
static const struct image *image_at(const struct blockindex *p, uint64_t addr)
{
	uint32_t i = p->of && addr >= p->gen_base ? ranges_find(&p->image, addr - p->gen_base)
						  : RANGES_NONE;

	return i == RANGES_NONE ? NULL : &p->of[i];
}

static uint32_t block_at(const struct blockindex *p, vaddr addr)
{
	return addr < p->base ? RANGES_NONE : ranges_find(&p->block, addr - p->base);
}

uint32_t blockindex_block(const struct blockindex *p, file_off off)
{
	uint64_t addr;

	if (blockindex_addr(p, off, &addr) < 0)
		return RANGES_NONE;
	const struct image *of = image_at(p, addr);
	return block_at(p, of ? p->orig_base + of->orig : addr);
}

int blockindex_place(const struct blockindex *p, file_off off, vaddr *out)
{
	enum { CALL_LEN = 5 };
	uint64_t addr;

	if (blockindex_addr(p, off, &addr) < 0)
		return -1;
	const struct image *of = image_at(p, addr);
	if (of) {
		uint64_t at = addr - p->gen_base, within = at - ranges_start(&p->image, at);
		vaddr begin = p->orig_base + of->orig;

		within -= of->called && within >= CALL_LEN;
		addr = begin + within;
		if (block_at(p, addr) != block_at(p, begin))
			return -1;	/* what a generation has added to it */
	}
	*out = addr;
	return block_at(p, addr) == RANGES_NONE ? -1 : 0;
}
