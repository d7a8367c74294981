/* behindtraps.c - functions in which data may stand behind a trap
 *
 * A handler knows where the trap was.  It may read what stands behind it, a number or the
 * distance of a message from itself, and goes on behind that.  Such data look like code: there
 * may be branches in them, which an image changes, or ends of blocks.  Code behind a trap is a
 * place to which something leads, for the trap does not come back.  So a function stays where
 * it is when nothing leads to what stands behind one of its traps, past padding and other
 * traps.
 *
 * From int3 a debugger comes back: there is often nothing that leads to the code behind it.  A
 * NOP right behind it tells what the trap means (HWASan), and is code: images have it there,
 * too.  So is a jump to elsewhere in the function, behind which again something else begins;
 * that is how assertions end.
 *
 * A function with a jump that may go anywhere is left out: that may lead there.
 *
 * Tested by tests/unit/postmorph/test_analyze.c and tests/programs/knows_flow.sh.
 */
#include "postmorph/refs/behindtraps.h"

static bool is_trap(const struct text *t, const struct insn *insn)
{
	enum { INT3 = 0xcc, INT1 = 0xf1 };
	uint8_t first = *prog_insn_bytes(t->prog, insn);

	return insn->kind == INSN_TRAP || first == INT3 || first == INT1;
}

/* Nothing leads to insn[0], of `n` that follow what does not go on.  NOPs are padding where
 * they begin or end at a place to which something leads; that behind them is aligned. */
static bool is_unmet(const struct text *t, const struct insn *insn, uint32_t n)
{
	enum { ALIGN = 8 };
	const uint8_t leads = MARK_BRANCH | MARK_POINTER | MARK_TABLE | MARK_PAD;

	for (uint32_t i = 0; i < n; i++) {
		if (t->mark[insn[i].off] & leads)
			return i > 0 && prog_insn_addr(t->prog, &insn[i]) % ALIGN != 0;
		if (insn[i].kind != INSN_NOP)
			return !is_trap(t, &insn[i]);
	}
	return false;
}

/* A jump to an instruction of the same function, without prefixes, which could be data. */
static bool is_own_jump(const struct text *t, const struct fn *fn, const struct insn *insn)
{
	const uint8_t *code = prog_insn_bytes(t->prog, insn);

	if (insn->kind != INSN_JMP || insn->field != 1)
		return false;
	vaddr to = insn_target(insn, code, prog_insn_addr(t->prog, insn));
	return text_holds(t, to) && (*text_mark(t, to) & MARK_INSN) &&
	       prog_find_fn(t->prog, to) == (uint32_t)(fn - t->prog->fn);
}

/* ... behind the trap insn[0], which `n` instructions follow. */
static bool may_be_data(const struct text *t, const struct fn *fn, const struct insn *insn,
			uint32_t n)
{
	if (insn->kind != INSN_TRAP && n > 0) {
		if (insn[1].kind == INSN_NOP)
			return false;
		if (is_own_jump(t, fn, &insn[1]))
			return is_unmet(t, insn + 2, n - 1);
	}
	return is_unmet(t, insn + 1, n);
}

static bool has_data(const struct text *t, const struct fn *fn)
{
	uint32_t end = 0;

	for (uint32_t r = 0, i = 0; r < fn->nrange; r++) {
		end += t->piece[fn->range[r].fde].ninsn;
		for (; i < end; i++)
			if (is_trap(t, &fn->insn[i]) &&
			    may_be_data(t, fn, &fn->insn[i], end - i - 1))
				return true;
	}
	return false;
}

void behindtraps_judge(struct text *t)
{
	for (uint32_t i = 0; i < t->prog->nfn; i++) {
		struct fn *fn = &t->prog->fn[i];

		if (fn->kept && fn->skip == SKIP_NONE && !fn_has_open_jump(fn) &&
		    has_data(t, fn))
			fn->skip = SKIP_BEHIND_TRAP;
	}
}
