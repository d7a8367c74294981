/* text.c - gives the analysis the instructions of a function, and tells which calls come back
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include "postmorph/ir/text.h"

/* 0 when a range of it does not decode. */
static uint32_t count_insns(const struct text *t, const struct fn *fn)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < fn->nrange; r++) {
		const struct piece *p = &t->piece[fn->range[r].fde];

		if (p->ninsn == 0)
			return 0;
		n += p->ninsn;
	}
	return n;
}

struct fn_scan fn_scan(const struct text *t, const struct fn *fn)
{
	return (struct fn_scan){ .text = t, .fn = fn,
				 .range = count_insns(t, fn) ? 0 : fn->nrange };
}

static struct insn insn_at(const struct short_insn *i, uint32_t off)
{
	return (struct insn){ .off = off,
			      .len = i->len, .kind = i->kind, .field = i->field,
			      .field_size = i->near    ? 4
					    : i->field ? 1
						       : 0,
			      .constants = i->constants };
}

/* Finds an instruction that is left, in the next range if there is none in this one. */
static bool scan_more(struct fn_scan *s)
{
	if (s->left > 0)
		return true;
	if (s->range == s->fn->nrange)
		return false;
	const struct fn_range *r = &s->fn->range[s->range++];
	const struct piece *p = &s->text->piece[r->fde];

	s->off = (uint32_t)(r->addr - s->text->prog->base);
	s->next = p->insn;
	s->left = p->ninsn;
	return true;
}

static void scan_pass(struct fn_scan *s)
{
	s->off += s->next++->len;
	s->left--;
}

bool fn_scan_next(struct fn_scan *s, struct insn *out)
{
	if (!scan_more(s))
		return false;
	*out = insn_at(s->next, s->off);
	scan_pass(s);
	return true;
}

bool fn_scan_next_value(struct fn_scan *s, struct insn *out)
{
	if (!scan_more(s))
		return false;
	while (s->left > 1 && !s->next->field && !s->next->constants)
		scan_pass(s);
	return fn_scan_next(s, out);
}

void fn_load(const struct text *t, struct arena *a, struct fn *fn)
{
	struct fn_scan scan = fn_scan(t, fn);

	fn->ninsn = count_insns(t, fn);
	fn->insn = arena_array(a, fn->ninsn, sizeof(*fn->insn));
	for (uint32_t i = 0; i < fn->ninsn; i++)
		(void)fn_scan_next(&scan, &fn->insn[i]);	/* there are that many */
}

static vaddr target_of(const struct prog *prog, const struct insn *insn)
{
	return insn_target(insn, prog_insn_bytes(prog, insn), prog_insn_addr(prog, insn));
}

bool text_target_noreturn(const struct text *t, vaddr target)
{
	const struct prog *prog = t->prog;
	uint32_t fn = prog_find_fn(prog, target);

	if (fn != NO_FN && prog->fn[fn].skip != SKIP_PLT)
		return prog->fn[fn].entry == target && t->noreturn[fn];
	return plt_noreturn(&t->plt, plt_stub_slot(&prog->img, target));
}

bool text_call_noreturn(const struct text *t, const struct insn *insn)
{
	const struct prog *prog = t->prog;

	if (insn->kind == INSN_CALL)
		return text_target_noreturn(t, target_of(prog, insn));
	return insn->kind == INSN_ICALL && insn->field &&
	       plt_noreturn(&t->plt, target_of(prog, insn));
}
