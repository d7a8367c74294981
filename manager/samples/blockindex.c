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
	uint32_t *orig;			/* [image.nrange], what it is of, from orig_base */
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
	p->orig = memory_grow(NULL, (size_t)map->nblock + 1, sizeof(*p->orig));
	ranges_init(&p->image, map->nblock, last ? (uint64_t)last->gen + last->gen_size : 0);
	for (uint32_t i = 0; i < map->nblock; i++) {
		if (map->block[i].gen_size == 0)	/* nothing is in it */
			continue;
		p->orig[p->image.nrange] = map->block[i].orig;
		ranges_add(&p->image, map->block[i].gen, map->block[i].gen_size);
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
	free(p->orig);
	free(p->seg);
	free(p);
}

size_t blockindex_bytes(const struct blockindex *p)
{
	return sizeof(*p) + p->nseg * sizeof(*p->seg) + ranges_bytes(&p->block) +
	       ranges_bytes(&p->image) + p->image.nrange * sizeof(*p->orig);
}

int blockindex_addr(const struct blockindex *p, file_off off, uint64_t *out)
{
	return blockmap_segs_vaddr(p->seg, p->nseg, off, out);
}

uint32_t blockindex_block(const struct blockindex *p, file_off off)
{
	uint64_t addr;

	if (blockindex_addr(p, off, &addr) < 0)
		return RANGES_NONE;
	if (p->orig && addr >= p->gen_base) {
		uint32_t image = ranges_find(&p->image, addr - p->gen_base);

		if (image != RANGES_NONE)
			addr = p->orig_base + p->orig[image];
	}
	return addr < p->base ? RANGES_NONE : ranges_find(&p->block, addr - p->base);
}
