/* addresses.h - where the instructions of an original are in its generation
 *
 * The block map tells where a block's image is; inside of the block the two are walked side by
 * side, because some instructions of an image are longer than their originals, some were left
 * out and some were put in.  Everything lives in the arena.
 */
#ifndef EDITOR_DEBUG_ADDRESSES_H
#define EDITOR_DEBUG_ADDRESSES_H

#include "binary/image.h"
#include "lib/arena.h"
#include "lib/blockmap.h"

struct err;

/* One instruction: offsets from the starts of the block and of its image.  An instruction that
 * was left out has an empty image (gen == gen_end), where the next one's begins. */
struct addresses_insn {
	uint32_t orig, gen, gen_end;
};

struct addresses_block {
	const struct addresses_insn *insn;	/* [n], NULL: not yet walked */
	uint32_t n;
};

struct addresses {
	struct arena *a;
	const struct image *orig, *gen;
	const struct blockmap *map;
	struct addresses_block *block;		/* [map->nblock] */
	uint64_t nvisit;			/* blocks looked at, so far */
};

struct addresses_range {			/* [from, to) */
	uint64_t from, to;
};
typedef VEC(struct addresses_range) addresses_ranges;

void addresses_init(struct addresses *ad, const struct image *orig, const struct image *gen,
		    const struct blockmap *map, struct arena *a);
/* The instructions of block `b` of the map.  -1 with ERR_REFUSED if its image is not one. */
int addresses_walk(struct addresses *ad, const struct blockmap_block *b,
		   struct addresses_block *out, struct err *err);
/* The image of the instruction at or behind `at` in its block: 1, and *out; 0 if that block has
 * no image; -1 with ERR_REFUSED.  *left_out (NULL: not wanted): the image is empty. */
int addresses_start(struct addresses *ad, vaddr at, new_vaddr *out, bool *left_out,
		    struct err *err);
/* The same for the end of the instruction that ends at `at`: where a call returns to. */
int addresses_end(struct addresses *ad, vaddr at, new_vaddr *out, struct err *err);
/* Appends the images of [from, to).  -1 with ERR_REFUSED. */
int addresses_images(struct addresses *ad, vaddr from, vaddr to, addresses_ranges *out,
		     struct err *err);
/* Ascending, without overlaps; what touches becomes one, unless it begins at `keep`, which then
 * is the first. */
void addresses_merge(addresses_ranges *ranges, new_vaddr keep);

/* Appends what of `r` is outside of, or in, ranges that ascend without overlaps. */
void addresses_outside(struct arena *a, struct addresses_range r, const addresses_ranges *of,
		       addresses_ranges *out);
void addresses_inside(struct arena *a, struct addresses_range r, const addresses_ranges *of,
		      addresses_ranges *out);
bool addresses_has(const addresses_ranges *ranges, uint64_t at);	/* ascending ones */

#endif
