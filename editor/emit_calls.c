/* emit_calls.c - calls and tail jumps that skip the procedure linkage table
 *
 * The image of `call stub` is `call *slot(%rip)`, that of `jmp stub` is `jmp *slot(%rip)`, in blocks
 * that a pass has marked.  Both have six bytes, so this is the one place where the image of an
 * instruction that is no branch has another length than its original.
 */
#include "editor/emit.h"

enum { SLOT_LEN = 6 };

vaddr emit_slot_of(const struct prog *prog, const struct block *b, const struct insn *insn)
{
	if (!b->direct || (insn->kind != INSN_CALL && insn->kind != INSN_JMP) ||
	    insn->field != 1)
		return 0;
	return prog_stub_slot(prog, insn_target(insn, prog_insn_bytes(prog, insn),
						prog_insn_addr(prog, insn)));
}

uint32_t emit_insn_size(const struct prog *prog, const struct block *b, const struct insn *insn)
{
	return insn->kind == INSN_CALL && emit_slot_of(prog, b, insn) ? SLOT_LEN : insn->len;
}
