/* noreturn.c - finds the functions of a program that never return
 *
 * A function does not return when no path from its entry reaches a return, or a jump to code
 * that may return.  Some library functions are known by name: ir/noreturn.def lists them.  The
 * rest follows: whenever a function turns out not to return, its callers are looked at again.
 * The set only grows, so this ends.
 *
 * The search begins with functions without any return or jump to elsewhere, and with those that
 * call a library function that does not return.  In all others a return can be reached as long
 * as every function that they call returns, because compilers leave no unreachable code.
 *
 * The jump table analysis relies on the result: the code after a call that does not return may
 * be anything.
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include "postmorph/noreturn.h"
#include "postmorph/blocks.h"

struct call {
	uint32_t caller, callee;
};

/* Slots of the memory of stubs; places that the quick search for a return goes to before blocks
 * are searched.  Chosen, not measured. */
enum { KNOWN_STUBS = 1024, WAYS = 64 };

struct known_stub {
	vaddr target;		/* 0: none */
	bool noreturn;
};

struct ways {			/* of a function, that are looked at by themselves */
	vaddr open[WAYS], gone[WAYS];	/* where they begin */
	uint32_t nopen, ngone;
};

struct search {
	struct text *text;
	struct arena *arena;
	VEC(struct call) calls;		/* of other functions */
	/* of each of text.calls: the function that it leads into */
	uint32_t *called;
	uint32_t *jumped_to;		/* the same of text.jumps; NO_FN: none */
	uint32_t *caller_first;		/* [nfn + 1] in caller[] */
	uint32_t *caller;		/* callers of function i, grouped by i */
	uint32_t *work, nwork;		/* functions to look at again */
	bool *queued;			/* [nfn] */
	struct known_stub *stub;	/* [KNOWN_STUBS] */
	uint32_t *stack;		/* of blocks of the function being looked at */
	bool *seen;
};

/* The block stops at a call inside it. */
static bool block_stops(const struct search *c, const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (text_call_noreturn(c->text, &fn->insn[i]))
			return true;
	return false;
}

/* Control that leaves the function here may come back to its caller. */
static bool block_may_return(const struct search *c, const struct fn *fn, const struct block *b)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

	if (last->kind == INSN_RET || (last->kind == INSN_IJMP && b->table == NO_TABLE))
		return true;
	if (b->fall_out && !text_target_noreturn(c->text, b->fall_out))
		return true;
	return b->taken_out && !text_target_noreturn(c->text, b->taken_out);
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

/* False where the search has been before, or has been to as many places as it may. */
static bool is_new(struct ways *w, vaddr addr)
{
	for (uint32_t i = 0; i < w->ngone; i++)
		if (w->gone[i] == addr)
			return false;
	if (w->ngone == WAYS)
		return false;
	w->gone[w->ngone++] = addr;
	return true;
}

/* The way on from addr, straight where it can, comes to a return.  Branches that it passes
 * are put on the list of ways to be gone, as far as there is room. */
static bool way_returns(const struct text *t, const struct fn_range *r, vaddr addr,
			struct ways *w)
{
	while (addr - r->addr < r->size) {
		struct insn insn;
		vaddr target;
		struct bytes code = image_at(&t->prog->img, addr, r->addr + r->size - addr);

		if (!insn_decode(code, addr, &insn, &target))
			return false;
		insn.off = (uint32_t)(addr - t->prog->base);
		if (insn.kind == INSN_RET || insn.kind == INSN_IJMP)
			return true;
		if (text_call_noreturn(t, &insn) ||
		    (insn.kind == INSN_JMP && !is_new(w, target)))
			return false;
		if (insn.kind == INSN_JCC && w->nopen < WAYS)
			w->open[w->nopen++] = target;
		addr = insn.kind == INSN_JMP ? target : addr + insn.len;
	}
	return false;
}

/* Some way from the entry is soon found to return: most functions' does.  False: maybe
 * another one. */
static bool returns_plainly(const struct text *t, const struct fn *fn)
{
	const struct fn_range *r = &fn->range[0];
	struct ways w = { .open = { fn->entry }, .nopen = 1 };

	while (w.nopen) {
		vaddr addr = w.open[--w.nopen];

		if (is_new(&w, addr) && way_returns(t, r, addr, &w))
			return true;
	}
	return false;
}

/* Looks at one function, whose blocks without tables are there just for that. */
static bool fn_returns(struct search *c, uint32_t f)
{
	struct text *t = c->text;
	struct fn fn = t->prog->fn[f], *in_prog = &t->prog->fn[f];

	if (fn.skip == SKIP_PLT || returns_plainly(t, &fn))
		return true;
	fn_load(t, t->pass, in_prog);
	blocks_make(t, t->pass, in_prog, NULL, 0);
	bool returns = blocks_return(c, in_prog);
	*in_prog = fn;
	arena_reset(t->pass);
	return returns;
}

/* A call of a function's entry, or a jump there from another one, or what runs on there.
 * Returns the function that the target is in. */
static uint32_t add_call(struct search *c, uint32_t piece, vaddr target)
{
	const struct prog *prog = c->text->prog;
	uint32_t to = prog_find_fn(prog, target), from = c->text->piece[piece].fn;

	if (to != NO_FN && to != from && prog->fn[to].entry == target)
		vec_push(c->arena, &c->calls, ((struct call){ from, to }));
	return to;
}

static void add_calls(struct search *c)
{
	const struct text *t = c->text;

	vec_reserve(c->arena, &c->calls, t->calls.n + t->jumps.n + t->npiece);
	c->called = arena_array(c->arena, t->calls.n, sizeof(*c->called));
	c->jumped_to = arena_array(c->arena, t->jumps.n, sizeof(*c->jumped_to));
	for (uint32_t i = 0; i < t->calls.n; i++)
		c->called[i] =
			add_call(c, t->calls.v[i].piece, t->prog->base + t->calls.v[i].off);
	for (uint32_t i = 0; i < t->jumps.n; i++)
		c->jumped_to[i] = add_call(c, t->jumps.v[i].piece, t->jumps.v[i].target);
	for (uint32_t i = 0; i < t->npiece; i++)
		(void)add_call(c, i, t->piece[i].addr + t->piece[i].size);
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

static void queue(struct search *c, uint32_t f)
{
	if (c->text->noreturn[f] || c->queued[f])
		return;
	c->queued[f] = true;
	c->work[c->nwork++] = f;
}

/* The stub at `target`, if it is one, leads to a library function that does not return.
 * Many calls lead to few stubs. */
static bool stub_noreturn(struct search *c, vaddr target)
{
	struct known_stub *k = &c->stub[target / 16 % KNOWN_STUBS];

	if (k->target != target) {
		vaddr slot = plt_stub_slot(&c->text->prog->img, target);

		*k = (struct known_stub){ target, plt_noreturn(&c->text->plt, slot) };
	}
	return k->noreturn;
}

/* `to`: the function that the target is in. */
static void queue_caller_of(struct search *c, uint32_t piece, vaddr target, uint32_t to)
{
	if ((to == NO_FN || c->text->prog->fn[to].skip == SKIP_PLT) && stub_noreturn(c, target))
		queue(c, c->text->piece[piece].fn);
}

static void queue_callers_of_libraries(struct search *c)
{
	const struct text *t = c->text;

	for (uint32_t i = 0; i < t->calls.n; i++)
		queue_caller_of(c, t->calls.v[i].piece, t->prog->base + t->calls.v[i].off,
				c->called[i]);
	for (uint32_t i = 0; i < t->jumps.n; i++)
		queue_caller_of(c, t->jumps.v[i].piece, t->jumps.v[i].target, c->jumped_to[i]);
	for (uint32_t i = 0; i < t->slot_calls.n; i++)
		if (plt_noreturn(&t->plt, t->slot_calls.v[i].target))
			queue(c, t->piece[t->slot_calls.v[i].piece].fn);
}

static void queue_without_way_out(struct search *c)
{
	const struct text *t = c->text;
	bool *leaves = arena_array(c->arena, t->prog->nfn, sizeof(*leaves));

	for (uint32_t i = 0; i < t->npiece; i++)
		leaves[t->piece[i].fn] |= t->piece[i].returns;
	for (uint32_t i = 0; i < t->jumps.n; i++) {
		uint32_t from = t->piece[t->jumps.v[i].piece].fn;

		leaves[from] |= c->jumped_to[i] != from;
	}
	for (uint32_t f = 0; f < t->prog->nfn; f++)
		if (!leaves[f])
			queue(c, f);
}

static void search(struct search *c)
{
	bool *noreturn = c->text->noreturn;

	add_calls(c);
	group_callers(c);
	queue_without_way_out(c);
	queue_callers_of_libraries(c);
	while (c->nwork) {
		uint32_t f = c->work[--c->nwork];

		c->queued[f] = false;
		noreturn[f] = !fn_returns(c, f);
		for (uint32_t i = c->caller_first[f]; noreturn[f] && i < c->caller_first[f + 1];
		     i++)
			queue(c, c->caller[i]);
	}
}

void noreturn_find(struct text *t)
{
	uint32_t nfn = t->prog->nfn;
	struct arena *a = arena_new();
	struct search c = { .text = t, .arena = a };

	c.stub = arena_array(a, KNOWN_STUBS, sizeof(*c.stub));
	c.queued = arena_array(a, nfn, sizeof(*c.queued));
	c.work = arena_array(a, nfn, sizeof(*c.work));
	c.caller_first = arena_array(a, nfn + 1, sizeof(*c.caller_first));
	search(&c);
	arena_free(a);
}
