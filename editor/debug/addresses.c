/* addresses.c - walks blocks and their images side by side
 *
 * An image has its original's instructions in their order (lib/blockmap.h).  So the n-th of the
 * one is the n-th of the other, but for
 *
 *   NOPs       at the end of an original, which may be missing, and before instructions of the
 *              image, which the pass `lines` put there;
 *   the last   branch of an original, which may be missing or another one, and jumps behind it.
 *
 * A block whose image shows something else is refused: the map is not of this generation.
 *
 * Tested by tests/unit/editor/debug/test_addresses.c.
 */
#include "editor/debug/addresses.h"

#include <stdlib.h>

#include "binary/decode.h"
#include "lib/err.h"
#include "lib/search.h"

/* Blocks looked at for all ranges of a file: seconds.  A sound file of 100 MiB of debug
 * information needs a hundredth.  Chosen. */
enum { MAX_VISITS = 1 << 30 };

void addresses_init(struct addresses *ad, const struct image *orig, const struct image *gen,
		    const struct blockmap *map, struct arena *a)
{
	*ad = (struct addresses){ .a = a, .orig = orig, .gen = gen, .map = map };
	ad->block = arena_array(a, map->nblock, sizeof(*ad->block));
}

/* Could the one be the image of the other?  Branches may change their form. */
static bool is_like(const struct insn *o, const struct insn *g)
{
	bool ends = o->kind == INSN_JMP || o->kind == INSN_JCC || o->kind == INSN_LOOP;

	if (o->kind == INSN_CALL || o->kind == INSN_ICALL)
		return g->kind == INSN_CALL || g->kind == INSN_ICALL;
	if (ends || o->kind == INSN_IJMP)
		return insn_is_branch(g) || g->kind == INSN_IJMP;
	return o->kind == g->kind;
}

struct walk {
	struct bytes o, g;
	uint32_t at_o, at_g;
	struct insn insn_o, insn_g;
	bool more_g;			/* insn_g is there */
};

static bool decode_at(struct bytes code, uint32_t at, struct insn *out)
{
	vaddr target;

	return insn_decode(bytes_at(code, at, code.n - at), at, out, &target);
}

/* The image of the instruction at hand; *len_g is its length.  False if there is none that can
 * be it. */
static bool find_image(struct walk *w, uint32_t *len_g)
{
	const struct insn *o = &w->insn_o;

	w->more_g = decode_at(w->g, w->at_g, &w->insn_g);
	*len_g = 0;
	if (o->kind == INSN_NOP) {
		if (w->more_g && w->insn_g.kind == INSN_NOP && w->insn_g.len == o->len)
			*len_g = o->len;
		return true;
	}
	while (w->more_g && w->insn_g.kind == INSN_NOP) {
		w->at_g += w->insn_g.len;
		w->more_g = decode_at(w->g, w->at_g, &w->insn_g);
	}
	if (!w->more_g)			/* a jump to what follows is left out */
		return w->at_g == w->g.n && o->kind == INSN_JMP;
	*len_g = w->insn_g.len;
	return is_like(o, &w->insn_g);
}

int addresses_walk(struct addresses *ad, const struct blockmap_block *b,
		   struct addresses_block *out, struct err *err)
{
	const struct blockmap *map = ad->map;
	vaddr from = map->orig_base + b->orig;
	struct addresses_block *block = &ad->block[b - map->block];
	struct walk w = { .o = image_at(ad->orig, from, b->orig_size),
			  .g = image_at(ad->gen, map->gen_base + b->gen, b->gen_size) };
	VEC(struct addresses_insn) insns = { 0 };
	uint32_t len;

	*out = *block;
	if (block->insn)
		return 0;
	if (!w.o.p || !w.g.p)
		return err_set(err, ERR_REFUSED, "the block map does not fit the files");
	while (w.at_o < w.o.n) {
		if (!decode_at(w.o, w.at_o, &w.insn_o) || !find_image(&w, &len))
			return err_set(err, ERR_REFUSED,
				       "the block at 0x%llx does not have the image that the "
				       "block map says", (unsigned long long)(from + w.at_o));
		vec_push(ad->a, &insns,
			 ((struct addresses_insn){ w.at_o, w.at_g, w.at_g + len }));
		w.at_o += w.insn_o.len;
		w.at_g += len;
	}
	block->insn = insns.v;
	block->n = insns.n;
	*out = *block;
	return 0;
}

int addresses_start(struct addresses *ad, vaddr at, new_vaddr *out, bool *left_out,
		    struct err *err)
{
	const struct blockmap *map = ad->map;
	const struct blockmap_block *b = blockmap_find_orig(map, at);
	struct addresses_block block;

	if (!b)
		return 0;
	if (addresses_walk(ad, b, &block, err) < 0)
		return -1;
	uint32_t off = (uint32_t)(at - map->orig_base - b->orig);
	uint32_t i = search_first(k, 0, block.n, block.insn[k].orig < off);
	const struct addresses_insn *insn = i < block.n ? &block.insn[i] : NULL;

	*out = map->gen_base + b->gen + (insn ? insn->gen : b->gen_size);
	if (left_out)
		*left_out = !insn || insn->gen == insn->gen_end;
	return 1;
}

int addresses_end(struct addresses *ad, vaddr at, new_vaddr *out, struct err *err)
{
	const struct blockmap *map = ad->map;
	const struct blockmap_block *b = at ? blockmap_find_orig(map, at - 1) : NULL;
	struct addresses_block block;

	if (!b)
		return 0;
	if (addresses_walk(ad, b, &block, err) < 0)
		return -1;
	uint32_t off = (uint32_t)(at - map->orig_base - b->orig);
	uint32_t i = search_first(k, 0, block.n, block.insn[k].orig < off);

	*out = map->gen_base + b->gen + (i ? block.insn[i - 1].gen_end : 0);
	return 1;
}

/* The bound of a range in a block: at an instruction, or in one.  GCC ends what no longer holds
 * when a call has returned one byte in front of where it returns to, as debuggers look up a
 * caller's frame by that byte: inside of an instruction the distance from its end counts. */
static int find_bound(struct addresses *ad, const struct blockmap_block *b, uint32_t off,
		      uint32_t *out, struct err *err)
{
	struct addresses_block block;

	if (addresses_walk(ad, b, &block, err) < 0)
		return -1;
	uint32_t i = search_first(k, 0, block.n, block.insn[k].orig < off);
	uint32_t end = i < block.n ? block.insn[i].orig : b->orig_size;
	const struct addresses_insn *in_front = i > 0 ? &block.insn[i - 1] : NULL;

	*out = i < block.n ? block.insn[i].gen : b->gen_size;
	if (end != off && in_front) {
		uint32_t len = in_front->gen_end - in_front->gen, back = end - off;

		*out = in_front->gen_end - (back < len ? back : len);
	}
	return 0;
}

/* The image of what [from, to) has of a block, from its first instruction to where the image of
 * what follows begins; jumps and NOPs at the end of an image belong to its last instruction. */
static int add_image(struct addresses *ad, const struct blockmap_block *b, vaddr from, vaddr to,
		     addresses_ranges *out, struct err *err)
{
	const struct blockmap *map = ad->map;
	vaddr o = map->orig_base + b->orig;
	new_vaddr g = map->gen_base + b->gen;
	uint32_t first = 0, end = b->gen_size;
	struct addresses_range r;

	if (from > o && find_bound(ad, b, (uint32_t)(from - o), &first, err) < 0)
		return -1;
	if (to < o + b->orig_size && find_bound(ad, b, (uint32_t)(to - o), &end, err) < 0)
		return -1;
	r = (struct addresses_range){ g + first, g + end };
	if (r.from < r.to)
		vec_push(ad->a, out, r);
	return 0;
}

int addresses_images(struct addresses *ad, vaddr from, vaddr to, addresses_ranges *out,
		     struct err *err)
{
	const struct blockmap *map = ad->map;
	uint32_t first = search_first(
		i, 0, map->nblock,
		map->orig_base + map->block[map->by_orig[i]].orig +
			map->block[map->by_orig[i]].orig_size <= from);

	for (uint32_t i = first; i < map->nblock; i++) {
		const struct blockmap_block *b = &map->block[map->by_orig[i]];

		if (map->orig_base + b->orig >= to)
			break;
		if (++ad->nvisit > MAX_VISITS)
			return err_set(err, ERR_REFUSED,
				       "its debug information describes the same code again "
				       "and again");
		if (add_image(ad, b, from, to, out, err) < 0)
			return -1;
	}
	return 0;
}

static int range_cmp(const void *x, const void *y)
{
	const struct addresses_range *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Puts ranges[i] in front of those before it. */
static void move_first(addresses_ranges *ranges, uint32_t i)
{
	struct addresses_range first = ranges->v[i];

	memmove(ranges->v + 1, ranges->v, i * sizeof(first));
	ranges->v[0] = first;
}

void addresses_merge(addresses_ranges *ranges, new_vaddr keep)
{
	uint32_t n = 0, first = 0;

	if (ranges->n == 0)
		return;
	qsort(ranges->v, ranges->n, sizeof(*ranges->v), range_cmp);
	for (uint32_t i = 0; i < ranges->n; i++) {
		struct addresses_range r = ranges->v[i];

		if (n > 0 && r.from <= ranges->v[n - 1].to && r.from != keep) {
			if (r.to > ranges->v[n - 1].to)
				ranges->v[n - 1].to = r.to;
			continue;
		}
		if (r.from == keep && keep)
			first = n;
		ranges->v[n++] = r;
	}
	ranges->n = n;
	move_first(ranges, first);
}

/* The first range that ends behind `at`. */
static uint32_t first_behind(const addresses_ranges *ranges, uint64_t at)
{
	return search_first(i, 0, ranges->n, ranges->v[i].to <= at);
}

bool addresses_has(const addresses_ranges *ranges, uint64_t at)
{
	uint32_t i = first_behind(ranges, at);

	return i < ranges->n && ranges->v[i].from <= at;
}

void addresses_outside(struct arena *a, struct addresses_range r, const addresses_ranges *of,
		       addresses_ranges *out)
{
	for (uint32_t i = first_behind(of, r.from); i < of->n && of->v[i].from < r.to; i++) {
		if (of->v[i].from > r.from)
			vec_push(a, out, ((struct addresses_range){ r.from, of->v[i].from }));
		r.from = of->v[i].to;
	}
	if (r.from < r.to)
		vec_push(a, out, r);
}

void addresses_inside(struct arena *a, struct addresses_range r, const addresses_ranges *of,
		      addresses_ranges *out)
{
	for (uint32_t i = first_behind(of, r.from); i < of->n && of->v[i].from < r.to; i++) {
		struct addresses_range part = of->v[i];

		part.from = part.from > r.from ? part.from : r.from;
		part.to = part.to < r.to ? part.to : r.to;
		if (part.from < part.to)
			vec_push(a, out, part);
	}
}
