/* callers.c - unwinding from one sample
 *
 * The unwind row at an instruction says where the frame ends (CFA), and where the return address and the
 * caller's registers are.  All of that must be in the piece of the stack that came with the sample.
 *
 * INVARIANT  nothing is read but the sample's registers and stack, and the file.
 */
#include "editor/callers.h"

#include <string.h>

#include "postmorph/decode.h"

enum { GPRS = 16, DWARF_RSP = 7, CALL_BYTES = 5 };

/* In the order of DWARF's numbers. */
struct frame {
	vaddr pc;			/* of the next instruction */
	uint64_t reg[GPRS];
	bool known[GPRS];
};

/* DWARF numbers to encoding order. */
static const uint8_t encoded[GPRS] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };

static bool read_stack(const struct statesample *s, uint64_t at, uint64_t *out)
{
	uint64_t begin = s->gpr[encoded[DWARF_RSP]];
	struct bytes word = at < begin ? (struct bytes){ 0 } : bytes_at(s->stack, at - begin, 8);

	if (!word.p)
		return false;
	memcpy(out, word.p, 8);
	return true;
}

static void restore(const struct statesample *s, const struct cfi_state *row, uint64_t cfa,
		    struct frame *f)
{
	for (int i = 0; i < GPRS; i++) {
		const struct cfi_rule *r = &row->reg[i];

		if (r->kind == CFI_OFFSET)
			f->known[i] = read_stack(s, cfa + (uint64_t)r->off, &f->reg[i]);
		else
			f->known[i] &= r->kind == CFI_UNSPEC || r->kind == CFI_SAME;
	}
	f->reg[DWARF_RSP] = cfa;
	f->known[DWARF_RSP] = true;
}

/* From a frame to its caller's.  `at`: an address in the instruction that it is at. */
static bool unwind(const struct image *img, const struct cfi *cfi, const struct statesample *s,
		   uint32_t fde, vaddr at, struct frame *f)
{
	const struct cfi_state *row = &cfi->state[cfi_state_at(cfi, fde, at)];
	const struct cfi_rule *ra = &row->reg[CFI_RA];
	uint64_t back;

	if (!cfi->fde[fde].understood || cfi->cie[cfi->fde[fde].cie].signal_frame ||
	    row->cfa_is_expr || row->cfa_reg >= GPRS || !f->known[row->cfa_reg] ||
	    ra->kind != CFI_OFFSET)
		return false;
	uint64_t cfa = f->reg[row->cfa_reg] + (uint64_t)row->cfa_off;
	if (!read_stack(s, cfa + (uint64_t)ra->off, &back))
		return false;
	f->pc = back - s->bias;
	restore(s, row, cfa, f);
	return image_is_exec(img, f->pc);
}

static bool is_call(const struct image *img, vaddr addr)
{
	struct insn insn;
	vaddr target;

	return insn_decode(image_rest(img, addr), addr, &insn, &target) && insn.kind == INSN_CALL &&
	       insn.len == CALL_BYTES;
}

uint32_t callers_find(const struct image *img, const struct cfi *cfi, const struct statesample *sample,
		      struct caller *out, uint32_t max)
{
	struct frame f = { .pc = sample->pc - sample->bias };
	uint32_t n = 0;

	for (int i = 0; i < GPRS; i++) {
		f.reg[i] = sample->gpr[encoded[i]];
		f.known[i] = true;
	}
	for (uint32_t depth = 0; depth < max; depth++) {
		vaddr at = depth ? f.pc - 1 : f.pc;	/* a call may be the last instruction */
		uint32_t fde = cfi_find(cfi, at);

		if (fde == UINT32_MAX || !unwind(img, cfi, sample, fde, at, &f))
			break;
		if (is_call(img, f.pc - CALL_BYTES))
			out[n++] = (struct caller){ f.pc - CALL_BYTES, cfi->fde[fde].addr };
	}
	return n;
}
