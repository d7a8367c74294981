/* decode_memo.c - decodes instructions by remembering the forms of those seen before
 *
 * A program has millions of instructions and some ten thousand forms.  The form follows from what
 * stands in front: prefixes, opcode and ModRM, and whether the SIB byte asks for a displacement
 * without a base.  Behind that come only the rest of the SIB byte, displacement and immediates, whose
 * values change nothing that struct insn_form says.  So these first bytes are the key, and Zydis is
 * asked once for each.
 *
 * KEPT     instructions of the one-byte and 0F maps, with at most seven bytes of key.  Where other
 *          bytes count as well (VEX, EVEX, XOP, the other maps) Zydis is asked every time.  Failures
 *          are not kept.
 *
 * That an answer from memory is the answer of Zydis is tested over all opcodes and ModRM bytes
 * (tests/unit/test_decode.c).
 */
#include <string.h>

#include "postmorph/decode_form.h"

enum { MEMO_BITS = 14, MAX_KEY = 7, MAX_PREFIXES = 3, SIB_FOLLOWS = 4, SIB_NO_BASE = 5 };

struct memo {
	uint64_t key;			/* 0: empty */
	struct insn_form form;
};

/* What the first byte behind the prefixes can be. */
enum lead { OPCODE, PREFIX, REX, OTHER };

static enum lead lead_of(uint8_t b)
{
	switch (b) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0xf2: case 0xf3:
		return PREFIX;
	case 0x67: case 0xf0:			/* prefixes that are rare */
	case 0xc4: case 0xc5: case 0x62:	/* VEX, EVEX */
	case 0x8f:				/* XOP, or pop */
		return OTHER;
	default:
		return (b & 0xf0) == 0x40 ? REX : OPCODE;
	}
}

enum { MODRM_UNKNOWN, MODRM_NONE, MODRM_YES };
static uint8_t modrm_of[2][256];	/* by map and opcode, as far as Zydis has said */

struct head {
	uint64_t key;			/* 0: not one that is kept, or ModRM unknown */
	uint8_t map, opcode;
	bool has_opcode;
};

/* Key of what the first `n` bytes of code are, with flags in the highest byte. */
static uint64_t make_key(struct bytes code, uint32_t n, bool no_base)
{
	uint64_t key = (uint64_t)(n | (no_base ? 0x80 : 0)) << 56;

	for (uint32_t i = 0; i < n; i++)
		key |= (uint64_t)code.p[i] << (8 * i);
	return key;
}

/* 0 behind the end: what is cut off there is too short for the form that it then has. */
static uint8_t byte_at(struct bytes code, uint32_t i)
{
	return i < code.n ? code.p[i] : 0;
}

static struct head read_head(struct bytes code)
{
	struct head h = { 0 };
	bool no_base = false;
	uint32_t i = 0;

	while (i < MAX_PREFIXES && lead_of(byte_at(code, i)) == PREFIX)
		i++;
	if (lead_of(byte_at(code, i)) == REX)
		i++;
	if (lead_of(byte_at(code, i)) != OPCODE)
		return h;
	h.opcode = byte_at(code, i++);
	if (h.opcode == 0x0f) {
		h.map = 1;
		h.opcode = byte_at(code, i++);
		if (h.opcode == 0x0f || h.opcode == 0x38 || h.opcode == 0x3a)
			return h;
	}
	h.has_opcode = true;
	if (modrm_of[h.map][h.opcode] == MODRM_UNKNOWN)
		return h;
	if (modrm_of[h.map][h.opcode] == MODRM_YES) {
		uint8_t modrm = byte_at(code, i++);

		no_base = modrm >> 6 == 0 && (modrm & 7) == SIB_FOLLOWS &&
			  (byte_at(code, i) & 7) == SIB_NO_BASE;
	}
	if (i <= code.n && i <= MAX_KEY)
		h.key = make_key(code, i, no_base);
	return h;
}

static struct memo *slot_of(uint64_t key)
{
	static struct memo memo[1 << MEMO_BITS];
	static const uint64_t GOLDEN = 0x9e3779b97f4a7c15;

	return &memo[key * GOLDEN >> (64 - MEMO_BITS)];
}

bool insn_form_recall(struct bytes code, struct insn_form *out)
{
	struct head h = read_head(code);
	struct memo *m = slot_of(h.key);

	if (h.key && m->key == h.key) {
		*out = m->form;
		return m->form.len <= code.n;
	}
	if (!insn_form_read(code, out))
		return false;
	if (h.key)
		*m = (struct memo){ h.key, *out };
	else if (h.has_opcode)
		modrm_of[h.map][h.opcode] = out->has_modrm ? MODRM_YES : MODRM_NONE;
	return true;
}

bool insn_decode(struct bytes code, vaddr addr, struct insn *out, vaddr *target)
{
	struct insn_form form;

	if (!insn_form_recall(code, &form))
		return false;
	*out = (struct insn){ .len = form.len, .kind = form.kind, .field = form.field,
			      .field_size = form.field_size };
	*target = form.field ? insn_target(out, code.p, addr) : 0;
	return true;
}

vaddr insn_target(const struct insn *insn, const uint8_t *code, vaddr addr)
{
	if (insn->field_size == 1)
		return addr + insn->len + (vaddr)(int64_t)(int8_t)code[insn->field];
	int32_t disp;

	memcpy(&disp, code + insn->field, sizeof(disp));
	return addr + insn->len + (vaddr)(int64_t)disp;
}

static uint64_t constant_at(const uint8_t *code, const struct insn_constant *c)
{
	uint64_t wide;
	uint32_t v;

	if (c->is_wide) {
		memcpy(&wide, code + c->off, sizeof(wide));
		return wide;
	}
	memcpy(&v, code + c->off, sizeof(v));
	return c->is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
}

uint32_t insn_constants(struct bytes code, uint64_t out[INSN_MAX_CONSTANTS])
{
	struct insn_form form;

	if (!insn_form_recall(code, &form))
		return 0;
	for (uint32_t i = 0; i < form.nconstant; i++)
		out[i] = constant_at(code.p, &form.constant[i]);
	return form.nconstant;
}
