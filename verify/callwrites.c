/* callwrites.c - which registers a call may overwrite
 *
 * A register that holds the address of a jump table is mostly dead at the next call, and what
 * the code after the call does with its remains says nothing about the table.  The calling
 * convention lets callees overwrite nine registers.  But a compiler that sees a callee may rely
 * on registers that the callee does not write.  So a call of code in the same file seems to
 * overwrite only those of the nine that the callee writes on some path; a call through a
 * pointer or to another file, all nine.
 *
 * With too few registers a difference lives on and may be refused.  With too many it may live
 * on unseen: the callee has pushed and popped a register, or one behind a pointer keeps more
 * than the convention says (preserve_most; TLS descriptors).  values.c lets nobody jump by such
 * a one (KEPT).  Too few are named for calls nested deeper than MAX_DEPTH and code without an
 * FDE of its own.  Each function is looked at once, when a call of it is met.
 *
 * Tested by tests/unit/verify/test_returns.c.
 */
#include "verify/effect.h"
#include "verify/lookup.h"

enum { MAX_DEPTH = 12 };	/* of nested calls: chosen, not measured */
enum { KNOWN = 1 << 15 };	/* r15 is not caller-saved: its bit is free */

static uint16_t written_at(struct verify *v, vaddr addr, unsigned depth);

static uint16_t written_by(struct verify *v, const struct vfde *fde, const struct effect *e,
			   unsigned depth)
{
	uint16_t mask = e->kills | e->clobbers;

	if (e->kind == INSN_ICALL)
		return VERIFY_CALLER_SAVED;
	if (e->op != FX_NONE && e->op != FX_PUSH && e->op != FX_SPILL && e->op != FX_JUMP &&
	    e->op != FX_JUMP_TABLE)
		mask |= (uint16_t)(1 << e->a);
	if (e->target && (e->kind == INSN_CALL || e->target - fde->addr >= fde->len))
		mask |= written_at(v, e->target, depth + 1);
	return mask;
}

static uint16_t written_at(struct verify *v, vaddr addr, unsigned depth)
{
	uint32_t i = vcfi_find(&v->ocfi, addr);
	uint16_t mask = KNOWN;

	if (verify_is_stub(v, addr) || verify_is_chosen_stub(v, addr))
		return VERIFY_CALLER_SAVED;
	if (i == NO_FDE || v->ocfi.fde[i].addr != addr || depth > MAX_DEPTH)
		return 0;
	if (v->calls.written[i])	/* known, or being found out further up */
		return v->calls.written[i];
	v->calls.written[i] = KNOWN;
	const struct vfde *fde = &v->ocfi.fde[i];
	struct bytes code = bytes_at(verify_orig_code(v, addr), 0, fde->len);
	struct effect e;

	for (uint64_t off = 0; off < code.n; off += e.len) {
		if ((mask & VERIFY_CALLER_SAVED) == VERIFY_CALLER_SAVED ||
		    !effect_decode(bytes_at(code, off, code.n - off), addr + off, &e))
			break;
		mask |= written_by(v, fde, &e, depth);
	}
	v->calls.written[i] = mask | KNOWN;
	return mask;
}

uint16_t verify_call_writes(struct verify *v, const struct effect *e)
{
	if (e->kind == INSN_ICALL)
		return VERIFY_CALLER_SAVED;
	if (!v->calls.written)
		v->calls.written = arena_array(v->a, v->ocfi.nfde, sizeof(*v->calls.written));
	return written_at(v, e->target, 0) & VERIFY_CALLER_SAVED;
}
