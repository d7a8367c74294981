/* calculated.c - computed jumps to what registers were calculated to hold
 *
 * A data flow over the blocks of one function: the registers that something but a fetch may
 * have written last.  All of them are where control may come from code that is not followed:
 * at landing pads, from tables, where addresses are held.  Where functions have several pieces,
 * or are gone on in from elsewhere, the jump's own block alone counts, as it does where nothing
 * is seen to lead.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c and tests/programs/counting.sh: the
 * Verifier agrees.
 */
#include "editor/instrument/calculated.h"

#include "postmorph/refs/addressuse.h"

enum { ALL = 0xffff };

struct flow {
	struct arena *a;
	const struct prog *prog;
	const struct fn *fn;
	struct address_origins *behind;	/* [fn->nblock] */
	uint16_t *calculated;		/* [fn->nblock] registers, in front */
	bool *reached;			/* [fn->nblock] */
	VEC(uint32_t) queue;		/* blocks where that has grown */
};

static struct bytes code_of(const struct flow *f, const struct block *b)
{
	return bytes_at(image_rest(&f->prog->img, b->addr), 0, b->size);
}

static void reach(struct flow *f, uint32_t id, uint16_t calculated)
{
	if (id >= f->fn->nblock ||
	    (f->reached[id] && (f->calculated[id] | calculated) == f->calculated[id]))
		return;
	f->reached[id] = true;
	f->calculated[id] |= calculated;
	vec_push(f->a, &f->queue, id);
}

static void follow(struct flow *f, uint32_t id)
{
	const struct address_origins *o = &f->behind[id];
	uint16_t then = (uint16_t)((f->calculated[id] & ~o->written) |
				   (o->written & ~o->fetched));

	reach(f, f->fn->block[id].fall, then);
	reach(f, f->fn->block[id].taken, then);
}

static void find_calculated(struct flow *f, bool part)
{
	const struct fn *fn = f->fn;
	const bool all = part || fn->nrange > 1;

	f->behind = arena_array(f->a, fn->nblock, sizeof(*f->behind));
	f->calculated = arena_array(f->a, fn->nblock, sizeof(*f->calculated));
	f->reached = arena_array(f->a, fn->nblock, sizeof(*f->reached));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		f->behind[i] = address_origins(code_of(f, b));
		if (all || (i > 0 && (b->pinned || b->landing)))
			reach(f, i, ALL);
		else if (i == 0)
			reach(f, i, 0);
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t k = 0; k < fn->table[t].nentry; k++)
			reach(f, fn->table[t].succ[k], ALL);
	while (f->queue.n)
		follow(f, f->queue.v[--f->queue.n]);
}

static bool may_be(struct flow *f, const struct ijump *jump, bool part)
{
	const vaddr at = prog_insn_addr(f->prog, &f->fn->insn[jump->insn]);
	uint32_t id = fn_find_block(f->fn, at);
	uint8_t reg;

	if (id == NO_BLOCK)
		return true;
	enum jump_way way = address_way(code_of(f, &f->fn->block[id]), &reg);
	if (way != WAY_BROUGHT)
		return way != WAY_FETCHED;
	if (!f->behind)
		find_calculated(f, part);
	return !f->reached[id] || (f->calculated[id] >> reg & 1);
}

const bool *calculated_find(const struct prog *prog, const struct fn *fn, bool part,
			    struct arena *a)
{
	bool *out = arena_array(a, fn->njump, sizeof(*out));
	struct flow f = { .a = arena_new(), .prog = prog, .fn = fn };

	for (uint32_t i = 0; i < fn->njump; i++)
		out[i] = may_be(&f, &fn->jump[i], part);
	arena_free(f.a);
	return out;
}
