/* callwrites.c - registers that a call does not leave as they are
 *
 * A register that holds the address of a jump table is mostly dead when the next call is made,
 * and what the code behind does with its remains says nothing about the table.  The convention
 * lets callees overwrite nine registers.  Compilers that see a callee may rely on registers
 * that it does not write, so for code of the same file only those count that it does write, on
 * whatever path; whoever is called through a pointer or in another file, may have written all
 * nine.
 *
 * Functions are looked at when somebody asks, each once; calls deeper than MAX_DEPTH and code
 * without an FDE of its own are taken to write nothing, which is the safe side.
 */
#include "verify/effect.h"
#include "verify/lookup.h"

enum { MAX_DEPTH = 12, KNOWN = 1 << 15 };	/* r15 is not caller-saved: its bit is free */

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

	if (verify_is_stub(v, addr))
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
