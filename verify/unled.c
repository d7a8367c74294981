/* unled.c - is all code of a function led to?
 *
 * A label at a distance from another one, that has been calculated and kept in memory, is
 * fetched from there as it was.  Nothing tells of it but that, as a rule, no known way leads to
 * some code of the function then: not from what is held, by words, operands, landing pads,
 * tables or as the start of an FDE, and not from there by branches and by going on.  A loop's
 * own end does not lead to the loop.  Behind a call, code is led to, whether it comes back or
 * not; NOPs and int3 need not be.
 *
 * The ways of all FDEs of a group are followed together, for they lead into each other.
 *
 * Tested by tests/unit/verify/test_redirected.c and test_cutlabels.c.
 */
#include "verify/effect.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { INT3 = 0xcc };

struct ways {
	struct verify *v;
	const uint32_t *member;		/* FDEs */
	uint32_t n;
	uint8_t **reached;		/* [n] bit a byte */
	VEC(vaddr) queue;
};

static const struct vfde *fde_of(const struct ways *w, uint32_t i)
{
	return &w->v->ocfi.fde[w->member[i]];
}

static bool is_reached(const struct ways *w, uint32_t i, vaddr addr)
{
	uint64_t at = addr - fde_of(w, i)->addr;

	return w->reached[i][at / 8] >> at % 8 & 1;
}

static void reach(struct ways *w, vaddr addr)
{
	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t at = addr - fde_of(w, i)->addr;

		if (at >= fde_of(w, i)->len || is_reached(w, i, addr))
			continue;
		w->reached[i][at / 8] |= (uint8_t)(1u << at % 8);
		vec_push(w->v->run, &w->queue, addr);
	}
}

static void follow(struct ways *w, vaddr addr)
{
	struct effect e;

	if (!effect_decode(verify_orig_code(w->v, addr), addr, &e))
		return;
	reach(w, e.target);		/* calls may lead inside, too */
	if (e.kind == INSN_CALL || e.kind == INSN_ICALL || verify_falls(w->v, addr, &e))
		reach(w, addr + e.len);
}

/* What the instruction forms the address of, or may. */
static void reach_formed(struct ways *w, struct bytes code, const struct insn *insn,
			 vaddr target)
{
	uint64_t c[INSN_MAX_CONSTANTS];
	uint32_t n = 0;

	if (insn->field && !insn_is_branch(insn))
		reach(w, target);
	if (insn->constants && w->v->orig.eh.e_type == ET_EXEC)
		n = insn_constants((struct bytes){ code.p, insn->len }, c);
	for (uint32_t i = 0; i < n; i++)
		reach(w, c[i]);
}

/* From what is held. */
static void begin(struct ways *w, const struct vfde *f)
{
	struct insn insn;
	vaddr target;

	for (vaddr at = f->addr; at < f->addr + f->len; at += insn.len) {
		struct bytes code = verify_orig_code(w->v, at);

		if (!insn_decode(code, at, &insn, &target))
			return;
		if (verify_is_held(w->v, at))
			reach(w, at);
		reach_formed(w, code, &insn, target);
	}
}

/* Tables that are held end where another one begins; but that may be a part of them, of which
 * the code forms the address for another reason. */
static void reach_behind(struct ways *w, const struct vextent *x, uint32_t group)
{
	uint64_t i = (x->hi - x->lo) / blockmap_entry_size(x->kind);
	vaddr to;

	for (; verify_table_entry(&w->v->orig, x->lo, x->kind, i, &to) &&
	       verify_may_be_case(w->v, group, to); i++)
		reach(w, to);
}

static void follow_all(struct ways *w)
{
	const uint32_t group = verify_group(w->v, w->member[0]);

	for (uint32_t i = 0; i < w->n; i++)
		w->reached[i] = arena_array(w->v->run, fde_of(w, i)->len / 8 + 1, 1);
	for (uint32_t i = 0; i < w->n; i++)
		begin(w, fde_of(w, i));
	for (uint32_t i = 0; i < w->v->walk.extents.n; i++)
		if (verify_group(w->v, w->v->walk.extents.v[i].fde) == group)
			reach_behind(w, &w->v->walk.extents.v[i], group);
	while (w->queue.n)
		follow(w, w->queue.v[--w->queue.n]);
}

/* The first one of that FDE that is not reached; 0: there is none. */
static vaddr find_in(const struct ways *w, uint32_t i)
{
	const vaddr start = fde_of(w, i)->addr, end = start + fde_of(w, i)->len;
	struct effect e;

	for (vaddr at = start; at < end; at += e.len) {
		struct bytes code = verify_orig_code(w->v, at);

		if (!effect_decode(code, at, &e))
			break;
		if (!is_reached(w, i, at) && e.kind != INSN_NOP && *code.p != INT3)
			return at;
	}
	return 0;
}

static void find(struct verify *v, uint32_t group)
{
	struct ways w = { .v = v };

	w.member = verify_members(v, group, &w.n);
	w.reached = arena_array(v->run, w.n, sizeof(*w.reached));
	follow_all(&w);
	for (uint32_t i = 0; i < w.n; i++)
		v->pointers.unled.at[w.member[i]] = find_in(&w, i);
	arena_reset(v->run);
}

vaddr verify_unled(struct verify *v, uint32_t fde)
{
	struct vunled *known = &v->pointers.unled;
	uint32_t group = verify_group(v, fde);

	if (!known->asked) {
		known->asked = arena_array(v->a, v->ocfi.nfde, sizeof(*known->asked));
		known->at = arena_array(v->a, v->ocfi.nfde, sizeof(*known->at));
	}
	if (!known->asked[group]) {
		known->asked[group] = true;
		find(v, group);
	}
	return known->at[fde];
}
