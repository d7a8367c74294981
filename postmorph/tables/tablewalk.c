/* tablewalk.c - walks over one function's instructions with abstract states (jumptable.c)
 *
 * There is one state per join point; code behind one whose state changes is walked again.  Code
 * between two join points is walked as one piece.
 *
 * Tested by tests/unit/postmorph/tables/test_jumptable.c.
 */
#include "postmorph/tables/tablewalk.h"

#include "postmorph/tables/clobbers.h"

enum { MAX_STATES = 1 << 16 };

static const uint8_t MARK_JOIN = MARK_BRANCH | MARK_HELD | MARK_TABLE | MARK_PAD;

/* Only who loads or stores by way of rsp asks. */
void tablewalk_frame(struct walk *w, const struct op *op, vaddr addr)
{
	enum { RSP = 4 };

	w->ai.depth = 0;
	if (!(op->reads_frame && w->ai.spills.all.n) &&
	    !(op->kind == OP_STORE && op->mem.base == RSP))
		return;
	w->ai.depth = cfi_depth(&w->t->prog->cfi, addr);
}

/* Instruction of fn that begins at addr, UINT32_MAX if none. */
uint32_t tablewalk_insn_at(const struct walk *w, vaddr addr)
{
	const struct fn *fn = w->fn;
	uint32_t r = 0, lo = 0;

	if (!text_holds(w->t, addr) || !(*text_mark(w->t, addr) & MARK_INSN))
		return UINT32_MAX;
	while (r < fn->nrange && (addr < fn->range[r].addr ||
				  addr - fn->range[r].addr >= fn->range[r].size))
		r++;
	if (r == fn->nrange)
		return UINT32_MAX;
	lo = r ? w->range_end[r - 1] : 0;
	for (uint32_t hi = w->range_end[r]; hi - lo > 1; ) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (prog_insn_addr(w->t->prog, &fn->insn[mid]) <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static void set_dirty(struct walk *w, uint32_t i)
{
	w->dirty[i / 64] |= (uint64_t)1 << (i % 64);
	if (i < w->lowest)
		w->lowest = i;
}

static bool take_dirty(struct walk *w, uint32_t *out)
{
	uint32_t n = (w->fn->ninsn + 63) / 64;

	for (uint32_t k = w->lowest / 64; k < n; k++) {
		if (!w->dirty[k])
			continue;
		*out = w->lowest = 64 * k + (uint32_t)__builtin_ctzll(w->dirty[k]);
		w->dirty[k] &= w->dirty[k] - 1;
		return true;
	}
	return false;
}

static bool is_join(const struct walk *w, uint32_t i)
{
	return i == 0 || (w->t->mark[w->fn->insn[i].off] & MARK_JOIN);
}

/* Control reaches join point i in state s. */
static void arrive(struct walk *w, uint32_t i, const struct abs_state *s)
{
	if (w->state[i]) {
		if (absint_join(w->state[i], s, i))
			set_dirty(w, i);
		return;
	}
	if (w->nstate == MAX_STATES) {
		w->work = w->limit;	/* give up */
		return;
	}
	w->nstate++;
	w->state[i] = w->before ? w->before[i] : NULL;
	if (w->state[i])
		*w->state[i] = *s;
	else
		w->state[i] = arena_dup(w->arena, s, sizeof(*s));
	set_dirty(w, i);
}

/* A table entry makes a join point in the middle of code that was walked as one piece: the
 * piece is walked again, up to here. */
static void make_join(struct walk *w, uint32_t i)
{
	uint8_t *mark = &w->t->mark[w->fn->insn[i].off];

	if (is_join(w, i))
		return;
	*mark |= MARK_TABLE;
	for (uint32_t k = i; k-- > 0; )
		if (w->state[k]) {
			set_dirty(w, k);
			return;
		}
}

void tablewalk_come(struct walk *w, uint32_t i, const struct abs_state *s)
{
	make_join(w, i);
	arrive(w, i, s);
}

static void follow_branch(struct walk *w, const struct insn *insn, const struct abs_state *s)
{
	const struct prog *prog = w->t->prog;
	vaddr target =
		insn_target(insn, prog_insn_bytes(prog, insn), prog_insn_addr(prog, insn));
	uint32_t i = tablewalk_insn_at(w, target);

	if (i != UINT32_MAX)
		arrive(w, i, s);
	else
		tableaway_follow(w, target, s);
}

/* Entries before another table of the function begins; with `sure`, one that nobody could
 * take for something else.  A table of another function behind it may add a few that are
 * none, by chance: then more is followed than can happen. */
uint32_t tablewalk_own_entries(const struct walk *w, const struct group *g, bool sure)
{
	vaddr size = tablescan_entry_size(g->kind);
	uint32_t n = g->scan.nentry;

	for (uint32_t i = 0; i < w->groups.n; i++) {
		vaddr behind = w->groups.v[i].addr - g->addr;

		if (sure && !w->groups.v[i].scan.begins)
			continue;
		if (w->groups.v[i].addr > g->addr && behind < size * n)
			n = (uint32_t)((behind + size - 1) / size);
	}
	return n;
}

/* Nothing but the width of a number, or of a part of it that was shifted or masked out,
 * bounds the index: the table may be shorter than that. */
static bool is_type_bound(const struct abs_jump *j)
{
	return j->masked || j->index == ABS_UNBOUND || j->index == UINT8_MAX ||
	       j->index == UINT16_MAX;
}

/* The first n entries and those behind them that look like cases, too.  The Verifier, which
 * knows of no bound, lets the jump go there, with what it leaves in registers. */
static uint32_t with_alike(const struct walk *w, const struct group *g, uint32_t n)
{
	uint32_t own = tablewalk_own_entries(w, g, false);

	while (n < own && tablewalk_insn_at(w, g->scan.target[n]) != UINT32_MAX)
		n++;
	return n;
}

/* Control goes through the first n entries. */
static void follow_entries(struct walk *w, const struct group *g, uint32_t n,
			   const struct abs_state *s)
{
	w->round++;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = tablewalk_insn_at(w, g->scan.target[k]);

		w->work++;
		if (i == UINT32_MAX) {
			if (!tablescan_is_filler(w->t, w->fn, g->scan.target[k]))
				tableaway_follow(w, g->scan.target[k], s);
			continue;
		}
		if (w->stamp[i] == w->round)
			continue;
		w->stamp[i] = w->round;
		tablewalk_come(w, i, s);
	}
}

/* A comparison admits more entries than look like such, and all of them can be made part of
 * it. */
static bool extend(struct walk *w, struct group *g, const struct abs_jump *j)
{
	return !is_type_bound(j) &&
	       tablescan_extend(w->t, w->arena, w->fn, g->addr, g->kind, j->index + 1,
				&g->scan);
}

/* What went through a table, as it seemed, goes somewhere else as well. */
static void lose_dispatch(struct walk *w, const struct op *op)
{
	struct dispatch *d = op->imm ? &w->dispatches.v[op->imm - 1] : NULL;

	if (d && d->why_not == JUMP_TABLE)
		d->why_not = w->groups.v[d->group].why_not = JUMP_TWO_TABLES;
}

static void follow_table(struct walk *w, uint32_t insn, struct abs_state *s)
{
	struct op *op = &w->op[insn];
	struct abs_jump j;

	w->jump_may[insn] |= absint_may(s, ABS_NONE);
	if (!absint_jump(&w->ai, s, op, &j)) {
		lose_dispatch(w, op);
		return;
	}
	if (op->imm == 0) {		/* of a jump: 1 + its number in dispatches */
		vec_push(w->arena, &w->dispatches,
			 ((struct dispatch){ insn, j.group, JUMP_TABLE }));
		op->imm = w->dispatches.n;
	}
	struct dispatch *d = &w->dispatches.v[op->imm - 1];
	if (d->why_not == JUMP_ADDRESS_USED)	/* in the walk before */
		*d = (struct dispatch){ insn, j.group, JUMP_TABLE };
	struct group *g = &w->groups.v[j.group];
	uint32_t guard = g->guarded ? tablewalk_guard(w, g) : 0;
	bool beyond = !guard && j.index >= g->scan.nentry && !extend(w, g, &j);
	if (d->group != j.group)
		d->why_not = w->groups.v[d->group].why_not = JUMP_TWO_TABLES;
	else if (beyond)
		d->why_not = is_type_bound(&j) ? JUMP_NO_BOUND : JUMP_TOO_SHORT;
	if (d->why_not != JUMP_TABLE) {
		g->why_not = d->why_not;
		return;
	}
	absint_dispatch(s);
	uint32_t n = guard ? guard : j.index + 1;
	if (n > g->bound)
		g->bound = n;
	follow_entries(w, g, with_alike(w, g, n), s);
}

/* A call; false when it is known not to come back. */
bool tablewalk_call(struct walk *w, const struct insn *insn, const struct op *op,
		    struct abs_state *s)
{
	const struct prog *prog = w->t->prog;
	uint16_t clobbered = ABS_CALLER_SAVED;

	if (insn->kind == INSN_CALL)
		clobbered = clobbers_of(w->t, insn_target(insn, prog_insn_bytes(prog, insn),
							  prog_insn_addr(prog, insn)));
	absint_pass(&w->ai, s);
	absint_call(&w->ai, s, op, clobbered);
	return !text_call_noreturn(w->t, insn);
}

/* An exception here goes on at the landing pad. */
static void follow_throw(struct walk *w, uint32_t i, const struct abs_state *s)
{
	struct abs_state thrown;

	if (w->pad && w->pad[i] && absint_throw(s, &thrown))
		arrive(w, w->pad[i] - 1, &thrown);
}

/* Whose entry the load has read. */
static void note_load(struct walk *w, uint32_t i, const struct abs_state *s)
{
	const struct op *op = &w->op[i];

	if (op->kind == OP_LOAD && op->movable) {
		const struct abs_value *v = &s->v[op->dst];

		w->reads[i] = v->kind == ABS_ENTRY || v->kind == ABS_WORD ? v->group + 1 : 0;
		w->jump_may[i] |= absint_may(s, op->dst);
		if (w->reads[i] && !op->guardable)
			w->groups.v[w->reads[i] - 1].bare = true;
	}
}

/* Index of the instruction behind the range that i is in. */
static uint32_t range_behind(const struct walk *w, uint32_t i)
{
	uint32_t r = 0;

	while (i >= w->range_end[r])
		r++;
	return w->range_end[r];
}

/* One instruction; false when control does not go on behind it. */
static bool walk_insn(struct walk *w, uint32_t i, struct abs_state *s)
{
	const struct insn *insn = &w->fn->insn[i];
	const struct op *op = &w->op[i];

	if (insn->kind == INSN_JCC || insn->kind == INSN_JMP || insn->kind == INSN_LOOP)
		absint_turn(s);
	tablewalk_frame(w, op, prog_insn_addr(w->t->prog, insn));
	switch (insn->kind) {
	case INSN_JCC: {
		struct abs_state taken = *s;

		absint_test(&w->ai, s, op);
		if (op->kind == OP_JCC) {
			absint_branch(&taken, (unsigned)op->imm, true);
			absint_branch(s, (unsigned)op->imm, false);
		}
		follow_branch(w, insn, &taken);
		return true;
	}
	case INSN_LOOP:
		absint_step(&w->ai, s, op, i);
		follow_branch(w, insn, s);
		return true;
	case INSN_XBEGIN:
		absint_call(&w->ai, s, op, 0);
		follow_branch(w, insn, s);
		return true;
	case INSN_JMP:
		follow_branch(w, insn, s);
		return false;
	case INSN_IJMP:
		follow_table(w, i, s);
		return false;
	case INSN_TRAP:
		return fn_trap_falls(w->fn, i, range_behind(w, i));
	case INSN_RET:
		return false;
	case INSN_CALL: case INSN_ICALL:
		return tablewalk_call(w, insn, op, s);
	case INSN_NOP:
		return true;
	default:
		if (op->kind == OP_KERNEL)
			absint_call(&w->ai, s, op, 0);
		else
			absint_step(&w->ai, s, op, i);
		note_load(w, i, s);
		return true;
	}
}

/* Behind the last instruction of a range.  A call does not come back, whoever it calls, when
 * what is behind it belongs to another function, or to none. */
static void leave_range(struct walk *w, uint32_t r, const struct insn *last,
			const struct abs_state *s)
{
	const struct fn_range *range = &w->fn->range[r];
	vaddr end = range->addr + range->size;

	if ((last->kind != INSN_CALL && last->kind != INSN_ICALL) ||
	    tablewalk_runs_on(w->t, range->fde, end))
		tableaway_follow(w, end, s);
}

/* From join point i to where control leaves or the next join point begins. */
static void walk_from(struct walk *w, uint32_t i)
{
	struct abs_state s = *w->state[i];
	uint32_t r = 0;

	while (i >= w->range_end[r])
		r++;
	for (;;) {
		w->visited[i] = true;
		follow_throw(w, i, &s);
		if (++w->work >= w->limit || !walk_insn(w, i, &s))
			return;
		if (++i == w->range_end[r]) {
			leave_range(w, r, &w->fn->insn[i - 1], &s);
			return;
		}
		if (is_join(w, i)) {
			arrive(w, i, &s);
			return;
		}
	}
}

/* More places in the frame are known not to be what was stored there: true when all who may
 * have loaded them have to be walked again. */
static bool look_again(struct walk *w)
{
	if (!w->ai.spills.changed || w->work >= w->limit)
		return false;
	w->ai.spills.changed = false;
	for (uint32_t i = 0; i < w->fn->ninsn; i++)
		if (w->state[i])
			set_dirty(w, i);
	return true;
}

static void walk_on(struct walk *w)
{
	uint32_t i;

	do {
		while (w->work < w->limit && take_dirty(w, &i))
			walk_from(w, i);
	} while (look_again(w));
}

/* Control may come to instruction i, which nothing else leads to: true if it was not seen. */
static bool enter(struct walk *w, uint32_t i)
{
	struct abs_state top;

	if (i == UINT32_MAX || w->visited[i])
		return false;
	absint_top(&top);
	tablewalk_come(w, i, &top);
	return true;
}

/* What jumps without a proven table lead to is dead in the image, for they go on in original
 * code.  All the same it is walked, as if it were entered there. */
static bool enter_rest(struct walk *w)
{
	bool any = false;

	for (uint32_t i = 1; i < w->fn->ninsn; i++)
		if (w->t->mark[w->fn->insn[i].off] & MARK_HELD)
			any |= enter(w, i);
	for (uint32_t g = 0; g < w->groups.n && !any; g++) {
		const struct group *group = &w->groups.v[g];

		for (uint32_t k = 0; k < group->scan.nentry && group->why_not != JUMP_TABLE;
		     k++)
			any |= enter(w, tablewalk_insn_at(w, group->scan.target[k]));
	}
	return any;
}

void tablewalk_all(struct walk *w)
{
	/* In a program at a fixed address no pointer to a label is changed: its image is not
	 * entered by one, and many a word is such an address by chance. */
	const uint8_t entered = MARK_PAD | (w->t->prog->img.pie_or_dso ? MARK_POINTER : 0);
	struct abs_state top;

	absint_top(&top);
	arrive(w, 0, &top);
	for (uint32_t i = 1; i < w->fn->ninsn; i++)
		if (w->t->mark[w->fn->insn[i].off] & entered)
			arrive(w, i, &top);
	do
		walk_on(w);
	while (w->work < w->limit && enter_rest(w));
}
