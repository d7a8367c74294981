/* cutlabels.c - labels that calculated jumps may go to keep entry jumps out; see cutlabels.h
 *
 * Tested by tests/unit/postmorph/refs/test_cutlabels.c.
 */
#include "postmorph/refs/cutlabels.h"

#include "postmorph/refs/labels.h"

enum { ENTRY = 9 };		/* bytes of endbr64 and the entry jump */

/* An address inside of the function, behind its start, is in the instruction. */
static bool forms_own(const struct prog *prog, const struct fn *fn, const struct insn *insn)
{
	const uint8_t *code = prog_insn_bytes(prog, insn);
	vaddr addr = prog_insn_addr(prog, insn), to;
	uint64_t c[INSN_MAX_CONSTANTS];
	uint32_t n = 0;

	if (insn->field && !insn_is_branch(insn)) {
		to = insn_target(insn, code, addr);
		if (to != fn->entry && fn_holds(fn, to))
			return true;
	}
	if (insn->constants && !prog->img.pie_or_dso)
		n = insn_constants((struct bytes){ code, insn->len }, c);
	for (uint32_t i = 0; i < n; i++)
		if (c[i] != fn->entry && fn_holds(fn, c[i]))
			return true;
	return false;
}

/* Words lead between instructions: at a fixed address that means nothing, but what is relocated
 * is the address of a label and something added to it. */
static bool is_held_between(const struct text *t, const struct fn *fn)
{
	for (uint32_t r = 0; r < fn->nrange; r++) {
		const vaddr start = fn->range[r].addr;

		for (uint64_t i = r == 0; i < fn->range[r].size; i++)
			if (text_holds(t, start + i) &&
			    (*text_mark(t, start + i) & MARK_POINTER))
				return true;
	}
	return false;
}

static bool has_label(const struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->ninsn; i++)
		if (forms_own(t->prog, fn, &fn->insn[i]) ||
		    (i && (t->mark[fn->insn[i].off] & MARK_POINTER)))
			return true;
	return t->prog->img.pie_or_dso && is_held_between(t, fn);
}

static uint32_t row_at(const struct prog *prog, const struct insn *insn)
{
	vaddr addr = prog_insn_addr(prog, insn);
	uint32_t fde = cfi_find(&prog->cfi, addr);

	return fde == UINT32_MAX ? 0 : cfi_state_at(&prog->cfi, fde, addr);
}

/* The instruction is where such a jump would go, if it lies below an entry jump. */
static void guard_start(const struct text *t, const struct fn *fn, const struct insn *jump)
{
	const struct prog *prog = t->prog;
	uint32_t row = row_at(prog, jump);

	for (uint32_t k = 1; k < fn->ninsn; k++) {
		vaddr at = prog_insn_addr(prog, &fn->insn[k]);
		uint32_t there = row_at(prog, &fn->insn[k]);

		if (at - fn->entry >= ENTRY)
			break;
		if (!row || !there || row == there)
			*text_mark(t, at) |= MARK_TABLE;
	}
}

void cutlabels_guard(const struct text *t, const struct fn *fn)
{
	bool has = has_label(t, fn);
	bool kept = has && !labels_all_led(t, fn);

	for (uint32_t i = 0; i < fn->ninsn && has; i++) {
		if (fn->insn[i].kind != INSN_IJMP)
			continue;
		enum jump_way way = labels_way(t, fn, i);

		if (way == WAY_CALCULATED || (way == WAY_FETCHED && kept))
			guard_start(t, fn, &fn->insn[i]);
	}
}
