/* absop.h - instructions as the jump table analysis sees them; internal to PostMorph
 *
 * Only general registers, memory operands and the flags of comparisons exist here.  Registers
 * are 0..15 in encoding order.  Whatever has no kind of its own is OP_OTHER with its effects
 * spelled out in the masks, so that an unknown instruction can never be taken for harmless.
 */
#ifndef POSTMORPH_TABLES_ABSOP_H
#define POSTMORPH_TABLES_ABSOP_H

#include "binary/decode.h"

enum { ABS_NREG = 16, ABS_NONE = 0xff, ABS_RIP = 16, ABS_NO_GROUP = 0xffff };

enum op_kind {
	OP_OTHER,
	OP_MOVE,	 /* dst <- src extended from src_bits (sign if sx), bits 32 or 64 */
	OP_LOAD,	 /* dst <- mem extended from src_bits, bits 32 or 64 */
	OP_STORE,	/* mem <- src, src_bits */
	OP_CONST,	/* dst <- imm, zero-extended to 64 bits */
	OP_LEA,	/* dst <- address of mem, bits 32 or 64 */
	OP_ADD,	/* dst <- dst + src, 64 bits */
	OP_AND,	/* dst <- dst & imm */
	/* dst <- dst op src, where the low bits of the result depend on those of the
	 * operands only; src ABS_NONE: some constant */
	OP_LOGIC,
	OP_CMOV,	 /* dst <- dst or src */
	OP_PUSH,	 /* stack <- src, 64 bits */
	OP_SHR,	/* dst <- dst >> imm, unsigned */
	OP_CMP_IMM,	/* compare dst (or mem if dst is ABS_NONE) with imm */
	OP_JCC,	/* imm is the condition code, 0..15 */
	OP_JMP_REG,	/* jmp *src */
	OP_JMP_MEM,	/* jmp *mem */
	OP_CALL,	 /* caller-saved registers, flags and memory are unknown after it */
	OP_KERNEL,	/* a call of the kernel, which may leave the flags as they are */
};

struct op_mem {			/* base + index * scale + disp; no segment of its own */
	uint8_t base, index, scale;	/* ABS_NONE; base ABS_RIP: disp is the address */
	uint8_t bytes;		/* accessed, 0 = unknown or large */
	bool other;		/* a segment or address size that we do not follow */
	int64_t disp;
};

struct op {
	uint8_t kind;		/* enum op_kind */
	uint8_t bits;		/* operation width */
	uint8_t src_bits;
	bool sx;
	uint8_t dst, src;
	bool has_mem, reads_mem, writes_mem;
	bool reads_frame;	/* of its places in memory frame(%rsp) is read */
	uint8_t frame_bytes;	/* 255: unknown or larger */
	int32_t frame;
	bool flags;		/* changes CF or ZF */
	/* set by jumptable.c: a load that may get a displacement, and one that may compare its
	 * index first */
	bool movable, guardable;
	uint8_t flags_read;	/* a bit per condition flag: CF PF AF ZF SF OF */
	uint8_t flags_written;	/* likewise, always */
	uint8_t flags_repeated;	/* likewise, unless rcx is 0 */
	/* OP_OTHER (and address registers of any mem, for all kinds): by width of access */
	uint16_t reads, reads16, reads8;	/* 32 or 64 bits; 16 bits or ah..; low 8 bits */
	uint16_t writes, partial;	/* all of the register; 8 or 16 bits of it */
	uint16_t writes32;	/* of `writes`: as 32 bits, which clears the upper half */
	uint16_t partial16;		/* of `partial`: the low 16 bits */
	uint16_t group;		/* set by jumptable.c: candidate table whose address the
				 * instruction forms, ABS_NO_GROUP if none */
	struct op_mem mem;
	int64_t imm;
};

/* code is one instruction, `insn` by insn_decode(), at addr. */
void op_decode(struct bytes code, const struct insn *insn, vaddr addr, struct op *out);

#endif
