/* calculated.c - computed jumps to what registers were calculated to hold
 *
 * A data flow over the blocks of one function, of the register that the jump is through:
 * whether something but a fetch may have written it last.  Where functions have several
 * pieces, or are gone on in from elsewhere, the jump's own block alone counts.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c and tests/programs/counting.sh: the
 * Verifier agrees.
 */
#include "editor/instrument/calculated.h"

#include "postmorph/refs/addressuse.h"

enum { MAX_SWEEPS = 8 };	/* chosen, not measured */

struct flow {
	const struct fn *fn;
	uint8_t *way;		/* [fn->nblock] enum jump_way, to what it holds behind */
	bool *calculated;	/* [fn->nblock] in front */
	bool changed;
};

static struct bytes code_of(const struct prog *prog, const struct block *b)
{
	return bytes_at(image_rest(&prog->img, b->addr), 0, b->size);
}

static void reach(struct flow *f, uint32_t id)
{
	if (id >= f->fn->nblock || f->calculated[id])
		return;
	f->calculated[id] = f->changed = true;
}

static void sweep(struct flow *f)
{
	for (uint32_t i = 0; i < f->fn->nblock; i++) {
		const struct block *b = &f->fn->block[i];

		if (f->way[i] == WAY_FETCHED ||
		    (f->way[i] == WAY_BROUGHT && !f->calculated[i]))
			continue;
		reach(f, b->fall);
		reach(f, b->taken);
	}
}

static bool brings_calculated(const struct prog *prog, const struct fn *fn, uint32_t id,
			      uint8_t reg)
{
	struct arena *a = arena_new();
	struct flow f = { .fn = fn, .changed = true,
			  .way = arena_array(a, fn->nblock, sizeof(*f.way)),
			  .calculated = arena_array(a, fn->nblock, sizeof(*f.calculated)) };

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		f.way[i] = (uint8_t)address_origin(code_of(prog, b), reg);
		f.calculated[i] = i > 0 && (b->pinned || b->landing);
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t k = 0; k < fn->table[t].nentry; k++)
			reach(&f, fn->table[t].succ[k]);
	for (int i = 0; i < MAX_SWEEPS && f.changed; i++) {
		f.changed = false;
		sweep(&f);
	}
	bool may = f.changed || f.calculated[id];
	arena_free(a);
	return may;
}

bool calculated_may_be(const struct prog *prog, const struct fn *fn, const struct ijump *jump,
		       bool part)
{
	uint32_t id = fn_find_block(fn, prog_insn_addr(prog, &fn->insn[jump->insn]));
	uint8_t reg;

	if (id == NO_BLOCK)
		return true;
	enum jump_way way = address_way(code_of(prog, &fn->block[id]), &reg);
	if (way == WAY_BROUGHT)
		return part || fn->nrange > 1 || brings_calculated(prog, fn, id, reg);
	return way != WAY_FETCHED;
}
