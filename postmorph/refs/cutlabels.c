/* cutlabels.c - labels that calculated jumps may go to keep entry jumps out; see cutlabels.h
 *
 * Tested by tests/unit/postmorph/refs/test_cutlabels.c.
 */
#include "postmorph/refs/cutlabels.h"

#include "postmorph/refs/addressuse.h"

enum { ENTRY = 9,		/* bytes of endbr64 and the entry jump */
       NO_FRAME = 8 };		/* of a return address */

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

/* How the jump, instruction i, comes to its target. */
static enum jump_way way_of(const struct text *t, const struct fn *fn, uint32_t i)
{
	const uint8_t leads = MARK_BRANCH | MARK_HELD | MARK_TABLE | MARK_PAD;
	const struct prog *prog = t->prog;
	const vaddr end = prog_insn_addr(prog, &fn->insn[i]) + fn->insn[i].len;
	uint32_t from = i;
	uint8_t reg;

	while (from > 0 && !(t->mark[fn->insn[from].off] & leads) &&
	       !insn_is_branch(&fn->insn[from - 1]) && !insn_ends_flow(&fn->insn[from - 1]) &&
	       prog_insn_addr(prog, &fn->insn[from - 1]) + fn->insn[from - 1].len ==
		       prog_insn_addr(prog, &fn->insn[from]))
		from--;
	vaddr start = prog_insn_addr(prog, &fn->insn[from]);
	struct bytes code = bytes_at(image_rest(&prog->img, start), 0, end - start);

	return address_way(code, &reg);
}

static bool has_label(const struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->ninsn; i++)
		if (forms_own(t->prog, fn, &fn->insn[i]) ||
		    (i && (t->mark[fn->insn[i].off] & MARK_POINTER)))
			return true;
	return false;
}

static uint32_t row_at(const struct prog *prog, const struct insn *insn)
{
	vaddr addr = prog_insn_addr(prog, insn);
	uint32_t fde = cfi_find(&prog->cfi, addr);

	return fde == UINT32_MAX ? 0 : cfi_state_at(&prog->cfi, fde, addr);
}

static bool has_frame(const struct prog *prog, const struct insn *insn)
{
	return cfi_depth(&prog->cfi, prog_insn_addr(prog, insn)) != NO_FRAME;
}

/* Some jump that fetches its target has a frame: those without one are tail calls. */
static bool is_framed(const struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->ninsn; i++)
		if (fn->insn[i].kind == INSN_IJMP && has_frame(t->prog, &fn->insn[i]) &&
		    way_of(t, fn, i) == WAY_FETCHED)
			return true;
	return false;
}

/* The jump, instruction i, may go to a label that nothing holds. */
static bool may_calculate(const struct text *t, const struct fn *fn, uint32_t i, bool framed)
{
	enum jump_way way = way_of(t, fn, i);

	if (way == WAY_FETCHED)
		return t->prog->img.pie_or_dso &&
		       (!framed || has_frame(t->prog, &fn->insn[i]));
	return way != WAY_TABLE;
}

void cutlabels_guard(const struct text *t, const struct fn *fn)
{
	const struct prog *prog = t->prog;
	bool has = has_label(t, fn), framed = has && is_framed(t, fn);

	for (uint32_t i = 0; i < fn->ninsn && has; i++) {
		if (fn->insn[i].kind != INSN_IJMP || !may_calculate(t, fn, i, framed))
			continue;
		uint32_t row = row_at(prog, &fn->insn[i]);
		for (uint32_t k = 1; k < fn->ninsn; k++) {
			vaddr at = prog_insn_addr(prog, &fn->insn[k]);
			uint32_t there = row_at(prog, &fn->insn[k]);

			if (at - fn->entry >= ENTRY)
				break;
			if (!row || !there || row == there)
				*text_mark(t, at) |= MARK_TABLE;
		}
	}
}
