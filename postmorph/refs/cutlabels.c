/* cutlabels.c - labels that calculated jumps may go to keep entry jumps out; see cutlabels.h
 *
 * Tested by tests/unit/postmorph/refs/test_cutlabels.c.
 */
#include "postmorph/refs/cutlabels.h"

#include "postmorph/refs/addressuse.h"

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

/* Nothing shows that the target of the jump, instruction i, was taken from memory as it was. */
static bool calculates(const struct text *t, const struct fn *fn, uint32_t i)
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
	enum jump_way way = address_way(code, &reg);
	return way == WAY_CALCULATED || way == WAY_BROUGHT;
}

void cutlabels_guard(const struct text *t, const struct fn *fn)
{
	const struct prog *prog = t->prog;
	bool forms = false;

	for (uint32_t i = 0; i < fn->ninsn && !forms; i++)
		forms = forms_own(prog, fn, &fn->insn[i]);
	for (uint32_t i = 0; i < fn->ninsn && forms; i++) {
		const struct insn *jump = &fn->insn[i];

		if (jump->kind != INSN_IJMP || !calculates(t, fn, i))
			continue;
		int64_t depth = cfi_depth(&prog->cfi, prog_insn_addr(prog, jump));
		for (uint32_t k = 1; k < fn->ninsn; k++) {
			vaddr at = prog_insn_addr(prog, &fn->insn[k]);
			int64_t there = cfi_depth(&prog->cfi, at);

			if (at - fn->entry >= ENTRY)
				break;
			if (!depth || !there || depth == there)
				*text_mark(t, at) |= MARK_TABLE;
		}
	}
}
