/* clobbers.c - finds out which registers a function overwrites
 *
 * The calling convention lets a callee overwrite nine registers, but a compiler that sees the
 * callee may rely on it leaving some of them alone (GCC: -fipa-ra).  So after a call of code in
 * the same file only registers that the callee does write are dead.  Too few here is safe:
 * values then count as possibly alive.
 *
 * Tested by tests/unit/postmorph/tables/test_jumptable.c.
 */
#include "postmorph/tables/absint.h"
#include "postmorph/tables/clobbers.h"

enum { MAX_DEPTH = 12, KNOWN = 1 << 15 };	/* r15 is not caller-saved: its bit is free */

static uint16_t clobbers_at(struct text *t, vaddr entry, unsigned depth);

static uint16_t of_insn(struct text *t, const struct fn *fn, const struct insn *insn,
			unsigned depth)
{
	vaddr addr = prog_insn_addr(t->prog, insn);
	struct bytes code = { prog_insn_bytes(t->prog, insn), insn->len };
	struct op op;

	if (insn->kind == INSN_ICALL)
		return ABS_CALLER_SAVED;
	if (insn_is_branch(insn)) {
		vaddr target = insn_target(insn, code.p, addr);

		if (insn->kind != INSN_CALL && prog_find_fn(t->prog, target) ==
					       (uint32_t)(fn - t->prog->fn))
			return 0;
		return clobbers_at(t, target, depth + 1);
	}
	op_decode(code, insn, addr, &op);
	return op.writes | op.partial;
}

static uint16_t clobbers_at(struct text *t, vaddr entry, unsigned depth)
{
	uint32_t f = prog_find_fn(t->prog, entry);
	uint16_t mask = KNOWN;

	if (f != NO_FN && t->prog->fn[f].entry == entry && depth <= MAX_DEPTH && t->clobbers[f])
		return t->clobbers[f];		/* known, or being found out further up */
	if ((f != NO_FN && t->prog->fn[f].skip == SKIP_PLT) ||
	    plt_stub_name(&t->plt, &t->prog->img, entry))
		return ABS_CALLER_SAVED;
	if (f == NO_FN || t->prog->fn[f].entry != entry || depth > MAX_DEPTH)
		return 0;
	t->clobbers[f] = KNOWN;
	const struct fn *fn = &t->prog->fn[f];
	struct fn_scan scan = fn_scan(t, fn);
	for (struct insn insn; fn_scan_next(&scan, &insn); ) {
		mask |= of_insn(t, fn, &insn, depth);
		if ((mask & ABS_CALLER_SAVED) == ABS_CALLER_SAVED)
			break;
	}
	t->clobbers[f] = mask | KNOWN;
	return mask;
}

uint16_t clobbers_of(struct text *t, vaddr entry)
{
	return clobbers_at(t, entry, 0) & ABS_CALLER_SAVED;
}
