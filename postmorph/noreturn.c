/* noreturn.c - which functions never come back
 *
 * A function does not return when no path from its entry reaches a return, or a jump to code that
 * may return.  Known are some library functions by name; the rest follows: whenever a function
 * turns out not to return, its callers are looked at again.  The set only grows, so this ends.
 *
 * The jump table analysis relies on it, so only names of which there can be no doubt are known.
 */
#include <string.h>

#include "postmorph/analyze.h"

struct search {
	struct text *text;
	uint32_t *caller_first;		/* [nfn + 1] in caller[] */
	uint32_t *caller;		/* callers of function i, grouped by i */
	uint32_t *work, nwork;		/* functions to look at again */
	bool *queued;			/* [nfn] */
	uint32_t *stack;		/* of blocks, as many as the largest function has */
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

static bool fn_returns(struct search *c, const struct fn *fn)
{
	uint32_t n = 0;

	if (fn->nblock == 0)
		return true;
	memset(c->seen, 0, fn->nblock * sizeof(*c->seen));
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

static void search(struct search *c)
{
	const struct prog *prog = c->text->prog;

	for (uint32_t i = prog->nfn; i-- > 0; ) {
		c->queued[i] = true;
		c->work[c->nwork++] = i;
	}
	while (c->nwork) {
		uint32_t f = c->work[--c->nwork];

		c->queued[f] = false;
		if (c->text->noreturn[f] || prog->fn[f].skip == SKIP_PLT ||
		    fn_returns(c, &prog->fn[f]))
			continue;
		c->text->noreturn[f] = true;
		for (uint32_t i = c->caller_first[f]; i < c->caller_first[f + 1]; i++) {
			uint32_t caller = c->caller[i];

			if (c->text->noreturn[caller] || c->queued[caller])
				continue;
			c->queued[caller] = true;
			c->work[c->nwork++] = caller;
		}
	}
}

static void group_callers(struct search *c, struct arena *a)
{
	const struct prog *prog = c->text->prog;
	uint32_t *next = arena_array(a, prog->nfn + 1, sizeof(*next));

	for (uint32_t i = 0; i < prog->ncall; i++)
		c->caller_first[prog->call[i].callee + 1]++;
	for (uint32_t i = 0; i < prog->nfn; i++) {
		c->caller_first[i + 1] += c->caller_first[i];
		next[i + 1] = c->caller_first[i + 1];
	}
	for (uint32_t i = 0; i < prog->ncall; i++)
		c->caller[next[prog->call[i].callee]++] = prog->call[i].caller;
}

void noreturn_find(struct text *t)
{
	const struct prog *prog = t->prog;
	struct arena *a = arena_new();
	struct search c = { .text = t };
	uint32_t nblock = 0;

	for (uint32_t i = 0; i < prog->nfn; i++)
		if (prog->fn[i].nblock > nblock)
			nblock = prog->fn[i].nblock;
	c.queued = arena_array(a, prog->nfn, sizeof(*c.queued));
	c.work = arena_array(a, prog->nfn, sizeof(*c.work));
	c.caller_first = arena_array(a, prog->nfn + 1, sizeof(*c.caller_first));
	c.caller = arena_array(a, prog->ncall, sizeof(*c.caller));
	c.stack = arena_array(a, nblock, sizeof(*c.stack));
	c.seen = arena_array(a, nblock, sizeof(*c.seen));
	group_callers(&c, a);
	search(&c);
	arena_free(a);
}
