/* calls.c - calls between functions, and which of them never come back
 *
 * A function does not return when no path from its entry reaches a return, or a jump to code that
 * may return.  Known are some library functions by name; the rest follows: whenever a function
 * turns out not to return, its callers are looked at again.  The set only grows, so this ends.
 * Nothing that runs depends on it: the fall-through behind such a call is kept.
 */
#include <string.h>

#include "postmorph/analyze.h"

struct calls {
	const struct text *text;
	bool *noreturn;			/* [nfn] */
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
static bool target_noreturn(const struct calls *c, vaddr target)
{
	const struct prog *prog = c->text->prog;
	uint32_t fn = prog_find_fn(prog, target);

	if (fn != NO_FN && prog->fn[fn].skip != SKIP_PLT)
		return prog->fn[fn].entry == target && c->noreturn[fn];
	const char *name = plt_stub_name(&c->text->plt, &prog->img, target);
	return name && plt_noreturn(name);
}

static bool insn_noreturn(const struct calls *c, const struct insn *insn)
{
	const struct prog *prog = c->text->prog;

	if (insn->kind == INSN_CALL)
		return target_noreturn(c, target_of(prog, insn));
	if (insn->kind == INSN_ICALL && insn->field) {
		const char *name = plt_name(&c->text->plt, target_of(prog, insn));

		return name && plt_noreturn(name);
	}
	return false;
}

/* The block stops at a call inside it. */
static bool block_stops(const struct calls *c, const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (insn_noreturn(c, &fn->insn[i]))
			return true;
	return false;
}

/* Control that leaves the function here may come back to its caller. */
static bool block_may_return(const struct calls *c, const struct fn *fn, const struct block *b)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

	if (last->kind == INSN_RET || (last->kind == INSN_IJMP && b->table == NO_TABLE))
		return true;
	if (b->fall_out && !target_noreturn(c, b->fall_out))
		return true;
	return b->taken_out && !target_noreturn(c, b->taken_out);
}

static void push_block(struct calls *c, uint32_t id, uint32_t *n)
{
	if (id == NO_BLOCK || c->seen[id])
		return;
	c->seen[id] = true;
	c->stack[(*n)++] = id;
}

static bool fn_returns(struct calls *c, const struct fn *fn)
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

static void find_noreturn(struct calls *c)
{
	const struct prog *prog = c->text->prog;

	for (uint32_t i = prog->nfn; i-- > 0; ) {
		c->queued[i] = true;
		c->work[c->nwork++] = i;
	}
	while (c->nwork) {
		uint32_t f = c->work[--c->nwork];

		c->queued[f] = false;
		if (c->noreturn[f] || prog->fn[f].skip == SKIP_PLT ||
		    fn_returns(c, &prog->fn[f]))
			continue;
		c->noreturn[f] = true;
		for (uint32_t i = c->caller_first[f]; i < c->caller_first[f + 1]; i++) {
			uint32_t caller = c->caller[i];

			if (c->noreturn[caller] || c->queued[caller])
				continue;
			c->queued[caller] = true;
			c->work[c->nwork++] = caller;
		}
	}
}

/* A block ends in a call that does not come back when nothing but NOPs follows the call. */
static void mark_noreturn(const struct calls *c, struct fn *fn)
{
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];
		uint32_t n = b->ninsn;

		while (n > 1 && fn->insn[b->insn + n - 1].kind == INSN_NOP)
			n--;
		b->noreturn = insn_noreturn(c, &fn->insn[b->insn + n - 1]);
	}
}

/* Calls and tail jumps of one function, in the order of its blocks. */
static void collect(const struct text *t, uint32_t f, struct call_site *out, uint32_t *n)
{
	const struct prog *prog = t->prog;
	const struct fn *fn = &prog->fn[f];

	for (uint32_t k = 0; k < fn->nblock; k++) {
		const struct block *b = &fn->block[k];

		for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
			const struct insn *insn = &fn->insn[i];

			if (!insn_is_branch(insn))
				continue;
			vaddr target = target_of(prog, insn);
			uint32_t to = prog_find_fn(prog, target);
			if (to == NO_FN || prog->fn[to].entry != target ||
			    (to == f && insn->kind != INSN_CALL))
				continue;
			if (out)
				out[*n] = (struct call_site){
					.caller = f, .callee = to, .block = k,
					.off = (uint32_t)(prog_insn_addr(prog, insn) -
							  fn->range[b->range].addr),
				};
			(*n)++;
		}
	}
}

static void group_callers(struct calls *c)
{
	const struct prog *prog = c->text->prog;
	uint32_t *next = arena_array(c->text->scratch, prog->nfn + 1, sizeof(*next));

	for (uint32_t i = 0; i < prog->ncall; i++)
		c->caller_first[prog->call[i].callee + 1]++;
	for (uint32_t i = 0; i < prog->nfn; i++) {
		c->caller_first[i + 1] += c->caller_first[i];
		next[i + 1] = c->caller_first[i + 1];
	}
	for (uint32_t i = 0; i < prog->ncall; i++)
		c->caller[next[prog->call[i].callee]++] = prog->call[i].caller;
}

void calls_find(struct text *t)
{
	struct prog *prog = t->prog;
	struct calls c = { .text = t };
	uint32_t ncall = 0, nblock = 0;

	for (uint32_t i = 0; i < prog->nfn; i++) {
		collect(t, i, NULL, &ncall);
		if (prog->fn[i].nblock > nblock)
			nblock = prog->fn[i].nblock;
	}
	prog->call = arena_array(prog->arena, ncall, sizeof(*prog->call));
	for (uint32_t i = 0; i < prog->nfn; i++)
		collect(t, i, prog->call, &prog->ncall);
	c.noreturn = arena_array(t->scratch, prog->nfn, sizeof(*c.noreturn));
	c.queued = arena_array(t->scratch, prog->nfn, sizeof(*c.queued));
	c.work = arena_array(t->scratch, prog->nfn, sizeof(*c.work));
	c.caller_first = arena_array(t->scratch, prog->nfn + 1, sizeof(*c.caller_first));
	c.caller = arena_array(t->scratch, ncall, sizeof(*c.caller));
	c.stack = arena_array(t->scratch, nblock, sizeof(*c.stack));
	c.seen = arena_array(t->scratch, nblock, sizeof(*c.seen));
	group_callers(&c);
	find_noreturn(&c);
	for (uint32_t i = 0; i < prog->nfn; i++)
		mark_noreturn(&c, &prog->fn[i]);
}
