/* jumptable.c - finds the jump tables of one function and proves their bounds
 *
 * A forward walk over the function's instructions with absint.h's states, one state per join
 * point, repeated until nothing changes.  A jump through a table whose index is bounded adds
 * its targets to the walk, so that code behind one table can lead to the next.
 *
 * WHY PROOF HOLDS  Moved code is entered at the function's entry, at labels to which pointers
 * were changed, by its own branches, and at landing pads; all of these are walked, entries,
 * labels and landing pads with nothing known (but an exception may bring along a
 * table's address).  An indirect jump without a proven table lands in original code, which uses
 * the original tables.  So the walk sees every state that moved code can be in.
 *
 * GROUPS  All instructions of the function that form the same table address are one group. They
 * are rewritten together, or none is: when an entry, or its sum with the address, is used for
 * anything but the jump, when a jump's index has no bound, or when the table is shorter than
 * the bound.
 *
 * ADDRESS KEPT   When the address itself is used for anything else (compilers store registers
 * whose content nobody needs), code goes on to form the address of the original's table, and
 * the loads by way of it are rewritten instead: each gets a displacement, the distance to the
 * new table, whose entries are relative to the old one.  Another walk finds out whether that
 * can be done; in it such addresses may be used for anything (absint.stays).
 *
 * GUARDED  Compilers leave out the comparison where the program promises not to use another
 * index (clang for switches over all of an enumeration, rustc for most).  There the address is
 * kept as well, and the image of each load compares the index itself: one that is no entry, as
 * far as those look like some, goes on in original code, at the load.  What is overwritten by
 * the comparison must be dead there: the flags, which the addition behind the load sets.
 *
 * BOUNDED WORK  The walk stops after VISITS visits per instruction; then nothing is proven.
 *               This and the other limits were chosen, far above what compilers' code needs.
 */
#include <string.h>

#include "lib/blockmap.h"
#include "postmorph/ir/landing.h"
#include "postmorph/machine/flags.h"
#include "postmorph/tables/jumptable.h"
#include "postmorph/tables/tableload.h"
#include "postmorph/tables/tablewalk.h"

enum {
	VISITS = 256,		/* per instruction, plus MIN_WORK */
	MIN_WORK = 1 << 16,
	MAX_GROUPS = 4096,
};

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

/* Nothing looks at the flags from instruction i on before they are overwritten. */
static bool flags_are_dead(const struct walk *w, uint32_t i)
{
	enum { FEW = 8 };
	uint16_t live = FLAGS_ALL;

	for (uint32_t k = i; k < w->fn->ninsn && k < i + FEW && live; k++) {
		const struct insn *insn = &w->fn->insn[k];
		struct flags flags = flags_of((struct bytes){
			prog_insn_bytes(w->t->prog, insn), insn->len });

		if ((insn->kind != INSN_PLAIN && insn->kind != INSN_NOP) || flags.reads & live)
			return false;
		live &= (uint16_t)~flags.writes;
	}
	return live == 0;
}

static void decode_ops(struct walk *w)
{
	const struct prog *prog = w->t->prog;

	for (uint32_t i = 0; i < w->fn->ninsn; i++) {
		const struct insn *insn = &w->fn->insn[i];
		struct bytes code = { prog_insn_bytes(prog, insn), insn->len };
		struct op *op = &w->op[i];

		op_decode(code, insn, prog_insn_addr(prog, insn), op);
		op->movable = op->kind == OP_LOAD && insn->field == 0 &&
			      tableload_size(code) > 0;
		op->guardable = op->movable && tableload_guard_size(code, 1) > 0 &&
				flags_are_dead(w, i);
		if (op->kind == OP_LEA && is_plain_lea(insn, code.p))
			op->group = group_of(w, (vaddr)op->mem.disp, BLOCKMAP_TABLE_REL32);
		else if (!prog->img.pie_or_dso && op->mem.base == ABS_NONE &&
			 op->mem.scale == 8 && op->mem.index < ABS_NREG && !op->mem.other &&
			 (op->kind == OP_JMP_MEM || (op->kind == OP_LOAD && op->bits == 64)))
			op->group = group_of(w, (vaddr)op->mem.disp, BLOCKMAP_TABLE_ABS64);
	}
}

static bool is_proven(const struct walk *w, uint32_t g)
{
	const struct group *group = &w->groups.v[g];

	return group->why_not == JUMP_TABLE && !w->ai.escaped[g] && group->bound > 0 &&
	       w->work < w->limit && !(group->guarded && group->bare);
}

/* The instructions that are rewritten. */
static uint32_t *find_users(struct walk *w, uint32_t group, uint32_t *n)
{
	VEC(uint32_t) users = { 0 };
	bool stays = w->ai.stays[group];

	for (uint32_t i = 0; i < w->fn->ninsn; i++)
		if (w->visited[i] &&
		    (stays ? w->reads[i] == group + 1 : w->op[i].group == group))
			vec_push(w->arena, &users, i);
	*n = users.n;
	return arena_dup(w->t->prog->arena, users.v, users.n * sizeof(*users.v));
}

static void make_table(struct walk *w, uint32_t group)
{
	struct arena *a = w->t->prog->arena;
	struct group *g = &w->groups.v[group];
	uint32_t n = tablewalk_new_entries(w, g);
	uint32_t nuser, *user = find_users(w, group, &nuser);

	for (uint32_t k = 0; k < n; k++)
		if (tablewalk_insn_at(w, g->scan.target[k]) == UINT32_MAX &&
		    text_holds(w->t, g->scan.target[k]))
			*text_mark(w->t, g->scan.target[k]) |= MARK_POINTER;
	g->table = w->fn->ntable++;
	w->fn->table[g->table] = (struct jump_table){
		.addr = g->addr, .nentry = n, .bound = g->bound,
		.kind = w->ai.stays[group] ? BLOCKMAP_TABLE_BESIDE32 : g->kind,
		.target = arena_dup(a, g->scan.target, n * sizeof(*g->scan.target)),
		.succ = arena_array(a, n, sizeof(uint32_t)),
		.user = user, .nuser = nuser,
		.guard = g->guarded ? tablewalk_guard(w, g) : 0,
	};
}

/* CFA = rsp + 8: the frame is gone, or there never was one.  Other functions begin like
 * that. */
static bool may_be_tail_call(const struct walk *w, uint32_t insn)
{
	const struct prog *prog = w->t->prog;

	return cfi_depth(&prog->cfi, prog_insn_addr(prog, &w->fn->insn[insn])) == 8;
}

static bool is_proven_jump(const struct walk *w, uint32_t insn)
{
	int64_t d = w->op[insn].imm;

	return d && w->dispatches.v[d - 1].why_not == JUMP_TABLE &&
	       is_proven(w, w->dispatches.v[d - 1].group);
}

/* Only the index of some jumps through it is not known. */
static bool lacks_bound(const struct walk *w, uint32_t g)
{
	for (uint32_t i = 0; i < w->dispatches.n; i++) {
		const struct dispatch *d = &w->dispatches.v[i];

		if (d->group == g && d->why_not != JUMP_TABLE && d->why_not != JUMP_NO_BOUND &&
		    d->why_not != JUMP_TOO_SHORT)
			return false;
	}
	return w->groups.v[g].why_not == JUMP_NO_BOUND ||
	       w->groups.v[g].why_not == JUMP_TOO_SHORT;
}

/* Has any table nothing in its way but that its address is used, or its index not known?  Then
 * the address stays.  True when that was not known of one. */
static bool find_stays(struct walk *w)
{
	bool any = false;

	for (uint32_t g = 0; g < w->groups.n && w->work < w->limit; g++) {
		struct group *group = &w->groups.v[g];
		bool guarded = lacks_bound(w, g) && !group->bare;
		bool used = w->ai.escaped[g] && group->why_not == JUMP_TABLE &&
			    group->bound > 0;

		if (group->kind != BLOCKMAP_TABLE_REL32)
			continue;
		any |= (guarded && !group->guarded) || (used && !w->ai.stays[g]);
		group->guarded |= guarded;
		w->ai.stays[g] |= guarded || used;
	}
	return any;
}

/* As before the walk, but for what is known of tables and jumps, and which addresses
 * stay. */
static void start_again(struct walk *w)
{
	uint32_t n = w->fn->ninsn;

	for (uint32_t i = 0; i < w->dispatches.n; i++)
		/* until it is met again */
		w->dispatches.v[i].why_not = JUMP_ADDRESS_USED;
	for (uint32_t g = 0; g < w->groups.n; g++) {
		w->groups.v[g].bound = 0;
		w->groups.v[g].why_not = JUMP_TABLE;
		w->ai.escaped[g] = false;
	}
	w->before = w->state;
	w->state = arena_array(w->arena, n, sizeof(struct abs_state *));
	w->ai.spills = (struct spills){ 0 };
	w->ai.pushed_may = 0;
	memset(w->jump_may, 0, n * sizeof(*w->jump_may));
	memset(w->visited, 0, n * sizeof(*w->visited));
	memset(w->dirty, 0, (n + 63) / 64 * sizeof(*w->dirty));
	w->lowest = n;
	w->nstate = 0;
	w->work = 0;
}

/* From here control may go on in original code. */
static bool may_leave(const struct walk *w, uint32_t i)
{
	if (w->reads[i])
		return w->groups.v[w->reads[i] - 1].guarded;
	return w->fn->insn[i].kind == INSN_IJMP && !is_proven_jump(w, i) &&
	       !may_be_tail_call(w, i);
}

/* A jump without a proven table goes on in original code, with whatever the registers and
 * the frame hold, and what was pushed. */
static void escape_at_jumps(struct walk *w)
{
	uint64_t may = 0, before;

	do {
		before = may;
		for (uint32_t i = 0; i < w->fn->ninsn; i++)
			if (w->visited[i] && may_leave(w, i))
				may |= w->jump_may[i] | spills_may(&w->ai.spills) |
				       w->ai.pushed_may;
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
	if (at->why_not != JUMP_TABLE)
		return at->why_not;
	if (is_proven(w, at->group))
		return w->groups.v[at->group].guarded ? JUMP_GUARDED : JUMP_TABLE;
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
		fn->unproven += ijump_is_unproven(kind);
	}
	return any;
}

/* With a jump left that may use any of them, every entry of every candidate counts as taken; of
 * a table that is guarded, those that the new one has not. */
static void mark_candidates(struct walk *w)
{
	for (uint32_t g = 0; g < w->groups.n; g++) {
		const struct group *group = &w->groups.v[g];
		uint32_t k = 0;

		if (is_proven(w, g) && !group->guarded)
			continue;
		if (is_proven(w, g))
			k = w->fn->table[group->table].nentry;
		for (; k < group->scan.nentry; k++)
			if (text_holds(w->t, group->scan.target[k]))
				*text_mark(w->t, group->scan.target[k]) |= MARK_POINTER;
	}
}

static const struct table_use *settle(struct walk *w, uint32_t *nuse)
{
	VEC(struct table_use) uses = { 0 };

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
	uint32_t pad = tablewalk_insn_at(w, site->pad), i = tablewalk_insn_at(w, site->addr);
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

static void walk_all(struct walk *w)
{
	enum { ROUNDS = 8 };	/* chosen */

	for (int i = 0; ; i++) {
		tablewalk_all(w);
		escape_at_jumps(w);
		if (i == ROUNDS || !find_stays(w))
			return;
		start_again(w);
	}
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
	w.reads = arena_array(w.arena, n, sizeof(*w.reads));
	w.stamp = arena_array(w.arena, n, sizeof(*w.stamp));
	w.lowest = n;
	for (uint32_t r = 0; r < fn->nrange; r++)
		landing_each(t, fn->range[r].fde, take_site, &w);
	decode_ops(&w);
	w.ai = (struct absint){ .ngroup = w.groups.n, .arena = w.arena,
				.escaped = arena_array(w.arena, w.groups.n, sizeof(bool)),
				.stays = arena_array(w.arena, w.groups.n, sizeof(bool)) };
	walk_all(&w);
	const struct table_use *use = settle(&w, nuse);
	arena_reset(t->pass);
	return use;
}
