/* alu.h - what integer instructions compute: results and flags from operands
 *
 * It knows numbers only.  Flags are bits as in rflags.  An operation says which flags it writes
 * and which of these the architecture defines: the others may differ between processors.
 */
#ifndef POSTMORPH_MACHINE_ALU_H
#define POSTMORPH_MACHINE_ALU_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FLAG_CF = 0x1, FLAG_PF = 0x4, FLAG_AF = 0x10, FLAG_ZF = 0x40, FLAG_SF = 0x80,
	FLAG_OF = 0x800,
	FLAGS_ALL = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF,
};

enum alu {			/* of operands a, b and c */
	ALU_ADD, ALU_ADC, ALU_SUB, ALU_SBB, ALU_AND, ALU_OR, ALU_XOR, ALU_NOT, ALU_NEG, ALU_INC,
	ALU_DEC, ALU_SHL, ALU_SHR, ALU_SAR, ALU_ROL, ALU_ROR, ALU_SHLD, ALU_SHRD, ALU_IMUL,
	ALU_BT, ALU_BTS, ALU_BTR, ALU_BTC, ALU_BSF, ALU_BSR, ALU_TZCNT, ALU_LZCNT, ALU_POPCNT,
	ALU_BSWAP, ALU_ANDN, ALU_BLSR, ALU_BLSI, ALU_BLSMSK,
	ALU_MUL_WIDE, ALU_IMUL_WIDE,	/* high:value <- a * b */
	ALU_DIV, ALU_IDIV,		/* value, high <- quotient and remainder of b:a by c */
	NALU
};

struct alu_out {
	uint64_t value, high;	/* `bits` of each, zero-extended */
	uint16_t flags;
	uint16_t written, defined;	/* flags that change; of those: that are known */
	bool undefined;		/* the value is not defined */
};

/* Flags that the operation may change, whatever its operands. */
uint16_t alu_writes(enum alu op);
/* Flags of `value` as result: SF, ZF, PF. */
uint16_t alu_flags_of(uint64_t value, unsigned bits);
/* Operands are taken as `bits` wide (8, 16, 32, 64); cf is the carry flag before it.  False
 * when the processor would raise an exception instead. */
bool alu_run(enum alu op, unsigned bits, const uint64_t operand[3], bool cf,
	     struct alu_out *out);
/* Condition code 0..15 as in jcc: the flags it reads; whether it holds. */
uint16_t alu_condition_reads(unsigned cond);
bool alu_condition(unsigned cond, uint16_t flags);

static inline uint64_t alu_low(uint64_t v, unsigned bits)
{
	return bits >= 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

static inline int64_t alu_signed(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

#endif
