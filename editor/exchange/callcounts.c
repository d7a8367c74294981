/* callcounts.c - which call entered which function of the program, and how often
 *
 * Tested by tests/e2e/bolt.sh and tests/e2e/calls.sh.
 */
#include "editor/exchange/callcounts.h"

#include <stdlib.h>

typedef VEC(struct callcount) list;

/* Of a conditional jump out of the function: how often it is taken. */
static double direct_count(const struct prog *prog, const struct fn *fn, const struct block *b,
			   vaddr at)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	bool conditional = last->kind == INSN_JCC || last->kind == INSN_LOOP ||
			   last->kind == INSN_XBEGIN;

	return conditional && prog_insn_addr(prog, last) == at ? b->taken_count : b->count;
}

static void add_direct(const struct prog *prog, list *out)
{
	for (uint32_t i = 0; i < prog->ncall; i++) {
		const struct call_site *c = &prog->call[i];
		const struct fn *fn = &prog->fn[c->caller];
		const struct block *b = &fn->block[c->block];
		vaddr at = fn->range[b->range].addr + c->off;

		vec_push(prog->arena, out,
			 ((struct callcount){ c->caller, c->block, c->callee, at,
					      direct_count(prog, fn, b, at) }));
	}
}

static void add_counted(const struct prog *prog, uint32_t f, list *out)
{
	const struct fn *fn = &prog->fn[f];

	for (uint32_t i = 0; i < fn->nseen_call; i++) {
		const struct seen_call *s = &fn->seen_call[i];
		const struct insn *insn = &fn->insn[s->insn];
		uint32_t callee = prog_find_fn(prog, s->target);
		vaddr at = prog_insn_addr(prog, insn);

		if ((insn->kind == INSN_ICALL || insn->kind == INSN_IJMP) && callee != NO_FN &&
		    prog->fn[callee].entry == s->target)
			vec_push(prog->arena, out,
				 ((struct callcount){ f, fn_find_block(fn, at), callee, at,
						      s->count }));
	}
}

static int by_place(const void *x, const void *y)
{
	const struct callcount *a = x, *b = y;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

void callcounts_find(const struct prog *prog, struct callcounts *out)
{
	list found = { 0 };

	add_direct(prog, &found);
	for (uint32_t f = 0; prog->exact && f < prog->nfn; f++)
		add_counted(prog, f, &found);
	*out = (struct callcounts){ found.v, found.n };
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_place);
}
