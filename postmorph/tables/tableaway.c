/* tableaway.c - follows values from jump tables into code outside of the function
 *
 * Compilers put code that hardly runs elsewhere, and that code is not always recognized as a
 * part of its function: it may look like a function itself, or several may share it.  A jump
 * there leaves the walk with registers that hold a table's address, an entry or a target.
 * Mostly that code traps, calls something that does not come back, or overwrites all these
 * registers before long.  So it is followed for a few instructions and branches.
 *
 * Control may come back, to a join point of the walk.  A function that begins, or a stub that
 * leads to one, looks at no such register.  A register that still has such a value when the
 * steps are used up, when control cannot be followed, or when a function returns, counts as
 * used.  The numbers of steps and branches (STEPS, DEPTH) were chosen, not measured.
 *
 * Tested by tests/unit/postmorph/tables/test_jumptable.c (its functions leaves_...).
 */
#include "postmorph/ir/landing.h"
#include "postmorph/tables/tablewalk.h"

enum { STEPS = 48, DEPTH = 6, RAX = 0, RDX = 2 };

struct away {
	struct walk *w;
	uint32_t steps;		/* that are left */
};

/* A function begins at addr, or a stub of the procedure linkage table that jumps to one.
 * One that jumps into the middle of this function may be more of it. */
static bool is_begun(const struct walk *w, vaddr addr)
{
	const struct prog *prog = w->t->prog;
	uint32_t f = prog_find_fn(prog, addr);

	if (f == NO_FN || prog->fn[f].skip == SKIP_FRAGMENT ||
	    text_kin(w->t, prog->fn[f].range[0].fde) == text_kin(w->t, w->fn->range[0].fde))
		return false;
	return prog->fn[f].skip == SKIP_PLT ? plt_stub_slot(&prog->img, addr) != 0 :
					      prog->fn[f].entry == addr;
}

static void escape(struct walk *w, const struct abs_state *s)
{
	absint_escape(&w->ai, absint_may(s, ABS_NONE) | spills_may(&w->ai.spills) |
			       w->ai.pushed_may);
}

/* Code that is no NOP follows in the piece: a handler may skip the trap in front of it. */
static bool goes_on(const struct walk *w, vaddr addr)
{
	const struct text *t = w->t;
	const struct piece *p = &t->piece[text_piece(t, addr - 1)];
	struct insn insn;
	vaddr target;

	while (addr - p->addr < p->size &&
	       insn_decode(image_rest(&t->prog->img, addr), addr, &insn, &target) &&
	       insn.kind == INSN_NOP)
		addr += insn.len;
	return addr - p->addr < p->size;
}

static bool decode(const struct walk *w, vaddr addr, struct insn *insn, struct op *op)
{
	const struct text *t = w->t;
	uint32_t p = text_piece(t, addr);
	vaddr target;

	if (p == UINT32_MAX || t->piece[p].skip == SKIP_PLT || !text_holds(t, addr) ||
	    !(*text_mark(t, addr) & MARK_INSN))
		return false;
	struct bytes code = bytes_at(image_rest(&t->prog->img, addr), 0,
				     t->piece[p].addr + t->piece[p].size - addr);
	if (!code.p || !insn_decode(code, addr, insn, &target))
		return false;
	insn->off = (uint32_t)(addr - t->prog->base);
	op_decode((struct bytes){ code.p, insn->len }, insn, addr, op);
	return true;
}

static void visit_site(void *ctx, const struct lsda_site *site)
{
	bool *any = ctx;

	*any |= site->pad != 0;
}

/* An exception may go on at a landing pad of that code, which nobody follows. */
static void look_at_throw(struct walk *w, vaddr addr, const struct abs_state *s)
{
	struct abs_state thrown;
	bool any = false;

	if (!absint_throw(s, &thrown))
		return;
	landing_each(w->t, text_piece(w->t, addr), visit_site, &any);
	if (any)
		escape(w, &thrown);
}

static void follow(struct away *a, vaddr addr, struct abs_state *s, int depth);

static void follow_taken(struct away *a, const struct op *op, vaddr target, struct abs_state *s,
			 int depth)
{
	struct abs_state taken = *s;

	absint_turn(&taken);
	absint_turn(s);
	absint_test(&a->w->ai, s, op);
	if (op->kind == OP_JCC) {
		absint_branch(&taken, (unsigned)op->imm, true);
		absint_branch(s, (unsigned)op->imm, false);
	}
	follow(a, target, &taken, depth - 1);
}

static void give_back(struct walk *w, struct abs_state *s)
{
	absint_escape(&w->ai, s->v[RAX].may | s->v[RDX].may);
}

/* One instruction; false when nothing is left to follow behind it.  *addr becomes that of
 * the next. */
static bool step(struct away *a, vaddr *addr, struct abs_state *s, int depth)
{
	struct walk *w = a->w;
	struct insn insn;
	struct op op;

	if (!decode(w, *addr, &insn, &op)) {
		escape(w, s);
		return false;
	}
	vaddr target = insn_is_branch(&insn) ?
		       insn_target(&insn, prog_insn_bytes(w->t->prog, &insn), *addr) : 0;
	look_at_throw(w, *addr, s);
	tablewalk_frame(w, &op, *addr);
	*addr += insn.len;
	switch (insn.kind) {
	case INSN_JCC:
		follow_taken(a, &op, target, s, depth);
		return true;
	case INSN_JMP:
		absint_turn(s);
		*addr = target;
		return true;
	case INSN_RET:
		give_back(w, s);
		return false;
	case INSN_TRAP:
		return goes_on(w, *addr);
	case INSN_CALL: case INSN_ICALL:
		return tablewalk_call(w, &insn, &op, s) &&
		       tablewalk_runs_on(w->t, text_piece(w->t, *addr - 1), *addr);
	case INSN_LOOP: case INSN_XBEGIN: case INSN_IJMP:
		escape(w, s);
		return false;
	case INSN_NOP:
		return true;
	default:
		if (op.kind == OP_KERNEL)
			absint_call(&w->ai, s, &op, 0);
		else
			absint_step(&w->ai, s, &op, w->fn->ninsn + a->steps);
		return true;
	}
}

static void follow(struct away *a, vaddr addr, struct abs_state *s, int depth)
{
	struct walk *w = a->w;

	for (;;) {
		uint32_t i = tablewalk_insn_at(w, addr);

		if (i != UINT32_MAX) {
			tablewalk_come(w, i, s);
			return;
		}
		if (is_begun(w, addr) ||
		    !(absint_may(s, ABS_NONE) || s->flags || w->ai.spills.all.n))
			return;
		if (a->steps == 0 || depth == 0) {
			escape(w, s);
			return;
		}
		a->steps--;
		w->work++;
		if (!step(a, &addr, s, depth))
			return;
	}
}

void tableaway_follow(struct walk *w, vaddr addr, const struct abs_state *s)
{
	struct away a = { w, STEPS };
	struct abs_state state = *s;

	follow(&a, addr, &state, DEPTH);
}
