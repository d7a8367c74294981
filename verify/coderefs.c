/* coderefs.c - notes which instructions of the original lead or refer to code
 *
 * entries.c calls this for every instruction of its walk.  The notes are judged later, by
 * labelwords.c, stalepointers.c and watchedcode.c, when it is known which pointers lead to
 * images.  All but the addresses that a lea forms are of interest only for programs that are
 * loaded at any address: pointers of others are never redirected.
 *
 * Tested by tests/unit/verify/test_redirected.c and test_watchedcode.c.
 */
#include "verify/lookup.h"

enum { MOVABS = 10 };

void verify_note_way(struct verify *v, uint32_t fde, vaddr addr, vaddr to)
{
	uint32_t other = vcfi_find(&v->ocfi, to);

	if (v->orig.eh.e_type == ET_DYN && other != NO_FDE && other != fde &&
	    (v->ocfi.fde[other].addr != to || v->ocfi.fragment[other]))
		vec_push(v->a, &v->refs.all, ((struct vref){ addr, to, fde, REF_BRANCH }));
}

static void note_from_got(struct verify *v, struct vref ref)
{
	vec_push(v->a, &v->refs.all, ref);
	if (verify_is_end(v, ref.to))
		vec_push(v->a, &v->walk.ends, ref);
}

/* A constant of 64 bits may be a distance from the GOT, which is what DT_PLTGOT, .got.plt or
 * .got says; to code that assembler wrote, any of them. */
static void note_distance(struct verify *v, struct vref ref, uint64_t distance)
{
	static const char *const name[] = { ".got.plt", ".got" };
	uint64_t got;

	if (image_dynamic(&v->orig, DT_PLTGOT, &got)) {
		ref.to = got + distance;
		note_from_got(v, ref);
	}
	for (int i = 0; i < 2; i++) {
		const struct section *s = image_section(&v->orig, name[i]);

		ref.to = (s ? s->h.sh_addr : 0) + distance;
		if (s)
			note_from_got(v, ref);
	}
}

/* Notes what the walk over the original's code meets: v->refs.all. */
void verify_note_reference(struct verify *v, uint32_t fde, const struct insn *insn,
			   const uint8_t *code, vaddr addr, vaddr target)
{
	struct vref ref = { addr, target, fde, REF_OPERAND };
	bool jumps = insn->kind == INSN_IJMP &&
		     !(insn->field && verify_is_slot(&v->calls, target));

	if (v->orig.eh.e_type != ET_DYN && !jumps)
		return;
	if (insn_is_branch(insn)) {
		if (fde == NO_FDE || target - v->ocfi.fde[fde].addr >= v->ocfi.fde[fde].len)
			verify_note_way(v, fde, addr, target);
		return;
	}
	if (jumps) {
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

		note_distance(v, ref, rd_u64(&r));
		return;
	} else {
		return;
	}
	vec_push(v->a, &v->refs.all, ref);
}

/* Code, or less than a page behind it: what is rounded down to a page then (firstbytes.c). */
static bool is_place(const struct verify *v, vaddr to)
{
	return image_is_exec(&v->orig, to) || image_is_exec(&v->orig, to - 0xfff);
}

void verify_note_lea(struct verify *v, uint32_t fde, vaddr addr, vaddr to)
{
	if (is_place(v, to))
		vec_push(v->a, &v->refs.formed, ((struct vref){ addr, to, fde, REF_LEA }));
}

/* A short string. */
static bool is_text(uint64_t value)
{
	while (value && (value & 0xff) >= 0x20 && (value & 0xff) < 0x7f)
		value >>= 8;
	return value == 0;
}

/* What compilers use to bring an address into a register or to memory, or to compare one: mov
 * of a register or of 64 bits, push, and 64-bit arithmetic but for masks. */
static bool takes_address(const uint8_t *code, uint64_t value)
{
	bool wide = (code[0] & 0xf8) == 0x48;
	const uint8_t *op = (code[0] & 0xf0) == 0x40 ? code + 1 : code;

	if ((op[0] & 0xf8) == 0xb8)
		return !is_text(value);
	switch (op[0]) {
	case 0x68:
		return true;
	case 0x81:
		return wide && (op[1] & 0x38) != 0x08 && (op[1] & 0x38) != 0x20 &&
		       (op[1] & 0x38) != 0x30;
	case 0x05: case 0x2d: case 0x3d: case 0xc7:
		return wide;
	default:
		return false;
	}
}

/* Round numbers, flags and masks; labels are hardly ever any of these. */
static bool is_round(uint64_t value)
{
	return (value & 0xffff) < 0x10 || (value & (value + 1)) == 0 ||
	       __builtin_popcountll(value) <= 3;
}

void verify_note_constants(struct verify *v, uint32_t fde, const uint8_t *code, vaddr addr,
			   const uint64_t *constant, uint32_t n)
{
	/* of functions all uses are of interest (firstbytes.c) */
	for (uint32_t i = 0; i < n; i++)
		if (is_place(v, constant[i]) &&
		    (verify_is_function(v, constant[i]) ||
		     (!is_round(constant[i]) && takes_address(code, constant[i]))))
			vec_push(v->a, &v->refs.formed,
				 ((struct vref){ addr, constant[i], fde, REF_OPERAND }));
}
