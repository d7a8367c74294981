/* decode_memo.c - decodes instructions by remembering the forms of those seen before
 *
 * A program has millions of instructions and some ten thousand forms.  The form follows from what
 * stands in front: prefixes, opcode and ModRM, and whether the SIB byte asks for a displacement
 * without a base.  Behind that come only the rest of the SIB byte, displacement and immediates, whose
 * values change nothing that struct insn_form says.  So these first bytes are the key, and Zydis is
 * asked once for each.  Of most instructions with a ModRM byte any registers will do: these bits are
 * left out, so a large program has some thousand keys, few enough to stay in the cache.
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

enum { MEMO_BITS = 14, MAX_KEY = 7, MAX_PREFIXES = 3, SIB_FOLLOWS = 4, SIB_NO_BASE = 5,
       MODRM_REG = 0x38, REX_R = 4, REX_RXB = 7 };

struct memo {
	uint64_t key;			/* 0: empty */
	struct insn_form form;
};

/* What a byte is in front of an instruction, or as its opcode in the 0F map.  Whether an opcode has
 * a ModRM byte is what Zydis said of it the first time; ANY_REGISTER: it has, and neither its register
 * field nor those in REX change anything. */
enum { OPCODE, OPCODE_ALONE, OPCODE_MODRM, ANY_REGISTER, PREFIX, REX, MAP_0F, OTHER };

static uint8_t one_byte[256] = {
	[0x00 ... 0x03] = ANY_REGISTER, [0x08 ... 0x0b] = ANY_REGISTER,	/* add, or */
	[0x10 ... 0x13] = ANY_REGISTER, [0x18 ... 0x1b] = ANY_REGISTER,	/* adc, sbb */
	[0x20 ... 0x23] = ANY_REGISTER, [0x28 ... 0x2b] = ANY_REGISTER,	/* and, sub */
	[0x30 ... 0x33] = ANY_REGISTER, [0x38 ... 0x3b] = ANY_REGISTER,	/* xor, cmp */
	[0x63] = ANY_REGISTER, [0x69] = ANY_REGISTER, [0x6b] = ANY_REGISTER,	/* movsxd, imul */
	[0x84 ... 0x8b] = ANY_REGISTER, [0x8d] = ANY_REGISTER,	/* test, xchg, mov, lea */
	[0x26] = PREFIX, [0x2e] = PREFIX, [0x36] = PREFIX, [0x3e] = PREFIX, [0x64] = PREFIX,
	[0x65] = PREFIX, [0x66] = PREFIX, [0xf2] = PREFIX, [0xf3] = PREFIX,
	[0x40 ... 0x4f] = REX,
	[0x0f] = MAP_0F,
	[0x67] = OTHER, [0xf0] = OTHER,		/* prefixes that are rare */
	[0xc4] = OTHER, OTHER, [0x62] = OTHER,	/* VEX, EVEX */
	[0x8f] = OTHER,				/* XOP, or pop */
};
static uint8_t two_byte[256] = {
	[0x10 ... 0x11] = ANY_REGISTER, [0x28 ... 0x29] = ANY_REGISTER,	/* movs, movaps */
	[0x2e ... 0x2f] = ANY_REGISTER, [0x40 ... 0x4f] = ANY_REGISTER,	/* comis, cmov */
	[0x54] = ANY_REGISTER, [0x57 ... 0x5f] = ANY_REGISTER,	/* andps, xorps, arithmetic */
	[0x6e ... 0x6f] = ANY_REGISTER, [0x7e ... 0x7f] = ANY_REGISTER,	/* movd, movq, movdqa */
	[0xaf] = ANY_REGISTER, [0xb6 ... 0xb7] = ANY_REGISTER,	/* imul, movzx */
	[0xbe ... 0xbf] = ANY_REGISTER, [0xef] = ANY_REGISTER,	/* movsx, pxor */
	[0x0f] = OTHER, [0x38] = OTHER, [0x3a] = OTHER,
};

struct start {			/* prefixes and opcode */
	uint32_t n;			/* bytes */
	uint64_t rex;			/* the lowest bit of REX, where it stands */
	uint8_t *opcode;		/* in a table above */
};

struct head {
	uint64_t key;			/* 0: not one that is kept, or ModRM unknown */
	uint8_t *opcode;		/* in a table above, if that has to learn it; else NULL */
};

/* The first eight bytes; 0 behind the end: what is cut off there is too short for the form that it
 * then has. */
static uint64_t first_bytes(struct bytes code)
{
	uint64_t v = 0;

	if (code.n >= sizeof(v))
		memcpy(&v, code.p, sizeof(v));
	else if (code.n)
		memcpy(&v, code.p, code.n);
	return v;
}

/* `v` are the first bytes. */
static inline struct start read_start(uint64_t v)
{
	struct start s = { 0 };

	for (; s.n < MAX_PREFIXES && one_byte[v & 0xff] == PREFIX; s.n++)
		v >>= 8;
	if (one_byte[v & 0xff] == REX) {
		v >>= 8;
		s.rex = (uint64_t)1 << 8 * s.n++;
	}
	s.opcode = &one_byte[v & 0xff];
	s.n++;
	if (*s.opcode == MAP_0F) {
		s.opcode = &two_byte[v >> 8 & 0xff];
		s.n++;
	}
	return s;
}

static struct head read_head(struct bytes code)
{
	uint64_t v = first_bytes(code), no_base = 0;
	struct start s = read_start(v);

	if (*s.opcode > ANY_REGISTER)
		return (struct head){ 0, NULL };
	if (*s.opcode == OPCODE)
		return (struct head){ 0, s.opcode };
	if (*s.opcode == ANY_REGISTER)
		v &= ~(s.rex * REX_RXB | (uint64_t)MODRM_REG << 8 * s.n);
	if (*s.opcode >= OPCODE_MODRM) {
		uint64_t rest = v >> 8 * s.n++;
		uint8_t modrm = rest & 0xff, sib = rest >> 8 & 0xff;

		no_base = modrm >> 6 == 0 && (modrm & 7) == SIB_FOLLOWS && (sib & 7) == SIB_NO_BASE;
	}
	if (s.n > code.n || s.n > MAX_KEY)
		return (struct head){ 0, NULL };
	uint64_t mask = ((uint64_t)1 << (8 * s.n)) - 1;
	return (struct head){ (v & mask) | (no_base << 63) | (uint64_t)s.n << 56, NULL };
}

static struct memo *slot_of(uint64_t key)
{
	static struct memo memo[1 << MEMO_BITS];
	static const uint64_t GOLDEN = 0x9e3779b97f4a7c15;

	return &memo[key * GOLDEN >> (64 - MEMO_BITS)];
}

/* The form of what code begins with, NULL if none; it may stand in *asked. */
static const struct insn_form *form_of(struct bytes code, struct insn_form *asked)
{
	struct head h = read_head(code);
	struct memo *m = slot_of(h.key);

	if (h.key && m->key == h.key)
		return m->form.insn.len <= code.n ? &m->form : NULL;
	if (!insn_form_read(code, asked))
		return NULL;
	if (h.key)
		*m = (struct memo){ h.key, *asked };
	if (h.opcode)
		*h.opcode = asked->has_modrm ? OPCODE_MODRM : OPCODE_ALONE;
	return asked;
}

bool insn_form_recall(struct bytes code, struct insn_form *out)
{
	const struct insn_form *form = form_of(code, out);

	if (form && form != out)
		*out = *form;
	return form;
}

bool insn_decode(struct bytes code, vaddr addr, struct insn *out, vaddr *target)
{
	struct insn_form asked;
	const struct insn_form *form = form_of(code, &asked);

	if (!form)
		return false;
	*out = form->insn;
	*target = out->field ? insn_target(out, code.p, addr) : 0;
	return true;
}

uint64_t insn_pattern(struct bytes code)
{
	uint64_t v = first_bytes(code);
	struct start s = read_start(v);

	if (*s.opcode > ANY_REGISTER || *s.opcode == OPCODE)
		return 0;
	if (*s.opcode == ANY_REGISTER)
		v &= ~(s.rex * REX_R | (uint64_t)MODRM_REG << 8 * s.n);
	if (*s.opcode >= OPCODE_MODRM) {
		uint8_t modrm = v >> 8 * s.n & 0xff;

		s.n += modrm >> 6 != 3 && (modrm & 7) == SIB_FOLLOWS ? 2 : 1;
	}
	return s.n <= MAX_KEY ? v & (((uint64_t)1 << (8 * s.n)) - 1) : 0;
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
	struct insn_form asked;
	const struct insn_form *form = form_of(code, &asked);

	for (uint32_t i = 0; form && i < form->nconstant; i++)
		out[i] = constant_at(code.p, &form->constant[i]);
	return form ? form->nconstant : 0;
}
