/* noreturn.c - which functions never come back
 *
 * A function does not return when no path from its entry reaches a return, or a jump to code that
 * may return.  Known are some library functions by name; the rest follows: whenever a function
 * turns out not to return, its callers are looked at again.  The set only grows, so this ends.
 *
 * The jump table analysis relies on it, so only names of which there can be no doubt are known.
 */
#include "postmorph/analyze.h"

struct call {
	uint32_t caller, callee;
};

struct search {
	struct text *text;
	struct arena *arena;
	VEC(struct call) calls;		/* of other functions, as found */
	uint32_t *caller_first;		/* [nfn + 1] in caller[] */
	uint32_t *caller;		/* callers of function i, grouped by i */
	uint32_t *work, nwork;		/* functions to look at again */
	bool *queued;			/* [nfn] */
	uint32_t *stack;		/* of blocks of the function being looked at */
	bool *seen;
};

static vaddr target_of(const struct prog *prog, const struct insn *insn)
{
	return insn_target(insn, prog_insn_bytes(prog, insn), prog_insn_addr(prog, insn));
}

/* Control that goes to `target` never comes back. */
static bool target_noreturn(const struct text *t, vaddr target)
{
	const struct prog *prog = t->prog;
	uint32_t fn = prog_find_fn(prog, target);

	if (fn != NO_FN && prog->fn[fn].skip != SKIP_PLT)
		return prog->fn[fn].entry == target && t->noreturn[fn];
	const char *name = plt_stub_name(&t->plt, &prog->img, target);
	return name && plt_noreturn(name);
}

bool noreturn_call(const struct text *t, const struct insn *insn)
{
	const struct prog *prog = t->prog;

	if (insn->kind == INSN_CALL)
		return target_noreturn(t, target_of(prog, insn));
	if (insn->kind == INSN_ICALL && insn->field) {
		const char *name = plt_name(&t->plt, target_of(prog, insn));

		return name && plt_noreturn(name);
	}
	return false;
}

/* The block stops at a call inside it. */
static bool block_stops(const struct search *c, const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (noreturn_call(c->text, &fn->insn[i]))
			return true;
	return false;
}

/* Control that leaves the function here may come back to its caller. */
static bool block_may_return(const struct search *c, const struct fn *fn, const struct block *b)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

	if (last->kind == INSN_RET || (last->kind == INSN_IJMP && b->table == NO_TABLE))
		return true;
	if (b->fall_out && !target_noreturn(c->text, b->fall_out))
		return true;
	return b->taken_out && !target_noreturn(c->text, b->taken_out);
}

static void push_block(struct search *c, uint32_t id, uint32_t *n)
{
	if (id == NO_BLOCK || c->seen[id])
		return;
	c->seen[id] = true;
	c->stack[(*n)++] = id;
}

static bool blocks_return(struct search *c, const struct fn *fn)
{
	uint32_t n = 0;

	if (fn->nblock == 0)
		return true;
	c->stack = arena_array(c->text->pass, fn->nblock, sizeof(*c->stack));
	c->seen = arena_array(c->text->pass, fn->nblock, sizeof(*c->seen));
	for (uint32_t i = 1; i < fn->nblock; i++)
		if (fn->block[i].landing)	/* whatever throws, it may go on there */
			push_block(c, i, &n);
	for (push_block(c, 0, &n); n; ) {
		const struct block *b = &fn->block[c->stack[--n]];

		if (block_stops(c, fn, b))
			continue;
		if (block_may_return(c, fn, b))
			return true;
		push_block(c, b->fall, &n);
		push_block(c, b->taken, &n);
		if (b->table == NO_TABLE)
			continue;
		for (uint32_t i = 0; i < fn->table[b->table].nentry; i++)
			push_block(c, fn->table[b->table].succ[i], &n);
	}
	return false;
}

static void add_call(void *ctx, const struct call_site *call)
{
	struct search *c = ctx;

	if (call->caller != call->callee)
		vec_push(c->arena, &c->calls, ((struct call){ call->caller, call->callee }));
}

/* Looks at one function, whose blocks without tables are there just for that; the first time its
 * calls are remembered. */
static bool fn_returns(struct search *c, uint32_t f, bool first)
{
	struct text *t = c->text;
	struct fn fn = t->prog->fn[f], *in_prog = &t->prog->fn[f];

	fn_load(t, t->pass, in_prog);
	blocks_make(t, t->pass, in_prog, NULL, 0);
	bool returns = in_prog->skip == SKIP_PLT || blocks_return(c, in_prog);
	if (first)
		calls_each(t->prog, f, add_call, c);
	*in_prog = fn;
	arena_reset(t->pass);
	return returns;
}

static void group_callers(struct search *c)
{
	uint32_t nfn = c->text->prog->nfn;
	uint32_t *next = arena_array(c->arena, nfn + 1, sizeof(*next));

	c->caller = arena_array(c->arena, c->calls.n, sizeof(*c->caller));
	for (uint32_t i = 0; i < c->calls.n; i++)
		c->caller_first[c->calls.v[i].callee + 1]++;
	for (uint32_t i = 0; i < nfn; i++) {
		c->caller_first[i + 1] += c->caller_first[i];
		next[i + 1] = c->caller_first[i + 1];
	}
	for (uint32_t i = 0; i < c->calls.n; i++)
		c->caller[next[c->calls.v[i].callee]++] = c->calls.v[i].caller;
}

/* Callers below `end` of a function that does not return are to be looked at again. */
static void queue_callers(struct search *c, uint32_t f, uint32_t end)
{
	for (uint32_t i = c->caller_first[f]; i < c->caller_first[f + 1]; i++) {
		uint32_t caller = c->caller[i];

		if (caller >= end || c->text->noreturn[caller] || c->queued[caller])
			continue;
		c->queued[caller] = true;
		c->work[c->nwork++] = caller;
	}
}

static void search(struct search *c)
{
	const struct prog *prog = c->text->prog;
	bool *noreturn = c->text->noreturn;

	for (uint32_t f = 0; f < prog->nfn; f++)
		noreturn[f] = !fn_returns(c, f, true);
	group_callers(c);
	for (uint32_t f = 0; f < prog->nfn; f++)
		if (noreturn[f])
			queue_callers(c, f, f);		/* those behind it knew */
	while (c->nwork) {
		uint32_t f = c->work[--c->nwork];

		c->queued[f] = false;
		noreturn[f] = !fn_returns(c, f, false);
		if (noreturn[f])
			queue_callers(c, f, prog->nfn);
	}
}

void noreturn_find(struct text *t)
{
	uint32_t nfn = t->prog->nfn;
	struct arena *a = arena_new();
	struct search c = { .text = t, .arena = a };

	c.queued = arena_array(a, nfn, sizeof(*c.queued));
	c.work = arena_array(a, nfn, sizeof(*c.work));
	c.caller_first = arena_array(a, nfn + 1, sizeof(*c.caller_first));
	search(&c);
	arena_free(a);
}
