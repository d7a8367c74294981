/* effect.h - what one instruction reads, writes and does with a jump table's address */
#ifndef VERIFY_EFFECT_H
#define VERIFY_EFFECT_H

#include "binary/decode.h"

enum effect_op {
	FX_NONE,
	FX_COPY,		/* a = b, 64 bits */
	FX_COPY_LOW,		/* a = b, 32 bits, the upper ones become zero */
	/* a op= b or a constant; the lowest bits of the result depend on those of the
	 * operands only */
	FX_BITS,
	FX_CHOOSE,		/* a = a or b, 32 or 64 bits (cmov) */
	FX_LOW_BITS,		/* a &= the constant `value`, which leaves its lowest bits */
	FX_MIX,			/* a = b + c * k + constant, 32 or 64 bits (lea); likewise */
	FX_BASE,		/* a = the address `value` (lea value(%rip), a) */
	FX_LOAD,		/* a = sign-extended 32 bits at b + index * 4 */
	FX_SCALE,		/* a = 4 * b (lea (,b,4), a) */
	FX_WORD,		/* a = zero-extended 32 bits at b + c * 4 */
	FX_WORD_SUM,		/* a = zero-extended 32 bits at b + c */
	FX_EXTEND,		/* a = sign-extended lower 32 bits of b */
	FX_ADD,			/* a += b, 64 bits */
	FX_SUM,			/* a = b + c (lea (b,c), a) */
	FX_PUSH,		/* push a */
	FX_POP,			/* pop a */
	FX_SPILL,		/* mov a, disp(%rsp), 32 or 64 bits */
	FX_RELOAD,		/* mov disp(%rsp), a, likewise */
	FX_TABLE,		/* a = 64 bits at `value` + index * 8 */
	FX_JUMP,		/* jmp a */
	FX_JUMP_TABLE,		/* jmp to 64 bits at `value` + index * 8 */
};

/* Masks: bit i is general register i in encoding order; flags are CF PF AF ZF SF OF, from the
 * lowest bit on. */
struct effect {
	uint16_t reads;		/* but for what op itself names as b, c, or a of ADD and JUMP */
	uint16_t kills;		/* overwritten as a whole */
	uint16_t clobbers;	/* overwritten in part, or perhaps */
	uint16_t low_reads, word_reads;		/* only the lowest 8, 16 bits are read */
	/* exactly these are overwritten; also in clobbers */
	uint16_t low_kills, word_kills;
	uint8_t flags_read, flags_written;
	uint8_t repeats;	/* flags written if rcx is not 0: a repeated comparison */
	/* it may read or write memory, or end in a fault for another reason */
	bool faults;
	bool kernel;		/* syscall */
	bool null;		/* writes to the first page of memory, by a constant address */
	/* kills has, or the jump goes to, 64 bits of memory as they are: not by %fs or %gs, and
	 * of no frame, where a compiler keeps what was calculated */
	bool fetches;
	bool sets_count;	/* rcx becomes a constant other than 0 */
	bool frame, frame_read;	/* disp(%rsp) is an operand, and is read */
	uint8_t span;		/* bytes of that; 255: unknown or larger */
	int32_t at;		/* its displacement */
	int32_t stack;		/* slots of 8 bytes by which the stack grows; not of calls */
	bool moves_stack;	/* rsp becomes something else */
	uint8_t op;		/* enum effect_op */
	uint8_t a, b, c;
	uint8_t kind, len;	/* as in struct insn */
	vaddr target;		/* of a direct branch */
	vaddr value;
	vaddr slot;		/* of an indirect call or jump through (slot)(%rip), else 0 */
};

/* False when `code` does not begin with a whole instruction that the decoder knows. */
bool effect_decode(struct bytes code, vaddr addr, struct effect *out);
/* A store by a null pointer with ud2 behind it, as compilers leave of what has no meaning: it
 * faults before it stores anything.  `code` begins with the instruction. */
bool effect_is_null_store(const struct effect *e, struct bytes code);

#endif
