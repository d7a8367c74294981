/* labelwords.c - redirected pointers to labels lead to images that are good for jumps there
 *
 * An interpreter keeps the addresses of its handlers, labels inside of one function, in tables
 * and jumps through those.  A generation may redirect such a pointer like one to a function:
 * redirected.c finds it, and stalepointers.c shows that all pointers to that label change
 * together.  Here is what labels have of their own:
 *
 * PLACE      An image begins exactly for the label: with its own first instruction, so with the
 *            same endbr64, if any, and the same unwind row.  dataflow.c lets a computed jump
 *            arrive anywhere with no register that differs, so whoever knows the image's
 *            address may jump there.
 * ALL        All pointers to a label change or none does.  Those that stay are relocated data,
 *            or formed by a `lea` that only keeps the address.  Nothing else yields an address
 *            inside of the function (but its start): no other relocation, no symbol, no other
 *            instruction's operand.
 * STRAIGHT   No jump of the function calculates its target as a distance from a label, and some
 *            jump goes to what was fetched from memory (ways.c).
 *
 * LED        A jump may have fetched what was calculated before and kept in memory.  Then there
 *            is code, but by chance, to which nothing else leads (unled.c): a function that has
 *            such code has no labels that change.
 *
 * It does not matter whether original code of the function still runs: being at a label and
 * being at its image is the same.
 *
 * Tested by tests/unit/verify/test_redirected.c.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/effect.h"
#include "verify/lookup.h"

enum { STORE = 0x89, REGISTER = 0xc0 };
enum { MAX_LINE = 40 };	/* instructions after a lea: chosen, not measured */
enum { REX_B = 1, REX_X = 2, REX_R = 4, SIB = 4, NO_INDEX = 4, NO_BASE = 5 };

static bool has(uint16_t mask, uint8_t reg)
{
	return mask >> reg & 1;
}

int verify_label_place(struct verify *v, vaddr from, new_vaddr to)
{
	const struct blockmap_block *b = verify_image_of(v, from);
	uint32_t fde = vcfi_find(&v->ocfi, from);

	if (fde == NO_FDE)
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but that is in no function",
			      ULL(from), ULL(to));
	if (!b || v->map.gen_base + b->gen != to)
		return refuse(v, "pointers to 0x%llx lead to 0x%llx, which is no image of it",
			      ULL(from), ULL(to));
	v->pointers.labelled[verify_group(v, fde)] = true;
	return 0;
}

bool verify_is_labelled(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return fde != NO_FDE && v->pointers.labelled[verify_group(v, fde)] &&
	       !verify_is_function(v, addr);
}

/* mov %r64, memory: the registers by which the memory is addressed. */
static uint16_t store_base(const uint8_t *code)
{
	uint8_t mod = code[2] >> 6, rm = code[2] & 7, high = code[0] & REX_B ? 8 : 0;

	if (rm != SIB)
		return mod == 0 && rm == NO_BASE ? 0 : (uint16_t)(1u << (rm | high));
	uint8_t base = code[3] & 7, index = (code[3] >> 3 & 7) | (code[0] & REX_X ? 8 : 0);
	uint16_t mask = mod == 0 && base == NO_BASE ? 0 : (uint16_t)(1u << (base | high));

	return index == NO_INDEX ? mask : (uint16_t)(mask | 1u << index);
}

/* Registers that hold the address after the instruction, which copies or stores it or does
 * nothing with it; -1 when it may do something else. */
static int keep(uint16_t held, const struct effect *e, const uint8_t *code)
{
	uint16_t kept = held & (uint16_t)~(e->kills | e->clobbers);
	bool wide = e->len > 2 && (code[0] & 0xf8) == 0x48;

	if (e->kind == INSN_CALL || e->kind == INSN_ICALL)
		kept &= (uint16_t)~VERIFY_CALLER_SAVED;
	if (e->op == FX_COPY)
		return has(held, e->b) ? kept | 1 << e->a : kept;
	if (e->op == FX_PUSH || (e->op == FX_SPILL && wide) || e->kind == INSN_NOP)
		return kept;
	if (wide && code[1] == STORE && code[2] < REGISTER)
		return store_base(code) & held ? -1 : kept;
	if (e->len == 5 && memcmp(code, "\x66", 1) == 0 && (code[1] & 0xfa) == 0x48 &&
	    memcmp(code + 2, "\x0f\x6e", 2) == 0 && code[4] >= REGISTER)
		return kept;		/* movq %r64, %xmm */
	if ((e->reads | e->low_reads | e->word_reads) & held)
		return -1;
	switch (e->op) {		/* registers that it names itself */
	case FX_NONE:
	case FX_RELOAD:
	case FX_BASE:
	case FX_POP:
	case FX_TABLE:
	case FX_JUMP_TABLE:
		return kept;
	case FX_COPY_LOW:		/* and what they overwrite */
	case FX_EXTEND:
	case FX_LOAD:
	case FX_MIX:
	case FX_SCALE:
	case FX_SUM:
	case FX_WORD:
	case FX_WORD_SUM:
		return has(held, e->b) || has(held, e->c) ? -1 : kept;
	default:
		return has(held, e->a) || has(held, e->b) || has(held, e->c) ? -1 : kept;
	}
}

/* The lea at `addr` forms the address of a label, which goes nowhere but to other registers
 * and to memory before the line ends. */
static bool only_keeps(const struct verify *v, vaddr addr)
{
	struct effect e;
	int held = 0;

	for (int i = 0; i < MAX_LINE; i++, addr += e.len) {
		struct bytes code = verify_orig_code(v, addr);

		if (!effect_decode(code, addr, &e))
			return false;
		held = i ? keep((uint16_t)held, &e, code.p) : e.op == FX_BASE ? 1 << e.a : -1;
		if (held <= 0)
			return held == 0;
		if (e.kind == INSN_JMP || e.kind == INSN_IJMP || e.kind == INSN_RET ||
		    e.kind == INSN_TRAP)
			break;
	}
	return true;
}

int verify_labelwords(struct verify *v)
{
	bool *computes = arena_array(v->a, v->ocfi.nfde, sizeof(*computes));

	if (v->pointers.redirects.n == 0)
		return 0;
	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *r = &v->refs.all.v[i];

		if (r->kind == REF_JUMP) {
			if (r->fde == NO_FDE || !v->pointers.labelled[verify_group(v, r->fde)])
				continue;
			enum verify_way way = verify_way_of(v, r->addr);

			if (way == WAY_CALCULATED)
				return refuse(
					v,
					"the jump at 0x%llx may calculate its target, while "
					"pointers to labels of its function were changed",
					ULL(r->addr));
			computes[verify_group(v, r->fde)] |= way == WAY_FETCHED;
		} else if (r->kind != REF_BRANCH && verify_is_labelled(v, r->to) &&
			   (r->kind != REF_LEA || !only_keeps(v, r->addr))) {
			return refuse(
				v,
				"the instruction at 0x%llx refers to 0x%llx, inside a function "
				"whose pointers to labels were changed",
				ULL(r->addr), ULL(r->to));
		}
	}
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		vaddr unled = v->pointers.labelled[verify_group(v, i)] ? verify_unled(v, i) : 0;

		if (unled)
			return refuse(v,
				      "nothing leads to 0x%llx, which a jump may calculate, "
				      "while pointers to labels of its function were changed",
				      ULL(unled));
	}
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		if (v->pointers.labelled[i] && !computes[i])
			return refuse(v,
				      "pointers lead inside the image of 0x%llx, which has no "
				      "jump that "
				      "could go to labels",
				      ULL(v->ocfi.fde[i].addr));
	return 0;
}
