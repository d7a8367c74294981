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

struct covered {		/* code of an FDE */
	vaddr addr, end;
	uint8_t *reached;	/* bit a byte */
};

struct ways {
	struct verify *v;
	struct covered *member;		/* [n] */
	uint32_t n;
	VEC(vaddr) queue;
};

static bool is_reached(const struct covered *m, vaddr addr)
{
	uint64_t at = addr - m->addr;

	return m->reached[at / 8] >> at % 8 & 1;
}

static void reach(struct ways *w, vaddr addr)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct covered *m = &w->member[i];
		uint64_t at = addr - m->addr;

		if (at >= m->end - m->addr || is_reached(m, addr))
			continue;
		m->reached[at / 8] |= (uint8_t)(1u << at % 8);
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
static void begin(struct ways *w, const struct covered *m)
{
	struct insn insn;
	vaddr target;

	for (vaddr at = m->addr; at < m->end; at += insn.len) {
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

static void follow_all(struct ways *w, uint32_t group)
{
	for (uint32_t i = 0; i < w->n; i++)
		begin(w, &w->member[i]);
	for (uint32_t i = 0; i < w->v->walk.extents.n; i++)
		if (verify_group(w->v, w->v->walk.extents.v[i].fde) == group)
			reach_behind(w, &w->v->walk.extents.v[i], group);
	while (w->queue.n)
		follow(w, w->queue.v[--w->queue.n]);
}

/* The first one of that FDE that is not reached; 0: there is none. */
static vaddr find_in(const struct ways *w, const struct covered *m)
{
	struct effect e;

	for (vaddr at = m->addr; at < m->end; at += e.len) {
		struct bytes code = verify_orig_code(w->v, at);

		if (!effect_decode(code, at, &e))
			break;
		if (!is_reached(m, at) && !verify_is_padding(e.kind, code.p))
			return at;
	}
	return 0;
}

static void find(struct verify *v, uint32_t group)
{
	struct ways w = { .v = v };
	const uint32_t *member = verify_members(v, group, &w.n);

	w.member = arena_array(v->run, w.n, sizeof(*w.member));
	for (uint32_t i = 0; i < w.n; i++) {
		const struct vfde *f = &v->ocfi.fde[member[i]];
		uint64_t len = bytes_at(verify_orig_code(v, f->addr), 0, f->len).n;

		w.member[i] = (struct covered){ f->addr, f->addr + len, NULL };
		w.member[i].reached = arena_array(v->run, len / 8 + 1, 1);
	}
	follow_all(&w, group);
	for (uint32_t i = 0; i < w.n; i++) {
		const struct covered *m = &w.member[i];

		/* one that reaches out of the file's code is led to by nothing */
		v->pointers.unled.at[member[i]] = m->addr == m->end ? m->addr : find_in(&w, m);
	}
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
