/* HEAD */
#include "verify/lookup.h"

enum { MOVABS = 10 };

void verify_note_way(struct verify *v, uint32_t fde, vaddr addr, vaddr to)
{
	uint32_t other = vcfi_find(&v->ocfi, to);

	if (v->orig.eh.e_type == ET_DYN && other != NO_FDE && other != fde &&
	    (v->ocfi.fde[other].addr != to || v->ocfi.fragment[other]))
		vec_push(v->a, &v->refs.all, ((struct vref){ addr, to, fde, REF_BRANCH }));
}

/* Notes what the walk over the original's code meets: v->refs.all. */
void verify_note_reference(struct verify *v, uint32_t fde, const struct insn *insn,
			   const uint8_t *code, vaddr addr, vaddr target)
{
	struct vref ref = { addr, target, fde, REF_OPERAND };

	if (v->orig.eh.e_type != ET_DYN)
		return;
	if (insn_is_branch(insn)) {
		if (fde == NO_FDE || target - v->ocfi.fde[fde].addr >= v->ocfi.fde[fde].len)
			verify_note_way(v, fde, addr, target);
		return;
	}
	if (insn->kind == INSN_IJMP && !(insn->field && verify_is_slot(&v->calls, target))) {
		ref.kind = REF_JUMP;
	} else if (insn->field) {
		if (!image_is_exec(&v->orig, target))
			return;
		if (insn->len == 7 && insn->field == 3 && (code[0] & 0xfb) == 0x48 &&
		    code[1] == 0x8d)
			ref.kind = REF_LEA;
	} else if (insn->len == MOVABS && (code[0] & 0xf8) == 0x48 &&
		   (code[1] & 0xf8) == 0xb8) {
		struct rd r = rd_of((struct bytes){ code + 2, 8 });
		uint64_t got;

		if (!image_dynamic(&v->orig, DT_PLTGOT, &got))
			return;
		ref.to = got + rd_u64(&r);
	} else {
		return;
	}
	vec_push(v->a, &v->refs.all, ref);
}

void verify_note_lea(struct verify *v, uint32_t fde, vaddr addr, vaddr to)
{
	if (image_is_exec(&v->orig, to))
		vec_push(v->a, &v->refs.formed, ((struct vref){ addr, to, fde, REF_LEA }));
}
