/* placement.c - finds the addresses of blocks in the original, and in a generation by its map
 *
 * Tested by tests/unit/editor/measure/test_measure.c.
 */
#include "editor/measure/placement.h"

#include "lib/blockmap.h"
#include "lib/err.h"

void placement_make(const struct prog *prog, struct placement *out)
{
	out->block = arena_array(prog->arena, prog->nfn, sizeof(*out->block));
	out->jumped = arena_array(prog->arena, prog->nfn, sizeof(*out->jumped));
	out->pointed = arena_array(prog->arena, prog->nfn, sizeof(*out->pointed));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		if (fn->nblock)
			out->block[f] =
				arena_array(prog->arena, fn->nblock, sizeof(**out->block));
	}
}

static struct placed original_place(const struct block *b)
{
	return (struct placed){ b->addr, b->size, true };
}

void placement_original(const struct prog *prog, struct placement *out)
{
	*out = (struct placement){ .img = prog->img };
	placement_make(prog, out);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		for (uint32_t i = 0; out->block[f] && i < prog->fn[f].nblock; i++)
			out->block[f][i] = original_place(&prog->fn[f].block[i]);
	}
}

/* A block of nothing but NOPs, or of a lone jmp, may have an empty image: its place is that of
 * the block where control goes from it, which may be such a block, too.  More steps than the
 * function has blocks mean a cycle. */
static void place_empty(const struct fn *fn, struct placed *at, uint32_t id)
{
	uint32_t to = id;

	for (uint32_t step = 0; step < fn->nblock && !at[to].known; step++) {
		const struct block *b = &fn->block[to];

		to = b->taken != NO_BLOCK ? b->taken : b->fall;
		if (to == NO_BLOCK)
			return;
	}
	if (at[to].known)
		at[id] = (struct placed){ at[to].addr, 0, true };
}

/* Where the image of a block ends, which may have several lines of the map, one behind the
 * other. */
static uint32_t image_end(const struct blockmap *map, const struct block *b, vaddr base,
			  const struct blockmap_block *line)
{
	while (line->orig + line->orig_size < b->addr + b->size - base) {
		const struct blockmap_block *next =
			blockmap_find_orig(map, base + line->orig + line->orig_size);

		if (!next || next->gen != line->gen + line->gen_size)
			break;
		line = next;
	}
	return line->gen + line->gen_size;
}

/* The rest of those without image have stayed (block_may_stay). */
static bool may_be_empty(const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (fn->insn[i].kind != INSN_NOP && fn->insn[i].kind != INSN_JMP)
			return false;
	return true;
}

static void place_fn(const struct prog *prog, uint32_t f, const struct blockmap *map,
		     struct placement *out)
{
	const struct fn *fn = &prog->fn[f];
	struct placed *at = out->block[f];
	bool moved = false;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct blockmap_block *b = blockmap_find_orig(map, fn->block[i].addr);

		if (!b)
			continue;
		at[i] = (struct placed){ map->gen_base + b->gen,
					 image_end(map, &fn->block[i], map->orig_base, b) -
						 b->gen,
					 true };
		moved = true;
	}
	for (uint32_t i = fn->nblock; i-- > 0; ) {
		if (!moved || (!at[i].known && !may_be_empty(fn, &fn->block[i])))
			at[i] = original_place(&fn->block[i]);
		else if (!at[i].known && !fn->block[i].padding)
			place_empty(fn, at, i);
	}
	out->jumped[f] = moved;
}

/* Bytes of the original of a line of the map, up to the end of the last instruction that is
 * no NOP. */
static uint32_t size_before(const struct image *img, const struct blockmap *map,
			    const struct blockmap_block *b)
{
	struct bytes code =
		bytes_at(image_rest(img, map->orig_base + b->orig), 0, b->orig_size);
	struct insn insn;
	vaddr unused;
	uint32_t size = 0;

	for (uint32_t off = 0; off < code.n; off += insn.len) {
		if (!insn_decode(bytes_at(code, off, code.n - off), 0, &insn, &unused))
			return b->orig_size;
		if (insn.kind != INSN_NOP)
			size = off + insn.len;
	}
	return size;
}

static void measure_hot_text(const struct prog *prog, const struct blockmap *map,
			     struct placement *out)
{
	out->hot_text = map->hot_size;
	out->fluff = map->gen_base + map->hot_size;
	out->fluff_end = out->fluff + map->fluff_size;
	for (uint32_t i = 0; i < map->nblock && map->block[i].gen < map->hot_size; i++)
		out->hot_text_before += size_before(&prog->img, map, &map->block[i]);
}

void placement_find_pointed(const struct prog *prog, struct placement *pl)
{
	for (uint32_t i = 0; i < prog->nref; i++) {
		const struct reference *r = &prog->ref[i];
		const struct bytes old = bytes_at(prog->img.file, r->at, sizeof(Elf64_Sym));
		const struct bytes new = bytes_at(pl->img.file, r->at, sizeof(Elf64_Sym));
		uint64_t n = r->kind == REFERENCE_SYMBOL ? sizeof(Elf64_Sym) : sizeof(vaddr);

		if (r->kind != REFERENCE_LEA && r->to == prog->fn[r->fn].entry && old.p &&
		    new.p && memcmp(old.p, new.p, n) != 0)
			pl->pointed[r->fn] = true;
	}
}

int placement_of_map(const struct prog *prog, struct bytes file, const struct blockmap *map,
		     struct placement *out, struct err *err)
{
	*out = (struct placement){ 0 };
	if (!digest_equal(&map->original, &prog->digest))
		return err_set(err, ERR_INPUT, "it is a generation of another file");
	if (image_parse(file, prog->arena, &out->img, err) < 0)
		return -1;
	placement_make(prog, out);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		if (out->block[f])
			place_fn(prog, f, map, out);
	}
	placement_find_pointed(prog, out);
	measure_hot_text(prog, map, out);
	return 0;
}

bool placement_all_know(const struct placement *pl, uint32_t n, uint32_t f, uint32_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (!pl[i].block[f] || !pl[i].block[f][id].known)
			return false;
	return true;
}
