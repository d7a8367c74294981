/* decode_memo.c - decodes instructions by remembering the forms of earlier ones
 *
 * A program has millions of instructions and some ten thousand forms.  The form follows from
 * the first bytes: prefixes, opcode and ModRM, and whether the SIB byte asks for a displacement
 * without a base.  After these come only the rest of the SIB byte, displacement and immediates,
 * whose values change nothing that struct insn_form says.  So the first bytes are the key, and
 * Zydis is asked once for each key.  In most instructions with a ModRM byte the registers
 * change nothing either.  Their bits are left out of the key, so a large program has some
 * thousand keys, few enough to stay in the cache.
 *
 * KEPT     Instructions of the one-byte and 0F maps, with at most three prefixes and REX.
 *          Where other bytes count as well (VEX, EVEX, XOP, the other maps) Zydis is asked
 *          every time.  Failures are not kept.
 * SPEED    Where an instruction begins is known only after the one in front of it has been
 *          looked up, and the processor cannot predict whether it has REX or a ModRM byte.  So
 *          finding the key branches on neither, and several codes are decoded side by side, one
 *          instruction of each in turn (insn_decode_runs()).
 *
 * That an answer from memory is the answer of Zydis is tested over all opcodes and ModRM bytes
 * (tests/unit/binary/test_decode.c).
 */
#include <string.h>

#include "binary/decode_form.h"

/* 2^14 slots are some times the thousand keys of a large program; chosen. */
enum { MEMO_BITS = 14, MAX_PREFIXES = 3, SIB_FOLLOWS = 4, SIB_NO_BASE = 5, REX = 0x40, MAP_0F =
       0x0f };

struct memo {
	uint64_t key;			/* 0: empty */
	struct insn_form form;
};

/* What counts of an instruction with that opcode, as bits of 0F, opcode, ModRM and REX, from
 * the lowest byte on.  Whether an opcode has a ModRM byte is what Zydis said of it the first
 * time; ANY_REGISTER: it has, and neither its register field nor those in REX change
 * anything. */
enum {
	UNKNOWN = 0, ALONE = 0x4f00ffff, MODRM = 0x4fffffff, ANY_REGISTER = 0x48c7ffff,
	REX_R = 0x04000000, MODRM_REG = 0x380000,
	PREFIX = 1, OTHER = 2,		/* no opcode whose forms are kept */
	IS_KEPT = 0x40000000,
};

static uint32_t one_byte[256] = {
	[0x00 ... 0x03] = ANY_REGISTER,
	[0x08 ... 0x0b] = ANY_REGISTER,	/* add, or */
	[0x10 ... 0x13] = ANY_REGISTER,
	[0x18 ... 0x1b] = ANY_REGISTER,	/* adc, sbb */
	[0x20 ... 0x23] = ANY_REGISTER,
	[0x28 ... 0x2b] = ANY_REGISTER,	/* and, sub */
	[0x30 ... 0x33] = ANY_REGISTER,
	[0x38 ... 0x3b] = ANY_REGISTER,	/* xor, cmp */
	[0x63] = ANY_REGISTER,
	[0x69] = ANY_REGISTER,
	[0x6b] = ANY_REGISTER,	/* movsxd, imul */
	[0x84 ... 0x8b] = ANY_REGISTER,
	[0x8d] = ANY_REGISTER,	/* test, xchg, mov, lea */
	[0x26] = PREFIX,
	[0x2e] = PREFIX,
	[0x36] = PREFIX,
	[0x3e] = PREFIX,
	[0x64] = PREFIX,
	[0x65] = PREFIX,
	[0x66] = PREFIX,
	[0xf2] = PREFIX,
	[0xf3] = PREFIX,
	[0x40 ... 0x4f] = OTHER,	 /* REX behind REX */
	[0x67] = OTHER,
	[0xf0] = OTHER,	/* prefixes that are rare */
	[0xc4] = OTHER,
	OTHER,
	[0x62] = OTHER,	/* VEX, EVEX */
	[0x8f] = OTHER,	/* XOP, or pop */
};
static uint32_t two_byte[256] = {
	[0x10 ... 0x11] = ANY_REGISTER, [0x28 ... 0x29] = ANY_REGISTER,	/* movs, movaps */
	[0x2e ... 0x2f] = ANY_REGISTER, [0x40 ... 0x4f] = ANY_REGISTER,	/* comis, cmov */
	[0x54] = ANY_REGISTER, [0x57 ... 0x5f] = ANY_REGISTER,	/* andps, xorps, arithmetic */
	[0x6e ... 0x6f] = ANY_REGISTER, [0x7e ... 0x7f] = ANY_REGISTER,	/* movd, movq, movdqa */
	[0xaf] = ANY_REGISTER, [0xb6 ... 0xb7] = ANY_REGISTER,	/* imul, movzx */
	[0xbe ... 0xbf] = ANY_REGISTER, [0xef] = ANY_REGISTER,	/* movsx, pxor */
	[0x0f] = OTHER, [0x38] = OTHER, [0x3a] = OTHER,
};

struct start {
	uint64_t front;			/* three prefixes, REX; 0 for what is not there */
	uint64_t code;			/* 0F or 0, opcode, what follows */
	uint32_t *counts;		/* in a table above */
};

/* Takes them off the first bytes. */
static uint64_t take_prefixes(uint64_t v, uint64_t *front)
{
	uint32_t bits = 0;

	for (uint64_t rest = v; bits < 8 * MAX_PREFIXES && one_byte[rest & 0xff] == PREFIX;
	     rest >>= 8)
		bits += 8;
	*front = v & (((uint64_t)1 << bits) - 1);
	return v >> bits;
}

/* What is cut off behind the end is too short for the form that it then has. */
static inline struct start read_start(struct bytes code)
{
	uint64_t v = bytes_first(code);
	struct start s = { 0 };

	if (one_byte[v & 0xff] == PREFIX)
		v = take_prefixes(v, &s.front);
	uint64_t is_rex = (v & 0xf0) == REX;
	s.front |= (v & (0 - is_rex) & 0xff) << 24;
	v >>= 8 * is_rex;
	bool is_two = (v & 0xff) == MAP_0F;
	s.counts = is_two ? &two_byte[v >> 8 & 0xff] : &one_byte[v & 0xff];
	s.code = v << 8 * !is_two;
	return s;
}

/* Never 0, and never one that is kept of what is not. */
static inline uint64_t key_of(const struct start *s)
{
	uint64_t counts = *s->counts,
		 no_base = (s->code >> 16 & 0x07c7) == (SIB_NO_BASE << 8 | SIB_FOLLOWS);

	return (s->code & counts & 0xffffff) | (s->front & (counts | 0xffffff)) << 24 |
	       no_base << 63 | (counts & IS_KEPT) << 32 | (uint64_t)1 << 61;
}

static struct memo *slot_of(uint64_t key)
{
	static struct memo memo[1 << MEMO_BITS];
	static const uint64_t GOLDEN = 0x9e3779b97f4a7c15;

	return &memo[key * GOLDEN >> (64 - MEMO_BITS)];
}

/* Zydis is asked. */
static const struct insn_form *ask(struct bytes code, const struct start *s, struct memo *m,
				   struct insn_form *asked)
{
	uint64_t key = key_of(s);

	if (!insn_form_read(code, asked))
		return NULL;
	if (*s->counts & IS_KEPT)
		*m = (struct memo){ key, *asked };
	if (*s->counts == UNKNOWN)
		*s->counts = asked->has_modrm ? MODRM : ALONE;
	return asked;
}

/* The form of what code begins with, NULL if none; it may stand in *asked. */
static inline const struct insn_form *form_of(struct bytes code, struct insn_form *asked)
{
	struct start s = read_start(code);
	uint64_t key = key_of(&s);
	struct memo *m = slot_of(key);

	if (m->key == key)
		return m->form.insn.len <= code.n ? &m->form : NULL;
	return ask(code, &s, m, asked);
}

bool insn_form_recall(struct bytes code, struct insn_form *out)
{
	const struct insn_form *form = form_of(code, out);

	if (form && form != out)
		*out = *form;
	return form;
}

static inline bool read_insn(struct bytes code, struct insn *out)
{
	struct insn_form asked;
	const struct insn_form *form = form_of(code, &asked);

	if (form)
		*out = form->insn;
	return form;
}

bool insn_decode(struct bytes code, vaddr addr, struct insn *out, vaddr *target)
{
	if (!read_insn(code, out))
		return false;
	*target = out->field ? insn_target(out, code.p, addr) : 0;
	return true;
}

struct lane {
	struct insn_run *run;		/* NULL: there is none left */
	uint64_t off;
};

/* False when the run is over. */
static inline bool decode_next(struct lane *l)
{
	struct insn_run *r = l->run;
	struct insn *insn = &r->insn[r->n];

	if (l->off == r->code.n ||
	    !read_insn((struct bytes){ r->code.p + l->off, r->code.n - l->off }, insn))
		return false;
	insn->off = (uint32_t)l->off;
	l->off += insn->len;
	r->n++;
	return true;
}

void insn_decode_runs(struct insn_run *run, uint32_t nrun, struct insn *room)
{
	struct insn_run *end = run + nrun;
	struct lane a = { NULL, 0 }, b = { NULL, 0 };

	for (struct insn_run *r = run; r < end; room += r++->code.n) {
		r->insn = room;
		r->n = 0;
	}
	for (;;) {
		if (!a.run && run < end)
			a = (struct lane){ run++, 0 };
		if (!b.run && run < end)
			b = (struct lane){ run++, 0 };
		if (!a.run || !b.run)
			break;
		bool a_goes_on, b_goes_on;
		do {
			a_goes_on = decode_next(&a);
			b_goes_on = decode_next(&b);
		} while (a_goes_on && b_goes_on);
		a.run = a_goes_on ? a.run : NULL;
		b.run = b_goes_on ? b.run : NULL;
	}
	while (a.run && decode_next(&a))
		;
	while (b.run && decode_next(&b))
		;
}

uint64_t insn_pattern(struct bytes code)
{
	struct start s = read_start(code);
	uint64_t front = s.front, v = s.code & 0xffffffff, modrm = v >> 16 & 0xff;

	if (!(*s.counts & IS_KEPT))
		return 0;
	if (*s.counts == ANY_REGISTER) {
		front &= ~(uint64_t)REX_R;
		v &= ~(uint64_t)MODRM_REG;
	}
	if (*s.counts == ALONE)
		v &= 0xffff;
	else if (modrm >> 6 == 3 || (modrm & 7) != SIB_FOLLOWS)
		v &= 0xffffff;
	return front << 32 | v;
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
