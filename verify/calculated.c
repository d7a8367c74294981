/* calculated.c - computed jumps to what registers were calculated to hold
 *
 * Whom a tail call reaches was fetched from memory, 64 bits as they were, or is an argument.
 * What was added up, or made of fewer bits, may be a label that stands nowhere: a distance from
 * who knows what.
 *
 * A data flow over each range of the original's code that has a jump through a register: a
 * register is calculated where something but such a fetch, or a copy of what is not, may have
 * written it last.  Calls calculate what they may overwrite.  All registers are where control
 * may come from code that is not followed: at landing pads, from other ranges, where parts of
 * functions begin, and where nothing is seen to lead.
 *
 * Tested by tests/unit/verify/test_counting.c.
 */
#include "verify/calculated.h"

#include "lib/search.h"
#include "verify/effect.h"
#include "verify/lookup.h"

enum { ALL = 0xffff, REACHED = 0x10000 };

struct flow {
	struct verify *v;
	struct arena *a;
	const struct vfde *fde;
	/* [fde->len] where an instruction begins: registers, and REACHED */
	uint32_t *calculated;
	VEC(uint32_t) queue;		/* offsets where that has grown */
};

static void reach(struct flow *f, vaddr addr, uint16_t calculated)
{
	uint64_t off = addr - f->fde->addr;
	uint32_t grown = off < f->fde->len ? f->calculated[off] | calculated | REACHED : 0;

	if (off >= f->fde->len || grown == f->calculated[off])
		return;
	f->calculated[off] = grown;
	vec_push(f->a, &f->queue, (uint32_t)off);
}

static uint16_t behind(uint16_t before, const struct effect *e)
{
	uint16_t written = e->kills | e->clobbers, as_it_was = 0;

	if (e->kind == INSN_CALL || e->kind == INSN_ICALL)
		written |= VERIFY_CALLER_SAVED;
	if (e->fetches || (e->op == FX_COPY && !(before >> e->b & 1)))
		as_it_was = e->kills;
	return (uint16_t)((before & ~written) | (written & ~as_it_was));
}

/* From the instruction at that offset. */
static void follow(struct flow *f, uint32_t off)
{
	const vaddr addr = f->fde->addr + off;
	struct bytes code = verify_orig_code(f->v, addr);
	struct effect e;

	if (!effect_decode(code, addr, &e)) {
		reach(f, addr + 1, ALL);
		return;
	}
	uint16_t then = behind((uint16_t)f->calculated[off], &e);

	if (e.kind == INSN_JMP || e.kind == INSN_JCC || e.kind == INSN_LOOP)
		reach(f, e.target, then);
	else if (e.target && e.target != f->fde->addr)	/* a call of what is no function */
		reach(f, e.target, ALL);
	if (e.kind != INSN_JMP && e.kind != INSN_IJMP && e.kind != INSN_RET)
		reach(f, addr + e.len, then);
}

static void note_jumps(const struct flow *f)
{
	struct verify *v = f->v;
	struct effect e;

	for (uint64_t off = 0; off < f->fde->len; off += e.len) {
		const vaddr addr = f->fde->addr + off;

		if (!effect_decode(verify_orig_code(v, addr), addr, &e))
			e.len = 1;
		else if (e.op == FX_JUMP && (!v->counting.left ||
					     !(f->calculated[off] & REACHED) ||
					     (f->calculated[off] >> e.a & 1)))
			vec_push(v->a, &v->counting.calculated, addr);
	}
}

static bool jumps_through_register(const struct verify *v, const struct vfde *f)
{
	struct insn insn;
	vaddr target;

	for (vaddr addr = f->addr; addr - f->addr < f->len; addr += insn.len) {
		struct bytes code = verify_orig_code(v, addr);

		if (!insn_decode(code, addr, &insn, &target))
			insn.len = 1;
		else if (insn.kind == INSN_IJMP && code.p[insn.len - 1] >= 0xe0)
			return true;
	}
	return false;
}

static void look_at(struct verify *v, struct arena *a, uint32_t fde, bool alone)
{
	const struct vbases *starts = &v->counting.unfollowed;
	struct flow f = { .v = v, .a = a, .fde = &v->ocfi.fde[fde] };
	uint32_t k = search_first(i, 0, starts->n, starts->v[i] < f.fde->addr);

	arena_reset(a);
	f.calculated = arena_array(a, f.fde->len, sizeof(*f.calculated));
	reach(&f, f.fde->addr, 0);
	for (uint64_t off = 0; off < f.fde->len && !alone; off++)
		if (verify_is_met(v, f.fde->addr + off))
			reach(&f, f.fde->addr + off, ALL);
	for (; k < starts->n && starts->v[k] - f.fde->addr < f.fde->len; k++)
		reach(&f, starts->v[k], ALL);
	for (; f.queue.n && v->counting.left; v->counting.left--)
		follow(&f, f.queue.v[--f.queue.n]);
	note_jumps(&f);
}

void verify_find_calculated(struct verify *v)
{
	const uint32_t nfde = v->ocfi.nfde;
	struct vcounting *c = &v->counting;
	uint32_t *ranges = arena_array(v->a, nfde, sizeof(*ranges));	/* of the group */
	struct arena *a = arena_new();

	for (uint32_t i = 0; i < nfde; i++) {
		const struct vlsda *l = vlsda_of(&v->ocfi, i);

		ranges[verify_group(v, i)]++;
		if (v->ocfi.fragment[i])
			vec_push(v->a, &c->unfollowed, v->ocfi.fde[i].addr);
		for (uint32_t k = 0; l && k < l->nsite; k++)
			vec_push(v->a, &c->unfollowed, v->ocfi.site[l->site + k].pad);
	}
	verify_sort_addrs(c->unfollowed.v, c->unfollowed.n);
	for (uint32_t i = 0; i < nfde; i++)
		if (jumps_through_register(v, &v->ocfi.fde[i]))
			look_at(v, a, i, ranges[verify_group(v, i)] == 1);
	verify_sort_addrs(c->calculated.v, c->calculated.n);
	arena_free(a);
}
