/* callers.c - unwinds from a sample, to find the calls whose return addresses are on the stack
 *
 * The unwind row at an instruction says where the frame ends (CFA), and where the return
 * address and the caller's registers are.  The CFA and the return address must be known: mostly
 * they are in the piece of the stack that came with the sample.
 *
 * INVARIANT  only values that the machine knows, and the file, are read.
 *
 * Tested by tests/unit/editor/interpret/test_interpret.c.
 */
#include "editor/interpret/callers.h"

#include "binary/decode.h"

enum { DWARF_GPRS = 16, WORD = 8, CALL_BYTES = 5 };

/* DWARF numbers to encoding order. */
static const uint8_t encoded[DWARF_GPRS] = { 0, 2, 1,  3,  6,  7,  5,  4,
					     8, 9, 10, 11, 12, 13, 14, 15 };

static const struct cfi_state *row_at(const struct cfi *cfi, vaddr at)
{
	uint32_t fde = cfi_find(cfi, at);

	if (fde == UINT32_MAX || !cfi->fde[fde].understood ||
	    cfi->cie[cfi->fde[fde].cie].signal_frame)
		return NULL;
	return &cfi->state[cfi_state_at(cfi, fde, at)];
}

bool callers_unwind(const struct cfi *cfi, vaddr at, struct machine *m)
{
	const struct cfi_state *row = row_at(cfi, at);
	struct value old[DWARF_GPRS];

	if (!row || row->cfa_is_expr || row->cfa_reg >= DWARF_GPRS ||
	    row->reg[CFI_RA].kind != CFI_OFFSET)
		return false;
	const struct value *base = &m->reg[encoded[row->cfa_reg]];
	uint64_t cfa = base->v + (uint64_t)row->cfa_off;
	if (base->known != VALUE_KNOWN)
		return false;
	struct value back =
		memview_read(&m->memory, cfa + (uint64_t)row->reg[CFI_RA].off, WORD);
	if (back.known != VALUE_KNOWN)
		return false;
	for (int i = 0; i < DWARF_GPRS; i++) {
		const struct cfi_rule *r = &row->reg[i];

		old[i] = (struct value){ .why = UNKNOWN_CODE };
		if (r->kind == CFI_OFFSET)
			old[i] = memview_read(&m->memory, cfa + (uint64_t)r->off, WORD);
		else if (r->kind == CFI_UNSPEC || r->kind == CFI_SAME)
			old[i] = m->reg[encoded[i]];
	}
	for (int i = 0; i < DWARF_GPRS; i++)
		m->reg[encoded[i]] = old[i];
	m->reg[MACHINE_RSP] = (struct value){ cfa, VALUE_KNOWN, UNKNOWN_NOTHING };
	machine_lose(m, MACHINE_CALLER_SAVED, true);
	m->pc = back.v - m->memory.bias;
	return true;
}

static bool is_call(const struct image *img, vaddr addr)
{
	struct insn insn;
	vaddr target;

	return insn_decode(image_rest(img, addr), addr, &insn, &target) &&
	       insn.kind == INSN_CALL && insn.len == CALL_BYTES;
}

uint32_t callers_find(const struct image *img, const struct cfi *cfi,
		      const struct machine *start, struct caller *out, uint32_t max)
{
	struct machine m = *start;
	uint32_t n = 0;

	for (uint32_t depth = 0; depth < max; depth++) {
		vaddr at = depth ? m.pc - 1 : m.pc;	/* a call may be the last instruction */

		if (!callers_unwind(cfi, at, &m) || !image_is_exec(img, m.pc))
			break;
		if (is_call(img, m.pc - CALL_BYTES))
			out[n++] = (struct caller){ m.pc - CALL_BYTES,
						    cfi->fde[cfi_find(cfi, at)].addr };
	}
	return n;
}
