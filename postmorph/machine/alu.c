/* alu.c - computes results and flags of integer instructions as the processor does
 *
 * Each operation is a function of its operands that gives the result and the flags.
 *
 * Tested by tests/unit/postmorph/machine/test_machine.c, which compares all of them with the
 * processor itself.
 */
#include "postmorph/machine/alu.h"

enum { STATUS = FLAG_SF | FLAG_ZF | FLAG_PF };

static bool msb(uint64_t v, unsigned bits)
{
	return v >> (bits - 1) & 1;
}

uint16_t alu_flags_of(uint64_t value, unsigned bits)
{
	uint16_t flags = 0;

	if (value == 0)
		flags |= FLAG_ZF;
	if (msb(value, bits))
		flags |= FLAG_SF;
	if (!__builtin_parity((unsigned)(value & 0xff)))
		flags |= FLAG_PF;
	return flags;
}

uint16_t alu_writes(enum alu op)
{
	switch (op) {
	case ALU_NOT: case ALU_BSWAP:
		return 0;
	case ALU_INC: case ALU_DEC:
		return FLAGS_ALL & ~FLAG_CF;
	case ALU_ROL: case ALU_ROR:
		return FLAG_CF | FLAG_OF;
	case ALU_BT: case ALU_BTS: case ALU_BTR: case ALU_BTC:
		return FLAGS_ALL & ~FLAG_ZF;
	default:
		return FLAGS_ALL;
	}
}

static void set(struct alu_out *out, unsigned bits, uint64_t value, uint16_t flags,
		uint16_t defined)
{
	out->value = alu_low(value, bits);
	out->flags = flags | alu_flags_of(out->value, bits);
	out->defined = defined | STATUS;
}

static void add(struct alu_out *out, unsigned bits, uint64_t a, uint64_t b, bool carry)
{
	uint64_t r = alu_low(a + b + carry, bits);
	uint16_t flags = 0;

	if (r < a || (carry && r == a))
		flags |= FLAG_CF;
	if (msb((a ^ r) & (b ^ r), bits))
		flags |= FLAG_OF;
	flags |= (a ^ b ^ r) & FLAG_AF;
	set(out, bits, r, flags, FLAGS_ALL);
}

static void subtract(struct alu_out *out, unsigned bits, uint64_t a, uint64_t b, bool borrow)
{
	uint64_t r = alu_low(a - b - borrow, bits);
	uint16_t flags = 0;

	if (a < b || (borrow && a == b))
		flags |= FLAG_CF;
	if (msb((a ^ b) & (a ^ r), bits))
		flags |= FLAG_OF;
	flags |= (a ^ b ^ r) & FLAG_AF;
	set(out, bits, r, flags, FLAGS_ALL);
}

/* No flag changes when the count, taken modulo 32 or 64, is zero. */
static void shift(enum alu op, struct alu_out *out, unsigned bits, uint64_t a, unsigned count)
{
	uint16_t flags = 0, defined = FLAG_CF;
	uint64_t r;
	bool carry;

	if (op == ALU_SHL) {
		r = alu_low(count >= bits ? 0 : a << count, bits);
		carry = count <= bits && (a >> (bits - count) & 1);
	} else if (op == ALU_SHR) {
		r = count >= bits ? 0 : a >> count;
		carry = count <= bits && (a >> (count - 1) & 1);
	} else {
		r = (uint64_t)(alu_signed(a, bits) >> (count >= bits ? bits - 1 : count));
		carry = alu_signed(a, bits) >> (count > bits ? bits - 1 : count - 1) & 1;
	}
	if (op != ALU_SAR && count > bits)
		defined = 0;
	if (carry)
		flags |= FLAG_CF;
	if (count == 1) {
		defined |= FLAG_OF;
		if (op == ALU_SHR ? msb(a, bits) : op == ALU_SHL && msb(r, bits) != carry)
			flags |= FLAG_OF;
	}
	set(out, bits, r, flags, defined);
}

static void rotate(enum alu op, struct alu_out *out, unsigned bits, uint64_t a, unsigned count)
{
	unsigned n = (op == ALU_ROL ? count : bits - count % bits) % bits;
	uint64_t r = n ? alu_low(a << n, bits) | a >> (bits - n) : a;
	bool carry = op == ALU_ROL ? r & 1 : msb(r, bits);

	out->value = r;
	out->flags = carry ? FLAG_CF : 0;
	out->defined = FLAG_CF;
	if (count == 1) {
		out->defined |= FLAG_OF;
		if (op == ALU_ROL ? msb(r, bits) != carry : msb(r, bits) != msb(r << 1, bits))
			out->flags |= FLAG_OF;
	}
}

static void shift_double(enum alu op, struct alu_out *out, unsigned bits, uint64_t a,
			 uint64_t b, unsigned count)
{
	uint64_t r, carry;

	if (count > bits || count == bits) {
		out->undefined = true;
		return;
	}
	if (op == ALU_SHLD) {
		r = alu_low(a << count | b >> (bits - count), bits);
		carry = a >> (bits - count) & 1;
	} else {
		r = alu_low(a >> count | b << (bits - count), bits);
		carry = a >> (count - 1) & 1;
	}
	uint16_t flags = carry ? FLAG_CF : 0;
	if (msb(a, bits) != msb(r, bits))
		flags |= FLAG_OF;
	set(out, bits, r, flags, count == 1 ? FLAG_CF | FLAG_OF : FLAG_CF);
}

static void multiply(enum alu op, struct alu_out *out, unsigned bits, uint64_t a, uint64_t b)
{
	unsigned __int128 r;
	bool overflow;

	if (op == ALU_MUL_WIDE) {
		r = (unsigned __int128)a * b;
		overflow = r >> bits != 0;
	} else {
		__int128 s = (__int128)alu_signed(a, bits) * alu_signed(b, bits);

		r = (unsigned __int128)s;
		overflow = s != alu_signed((uint64_t)r, bits);
	}
	out->value = alu_low((uint64_t)r, bits);
	out->high = alu_low((uint64_t)(r >> bits), bits);
	out->flags = overflow ? FLAG_CF | FLAG_OF : 0;
	out->defined = FLAG_CF | FLAG_OF;
}

static bool divide(enum alu op, struct alu_out *out, unsigned bits, const uint64_t operand[3])
{
	uint64_t low = alu_low(operand[0], bits), high = alu_low(operand[1], bits);
	uint64_t by = alu_low(operand[2], bits);
	unsigned __int128 n = (unsigned __int128)high << bits | low;

	if (by == 0)
		return false;
	if (op == ALU_DIV) {
		if (n / by > alu_low(UINT64_MAX, bits))
			return false;
		out->value = (uint64_t)(n / by);
		out->high = (uint64_t)(n % by);
		return true;
	}
	unsigned unused = 128 - 2 * bits;
	__int128 s = (__int128)(n << unused) >> unused, d = alu_signed(by, bits);
	if (d == -1 && s == (__int128)((unsigned __int128)1 << 127))
		return false;
	if (s / d != alu_signed((uint64_t)(s / d), bits))
		return false;
	out->value = alu_low((uint64_t)(s / d), bits);
	out->high = alu_low((uint64_t)(s % d), bits);
	return true;
}

static void bit_test(enum alu op, struct alu_out *out, unsigned bits, uint64_t a, uint64_t b)
{
	uint64_t bit = (uint64_t)1 << (b % bits);

	out->flags = a & bit ? FLAG_CF : 0;
	out->defined = FLAG_CF;
	out->value = op == ALU_BTS ? a | bit : op == ALU_BTR ? a & ~bit :
		     op == ALU_BTC ? a ^ bit : a;
}

static void bit_scan(enum alu op, struct alu_out *out, unsigned bits, uint64_t a)
{
	unsigned first = a ? (unsigned)__builtin_ctzll(a) : bits;
	unsigned leading = a ? (unsigned)__builtin_clzll(a) - (64 - bits) : bits;

	if (op == ALU_BSF || op == ALU_BSR) {
		out->undefined = a == 0;
		out->value = op == ALU_BSF ? first : bits - 1 - leading;
		out->flags = a ? 0 : FLAG_ZF;
		out->defined = FLAG_ZF;
		return;
	}
	out->value = op == ALU_TZCNT ? first : leading;
	out->flags = (a ? 0 : FLAG_CF) | (out->value ? 0 : FLAG_ZF);
	out->defined = FLAG_CF | FLAG_ZF;
}

static void lowest_bit(enum alu op, struct alu_out *out, unsigned bits, uint64_t a)
{
	uint64_t r = op == ALU_BLSR ? a & (a - 1) : op == ALU_BLSI ? a & (0 - a) : a ^ (a - 1);
	bool carry = op == ALU_BLSI ? a != 0 : a == 0;

	set(out, bits, r, carry ? FLAG_CF : 0, FLAG_CF | FLAG_OF);
	out->defined &= ~FLAG_PF;
}

static uint64_t swap_bytes(uint64_t a, unsigned bits)
{
	return bits == 64 ? __builtin_bswap64(a) : __builtin_bswap32((uint32_t)a);
}

static void plain(struct alu_out *out, unsigned bits, uint64_t value)
{
	out->value = alu_low(value, bits);
}

bool alu_run(enum alu op, unsigned bits, const uint64_t operand[3], bool cf,
	     struct alu_out *out)
{
	uint64_t a = alu_low(operand[0], bits), b = alu_low(operand[1], bits);
	unsigned count =
		operand[op == ALU_SHLD || op == ALU_SHRD ? 2 : 1] & (bits == 64 ? 63 : 31);

	*out = (struct alu_out){ .written = alu_writes(op) };
	if (op >= ALU_SHL && op <= ALU_SHRD && count == 0) {
		*out = (struct alu_out){ .value = a };
		return true;
	}
	switch (op) {
	case ALU_ADD: add(out, bits, a, b, false); break;
	case ALU_ADC: add(out, bits, a, b, cf); break;
	case ALU_SUB: subtract(out, bits, a, b, false); break;
	case ALU_SBB: subtract(out, bits, a, b, cf); break;
	case ALU_AND: set(out, bits, a & b, 0, FLAG_CF | FLAG_OF); break;
	case ALU_OR: set(out, bits, a | b, 0, FLAG_CF | FLAG_OF); break;
	case ALU_XOR: set(out, bits, a ^ b, 0, FLAG_CF | FLAG_OF); break;
	case ALU_NOT: plain(out, bits, ~a); break;
	case ALU_NEG: subtract(out, bits, 0, a, false); break;
	case ALU_INC: add(out, bits, a, 1, false); break;
	case ALU_DEC: subtract(out, bits, a, 1, false); break;
	case ALU_SHL: case ALU_SHR: case ALU_SAR: shift(op, out, bits, a, count); break;
	case ALU_ROL: case ALU_ROR: rotate(op, out, bits, a, count); break;
	case ALU_SHLD: case ALU_SHRD: shift_double(op, out, bits, a, b, count); break;
	case ALU_IMUL:
	case ALU_MUL_WIDE:
	case ALU_IMUL_WIDE:
		multiply(op, out, bits, a, b);
		break;
	case ALU_DIV: case ALU_IDIV: return divide(op, out, bits, operand);
	case ALU_BT:
	case ALU_BTS:
	case ALU_BTR:
	case ALU_BTC:
		bit_test(op, out, bits, a, b);
		break;
	case ALU_BSF:
	case ALU_BSR:
	case ALU_TZCNT:
	case ALU_LZCNT:
		bit_scan(op, out, bits, a);
		break;
	case ALU_POPCNT:
		out->value = (unsigned)__builtin_popcountll(a);
		out->flags = a ? 0 : FLAG_ZF;
		out->defined = FLAGS_ALL;
		break;
	case ALU_BSWAP: plain(out, bits, swap_bytes(a, bits)); break;
	case ALU_ANDN:
		set(out, bits, ~a & b, 0, FLAG_CF | FLAG_OF);
		out->defined &= ~FLAG_PF;
		break;
	case ALU_BLSR: case ALU_BLSI: case ALU_BLSMSK: lowest_bit(op, out, bits, a); break;
	case NALU: return false;
	}
	out->defined &= out->written;
	return true;
}

uint16_t alu_condition_reads(unsigned cond)
{
	static const uint16_t reads[8] = {
		FLAG_OF, FLAG_CF, FLAG_ZF,	     FLAG_CF | FLAG_ZF,
		FLAG_SF, FLAG_PF, FLAG_SF | FLAG_OF, FLAG_ZF | FLAG_SF | FLAG_OF,
	};

	return reads[cond >> 1 & 7];
}

bool alu_condition(unsigned cond, uint16_t flags)
{
	bool less = !(flags & FLAG_SF) != !(flags & FLAG_OF);
	bool holds = false;

	switch (cond >> 1 & 7) {
	case 0: holds = flags & FLAG_OF; break;
	case 1: holds = flags & FLAG_CF; break;
	case 2: holds = flags & FLAG_ZF; break;
	case 3: holds = flags & (FLAG_CF | FLAG_ZF); break;
	case 4: holds = flags & FLAG_SF; break;
	case 5: holds = flags & FLAG_PF; break;
	case 6: holds = less; break;
	case 7: holds = less || (flags & FLAG_ZF); break;
	}
	return holds != (cond & 1);
}
