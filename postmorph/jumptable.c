/* jumptable.c - finds the jump tables of one function and proves their bounds
 *
 * A forward walk over the function's instructions with absint.h's states, one state per join
 * point, repeated until nothing changes.  A jump through a table whose index is bounded adds its
 * targets to the walk, so that code behind one table can lead to the next.
 *
 * WHY PROOF HOLDS  Moved code is entered at the function's entry, at addresses that something
 * points to, by its own branches, and at landing pads; all of these are walked, entries, pointer
 * targets and landing pads with nothing known (but an exception may bring along a table's address).
 * An indirect jump without a proven table lands in original code, which uses the original tables.
 * So the walk sees every state that moved code can be in.
 *
 * GROUPS  All instructions of the function that form the same table address are one group.  They
 * are rewritten together, or none is: when the address, an entry or their sum is used for anything
 * but the jump, when a jump's index has no bound, or when the table is shorter than the bound.
 *
 * BOUNDED WORK  The walk stops after LIMIT visits per instruction; then nothing is proven.
 */
#include <string.h>

#include "lib/blockmap.h"
#include "postmorph/absint.h"
#include "postmorph/analyze.h"
#include "postmorph/tablescan.h"

enum {
	VISITS = 256,		/* per instruction, plus MIN_WORK */
	MIN_WORK = 1 << 16,
	MAX_GROUPS = 4096,
	MAX_STATES = 1 << 16,
	DWARF_RSP = 7,
};

static const uint8_t MARK_JOIN = MARK_BRANCH | MARK_HELD | MARK_TABLE | MARK_PAD;

struct group {
	vaddr addr;
	uint32_t kind;		/* enum blockmap_table_kind */
	struct tablescan scan;
	uint32_t bound;		/* of all jumps through it; 0: none seen */
	uint32_t table;		/* index in fn->table[] once proven */
	uint8_t why_not;	/* enum ijump_kind: JUMP_TABLE while nothing speaks against it */
};

struct dispatch {
	uint32_t insn;
	uint16_t group;
	uint8_t why_not;	/* enum ijump_kind, as far as this jump alone is concerned */
};

struct walk {
	struct text *t;
	struct fn *fn;
	struct arena *arena;
	uint32_t *range_end;	/* [nrange] instruction index behind each range */
	struct op *op;		/* [ninsn] */
	uint32_t *pad;		/* [ninsn] landing pad's instruction + 1 if it may throw; NULL: none */
	uint64_t *jump_may;	/* [ninsn] of indirect jumps: absint_may() before it */
	struct abs_state **state;	/* [ninsn] at join points that were reached */
	uint64_t *dirty;	/* bit per instruction: state changed since it was walked */
	uint32_t lowest;	/* no dirty bit below */
	bool *visited;		/* [ninsn] */
	uint32_t *stamp, round;	/* [ninsn] last dispatch that went there */
	VEC(struct group) groups;
	VEC(struct dispatch) dispatches;
	struct absint ai;
	uint32_t nstate;
	uint64_t work, limit;
};

/* Instruction of fn that begins at addr, UINT32_MAX if none. */
static uint32_t insn_at(const struct walk *w, vaddr addr)
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

/* Group of the table at addr; ABS_NO_GROUP when nothing there looks like one. */
static uint16_t group_of(struct walk *w, vaddr addr, uint32_t kind)
{
	struct group g = { .addr = addr, .kind = kind };

	for (uint32_t i = 0; i < w->groups.n; i++)
		if (w->groups.v[i].addr == addr && w->groups.v[i].kind == kind)
			return (uint16_t)i;
	if (w->groups.n == MAX_GROUPS)
		return ABS_NO_GROUP;
	if (!tablescan(w->t, w->arena, w->fn, addr, kind, &g.scan))
		return ABS_NO_GROUP;
	w->work += g.scan.nentry;
	vec_push(w->arena, &w->groups, g);
	return (uint16_t)(w->groups.n - 1);
}

/* `lea T(%rip), reg` as everybody encodes it: with no prefix bits that mean nothing. */
static bool is_plain_lea(const struct insn *insn, const uint8_t *code)
{
	return insn_is_lea(insn, code) && insn->field == 3 && (code[0] & 0xfb) == 0x48;
}

static void decode_ops(struct walk *w)
{
	const struct prog *prog = w->t->prog;

	for (uint32_t i = 0; i < w->fn->ninsn; i++) {
		const struct insn *insn = &w->fn->insn[i];
		vaddr addr = prog_insn_addr(prog, insn);
		struct op *op = &w->op[i];

		op_decode((struct bytes){ prog_insn_bytes(prog, insn), insn->len }, addr, op);
		if (op->kind == OP_LEA && is_plain_lea(insn, prog_insn_bytes(prog, insn)))
			op->group = group_of(w, (vaddr)op->mem.disp, BLOCKMAP_TABLE_REL32);
		else if (!prog->img.pie_or_dso && op->mem.base == ABS_NONE && op->mem.scale == 8 &&
			 op->mem.index < ABS_NREG && !op->mem.other &&
			 (op->kind == OP_JMP_MEM || (op->kind == OP_LOAD && op->bits == 64)))
			op->group = group_of(w, (vaddr)op->mem.disp, BLOCKMAP_TABLE_ABS64);
	}
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
	w->state[i] = arena_dup(w->arena, s, sizeof(*s));
	set_dirty(w, i);
}

/* A table entry makes a join point in the middle of code that was walked as one piece: the piece
 * is walked again, up to here. */
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

/* A function begins at addr, or a stub of the procedure linkage table that jumps to one. */
static bool is_begun(const struct prog *prog, vaddr addr)
{
	uint32_t f = prog_find_fn(prog, addr);

	if (f == NO_FN || prog->fn[f].skip == SKIP_FRAGMENT)
		return false;
	return prog->fn[f].skip == SKIP_PLT ? plt_stub_slot(&prog->img, addr) != 0 :
					      prog->fn[f].entry == addr;
}

/* Control goes to original code at addr.  A function that begins there looks at no register that
 * could have a table's address; other code might go on with what it finds. */
static void leave(struct walk *w, vaddr addr, const struct abs_state *s)
{
	if (!is_begun(w->t->prog, addr))
		absint_escape(&w->ai, absint_may(s));
}

static void follow_branch(struct walk *w, const struct insn *insn, const struct abs_state *s)
{
	const struct prog *prog = w->t->prog;
	vaddr target = insn_target(insn, prog_insn_bytes(prog, insn), prog_insn_addr(prog, insn));
	uint32_t i = insn_at(w, target);

	if (i != UINT32_MAX)
		arrive(w, i, s);
	else
		leave(w, target, s);
}

/* Where a run of entries begins and ends is certain.  What looks like an entry before it belongs
 * to another table of the function, or an index of which nothing is known may be negative. */
static bool is_closed(const struct walk *w, const struct group *g, uint32_t index)
{
	if (!g->scan.closed || !g->scan.preceded || index != ABS_UNBOUND)
		return g->scan.closed;
	for (uint32_t i = 0; i < w->groups.n; i++) {
		const struct group *o = &w->groups.v[i];
		vaddr size = tablescan_entry_size(o->kind);

		if (o->kind == g->kind && o->addr < g->addr &&
		    g->addr <= o->addr + size * o->scan.nentry)
			return true;
	}
	return false;
}

/* Entries before another table of the function begins; with `sure`, one that nobody could take for
 * something else.  A table of another function behind it may add a few that are none, by chance: then
 * more is followed than can happen. */
static uint32_t own_entries(const struct walk *w, const struct group *g, bool sure)
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

/* Nothing but the width of a number, or of a part of it that was shifted or masked out, bounds the
 * index.  Any other bound is the compiler's, and a table shorter than that is none. */
static bool is_type_bound(const struct abs_jump *j)
{
	return j->masked || j->index == ABS_UNBOUND || j->index == UINT8_MAX ||
	       j->index == UINT16_MAX;
}

/* Control goes through the entries 0 .. index. */
static void follow_entries(struct walk *w, const struct group *g, uint32_t index,
			   const struct abs_state *s)
{
	w->round++;
	for (uint32_t k = 0; k <= index; k++) {
		uint32_t i = insn_at(w, g->scan.target[k]);

		w->work++;
		if (i == UINT32_MAX) {
			if (!tablescan_is_filler(w->t, w->fn, g->scan.target[k]))
				leave(w, g->scan.target[k], s);
			continue;
		}
		if (w->stamp[i] == w->round)
			continue;
		w->stamp[i] = w->round;
		make_join(w, i);
		arrive(w, i, s);
	}
}

/* A comparison admits more entries than look like such, and all of them can be made part of it.  A
 * run that is certain to end contradicts the comparison. */
static bool extend(struct walk *w, struct group *g, const struct abs_jump *j)
{
	return !is_type_bound(j) && !g->scan.closed &&
	       tablescan_extend(w->t, w->arena, w->fn, g->addr, g->kind, j->index + 1, &g->scan);
}

static void follow_table(struct walk *w, uint32_t insn, struct abs_state *s)
{
	struct op *op = &w->op[insn];
	struct abs_jump j;

	w->jump_may[insn] |= absint_may(s);
	if (!absint_jump(&w->ai, s, op, &j))
		return;
	if (op->imm == 0) {		/* of a jump: 1 + its number in dispatches */
		vec_push(w->arena, &w->dispatches,
			 ((struct dispatch){ insn, j.group, JUMP_TABLE }));
		op->imm = w->dispatches.n;
	}
	struct dispatch *d = &w->dispatches.v[op->imm - 1];
	struct group *g = &w->groups.v[j.group];
	bool beyond = j.index >= g->scan.nentry && !extend(w, g, &j);
	if (d->group != j.group)
		d->why_not = w->groups.v[d->group].why_not = JUMP_TWO_TABLES;
	else if (beyond && (!is_type_bound(&j) || !is_closed(w, g, j.index)))
		d->why_not = j.index == ABS_UNBOUND ? JUMP_NO_BOUND : JUMP_TOO_SHORT;
	if (d->why_not != JUMP_TABLE) {
		g->why_not = d->why_not;
		return;
	}
	uint32_t last = beyond ? own_entries(w, g, false) - 1 : j.index;
	if (last + 1 > g->bound)
		g->bound = last + 1;
	follow_entries(w, g, last, s);
}

/* A call; false when it is known not to come back. */
static bool walk_call(struct walk *w, const struct insn *insn, const struct op *op,
		      struct abs_state *s)
{
	const struct prog *prog = w->t->prog;
	uint16_t clobbered = ABS_CALLER_SAVED;

	if (insn->kind == INSN_CALL)
		clobbered = clobbers_of(w->t, insn_target(insn, prog_insn_bytes(prog, insn),
							  prog_insn_addr(prog, insn)));
	absint_call(&w->ai, s, op, clobbered);
	return !noreturn_call(w->t, insn);
}

/* An exception here goes on at the landing pad. */
static void follow_throw(struct walk *w, uint32_t i, const struct abs_state *s)
{
	struct abs_state thrown;

	if (w->pad && w->pad[i] && absint_throw(s, &thrown))
		arrive(w, w->pad[i] - 1, &thrown);
}

/* One instruction; false when control does not go on behind it. */
static bool walk_insn(struct walk *w, uint32_t i, struct abs_state *s)
{
	const struct insn *insn = &w->fn->insn[i];
	const struct op *op = &w->op[i];

	if (insn->kind == INSN_JCC || insn->kind == INSN_JMP || insn->kind == INSN_LOOP)
		absint_turn(s);
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
	case INSN_RET: case INSN_TRAP:
		return false;
	case INSN_CALL: case INSN_ICALL:
		return walk_call(w, insn, op, s);
	case INSN_NOP:
		return true;
	default:
		if (op->kind == OP_CALL)	/* of the kernel */
			absint_call(&w->ai, s, op, 0);
		else
			absint_step(&w->ai, s, op, i);
		return true;
	}
}

/* Behind the last instruction of a range.  A call with nothing but padding behind it does not come
 * back, whoever it calls. */
static void leave_range(struct walk *w, uint32_t r, const struct insn *last,
			const struct abs_state *s)
{
	vaddr end = w->fn->range[r].addr + w->fn->range[r].size;

	if ((last->kind == INSN_CALL || last->kind == INSN_ICALL) &&
	    text_piece(w->t, end) == UINT32_MAX)
		return;
	leave(w, end, s);
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

static void walk_all(struct walk *w)
{
	struct abs_state top;
	uint32_t i;

	absint_top(&top);
	arrive(w, 0, &top);
	for (i = 1; i < w->fn->ninsn; i++)
		if (w->t->mark[w->fn->insn[i].off] & (MARK_HELD | MARK_PAD))
			arrive(w, i, &top);
	while (w->work < w->limit && take_dirty(w, &i))
		walk_from(w, i);
}

static bool is_proven(const struct walk *w, uint32_t g)
{
	const struct group *group = &w->groups.v[g];

	return group->why_not == JUMP_TABLE && !w->ai.escaped[g] && group->bound > 0 && w->work < w->limit;
}

static void make_table(struct walk *w, uint32_t group)
{
	struct arena *a = w->t->prog->arena;
	struct group *g = &w->groups.v[group];
	uint32_t n = own_entries(w, g, true);
	VEC(uint32_t) base = { 0 };

	if (n < g->bound)
		n = g->bound;
	for (uint32_t i = 0; i < w->fn->ninsn; i++)
		if (w->op[i].group == group && w->visited[i])
			vec_push(w->arena, &base, i);
	for (uint32_t k = 0; k < n; k++)
		if (insn_at(w, g->scan.target[k]) == UINT32_MAX &&
		    text_holds(w->t, g->scan.target[k]))
			*text_mark(w->t, g->scan.target[k]) |= MARK_POINTER;
	g->table = w->fn->ntable++;
	w->fn->table[g->table] = (struct jump_table){
		.addr = g->addr, .kind = g->kind, .nentry = n, .bound = g->bound,
		.target = arena_dup(a, g->scan.target, n * sizeof(*g->scan.target)),
		.succ = arena_array(a, n, sizeof(uint32_t)),
		.base_insn = arena_dup(a, base.v, base.n * sizeof(*base.v)), .nbase = base.n,
	};
}

/* CFA = rsp + 8: the frame is gone, or there never was one.  Other functions begin like that. */
static bool may_be_tail_call(const struct walk *w, uint32_t insn)
{
	const struct prog *prog = w->t->prog;
	vaddr addr = prog_insn_addr(prog, &w->fn->insn[insn]);
	uint32_t fde = cfi_find(&prog->cfi, addr);

	if (fde == UINT32_MAX)
		return false;
	const struct cfi_state *s = &prog->cfi.state[cfi_state_at(&prog->cfi, fde, addr)];
	return !s->cfa_is_expr && s->cfa_reg == DWARF_RSP && s->cfa_off == 8;
}

static bool is_proven_jump(const struct walk *w, uint32_t insn)
{
	int64_t d = w->op[insn].imm;

	return d && is_proven(w, w->dispatches.v[d - 1].group);
}

/* A jump without a proven table goes on in original code, with whatever the registers hold. */
static void escape_at_jumps(struct walk *w)
{
	uint64_t may = 0, before;

	do {
		before = may;
		for (uint32_t i = 0; i < w->fn->ninsn; i++)
			if (w->jump_may[i] && !is_proven_jump(w, i) && !may_be_tail_call(w, i))
				may |= w->jump_may[i];
		absint_escape(&w->ai, may);
	} while (may != before);
}

static enum ijump_kind kind_of_jump(const struct walk *w, uint32_t insn)
{
	int64_t d = w->op[insn].imm;

	if (w->work >= w->limit)
		return JUMP_TOO_MUCH_WORK;
	if (d == 0)
		return may_be_tail_call(w, insn) ? JUMP_TAIL : JUMP_NO_TABLE;
	const struct dispatch *at = &w->dispatches.v[d - 1];
	if (is_proven(w, at->group))
		return JUMP_TABLE;
	if (at->why_not != JUMP_TABLE)
		return at->why_not;
	return w->ai.escaped[at->group] ? JUMP_ADDRESS_USED : JUMP_OTHER_JUMP;
}

/* Lists the indirect jumps.  True when there is one without a proven table. */
static bool list_jumps(struct walk *w)
{
	struct fn *fn = w->fn;
	bool any = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fn->ninsn; i++)
		n += fn->insn[i].kind == INSN_IJMP && !fn->insn[i].field;
	fn->jump = arena_array(w->t->prog->arena, n, sizeof(*fn->jump));
	for (uint32_t i = 0; i < fn->ninsn; i++) {
		if (fn->insn[i].kind != INSN_IJMP || fn->insn[i].field)
			continue;
		enum ijump_kind kind = kind_of_jump(w, i);

		fn->jump[fn->njump++] = (struct ijump){ i, kind };
		any |= kind != JUMP_TABLE;
		fn->unproven += kind != JUMP_TABLE && kind != JUMP_TAIL;
	}
	return any;
}

/* With a jump left that may use any of them, every entry of every candidate counts as taken. */
static void mark_candidates(struct walk *w)
{
	for (uint32_t g = 0; g < w->groups.n; g++) {
		const struct group *group = &w->groups.v[g];

		if (is_proven(w, g))
			continue;
		for (uint32_t k = 0; k < group->scan.nentry; k++)
			if (text_holds(w->t, group->scan.target[k]))
				*text_mark(w->t, group->scan.target[k]) |= MARK_POINTER;
	}
}

static const struct table_use *settle(struct walk *w, uint32_t *nuse)
{
	VEC(struct table_use) uses = { 0 };

	escape_at_jumps(w);
	w->fn->table = arena_array(w->t->prog->arena, w->groups.n, sizeof(*w->fn->table));
	for (uint32_t g = 0; g < w->groups.n; g++)
		if (is_proven(w, g))
			make_table(w, g);
	for (uint32_t i = 0; i < w->fn->ninsn; i++) {
		if (w->fn->insn[i].kind != INSN_IJMP || !is_proven_jump(w, i))
			continue;
		uint16_t group = w->dispatches.v[w->op[i].imm - 1].group;
		vec_push(w->t->scratch, &uses,
			 ((struct table_use){ i, w->groups.v[group].table }));
	}
	if (list_jumps(w))
		mark_candidates(w);
	*nuse = uses.n;
	return uses.v;
}

static void take_site(void *ctx, const struct lsda_site *site)
{
	struct walk *w = ctx;
	uint32_t pad = insn_at(w, site->pad), i = insn_at(w, site->addr);
	uint32_t n = w->fn->ninsn;

	if (!w->pad)
		w->pad = arena_array(w->arena, n, sizeof(*w->pad));
	for (; pad != UINT32_MAX && i < n; i++) {
		vaddr at = prog_insn_addr(w->t->prog, &w->fn->insn[i]);

		if (at < site->addr || at - site->addr >= site->len)
			return;
		w->pad[i] = pad + 1;
	}
}

static bool has_indirect_jump(const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->ninsn; i++)
		if (fn->insn[i].kind == INSN_IJMP && fn->insn[i].field == 0)
			return true;
	return false;
}

const struct table_use *jumptables_find(struct text *t, struct fn *fn, uint32_t *nuse)
{
	struct walk w = { .t = t, .fn = fn };
	uint32_t n = fn->ninsn;

	*nuse = 0;
	tablescan_guard(t, fn);
	arena_reset(t->pass);
	if (fn->skip == SKIP_PLT || !has_indirect_jump(fn))
		return NULL;
	w.arena = t->pass;
	w.limit = (uint64_t)VISITS * n + MIN_WORK;
	w.range_end = arena_array(w.arena, fn->nrange, sizeof(*w.range_end));
	for (uint32_t r = 0, end = 0; r < fn->nrange; r++)
		w.range_end[r] = end += t->piece[fn->range[r].fde].ninsn;
	w.op = arena_array(w.arena, n, sizeof(*w.op));
	w.jump_may = arena_array(w.arena, n, sizeof(*w.jump_may));
	w.state = arena_array(w.arena, n, sizeof(struct abs_state *));
	w.dirty = arena_array(w.arena, (n + 63) / 64, sizeof(*w.dirty));
	w.visited = arena_array(w.arena, n, sizeof(*w.visited));
	w.stamp = arena_array(w.arena, n, sizeof(*w.stamp));
	w.lowest = n;
	for (uint32_t r = 0; r < fn->nrange; r++)
		landing_each(t, fn->range[r].fde, take_site, &w);
	decode_ops(&w);
	w.ai = (struct absint){ w.groups.n, arena_array(w.arena, w.groups.n, sizeof(bool)) };
	walk_all(&w);
	const struct table_use *use = settle(&w, nuse);
	arena_reset(t->pass);
	return use;
}
