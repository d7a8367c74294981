/* behindtraps.c - functions in which data may stand behind a trap
 *
 * A handler knows where the trap was.  It may read what stands behind it, a number or the
 * distance of a message from itself, and goes on behind that.  Such data look like code: there
 * may be branches in them, which an image changes, or ends of blocks.  Code behind a trap is a
 * place to which something leads, for the trap does not come back.  So a function stays where
 * it is when nothing leads to what stands behind one of its traps, past padding and other
 * traps.  Of int3, from which a debugger comes back, that is so of most code.  A NOP right
 * behind that tells what it means (HWASan), and is code: images have it there, too.
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

/* Data may stand behind the trap insn[0], which `n` instructions follow.  NOPs are padding
 * where they begin or end at a place to which something leads; that behind them is aligned. */
static bool may_be_data(const struct text *t, const struct insn *insn, uint32_t n)
{
	enum { ALIGN = 8 };
	const uint8_t leads = MARK_BRANCH | MARK_POINTER | MARK_TABLE | MARK_PAD;

	if (insn->kind != INSN_TRAP && n > 0 && insn[1].kind == INSN_NOP)
		return false;
	for (uint32_t i = 1; i <= n; i++) {
		if (t->mark[insn[i].off] & leads)
			return i > 1 && prog_insn_addr(t->prog, &insn[i]) % ALIGN != 0;
		if (insn[i].kind != INSN_NOP)
			return !is_trap(t, &insn[i]);
	}
	return false;
}

static bool has_data(const struct text *t, const struct fn *fn)
{
	uint32_t end = 0;

	for (uint32_t r = 0, i = 0; r < fn->nrange; r++) {
		end += t->piece[fn->range[r].fde].ninsn;
		for (; i < end; i++)
			if (is_trap(t, &fn->insn[i]) &&
			    may_be_data(t, &fn->insn[i], end - i - 1))
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
