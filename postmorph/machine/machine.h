/* machine.h - interprets instructions on a state of which only a part is known
 *
 * The state has general registers and flags, each byte and each flag known or not, and memory
 * (memview.h).  The result of an instruction is known when everything that it depends on is
 * known; otherwise it is unknown, with the cause.  As far as possible, whether something is
 * known does not depend on values, because the branches that can be followed would then be a
 * biased choice.  (An unknown bit AND a known zero stays unknown.)
 *
 * Vector and other registers are not modelled: what comes from there is unknown.
 */
#ifndef POSTMORPH_MACHINE_MACHINE_H
#define POSTMORPH_MACHINE_MACHINE_H

#include "lib/statesample.h"
#include "postmorph/machine/alu.h"
#include "postmorph/machine/memview.h"

enum { MACHINE_RSP = 4, MACHINE_GPRS = 16 };
enum { MACHINE_CALLER_SAVED = 0x0fc7 };	/* rax rcx rdx rsi rdi r8..r11 */

struct machine {
	struct value reg[MACHINE_GPRS];	/* in encoding order */
	uint16_t flags, flags_known;	/* FLAG_* */
	uint8_t flags_why;		/* enum unknown */
	vaddr pc;			/* in the file's addresses; run time: + memory.bias */
	struct memview memory;
};

enum act_kind {
	ACT_OTHER,	/* what it writes becomes unknown */
	ACT_NOP,
	ACT_MOVE,	/* dst <- a, zero-extended or (sx) sign-extended */
	ACT_LEA,
	ACT_ALU,	/* dst <- alu(a, b, c); dst may be none */
	ACT_WIDE,	/* rdx:rax (or ax) <- a * alu */
	ACT_DIVIDE,	/* rax, rdx (or al, ah) <- rdx:rax / a */
	ACT_SIGN,	/* rdx <- sign of rax */
	ACT_SET,
	ACT_CMOV,	/* by cond */
	ACT_CARRY,	/* CF <- imm, or its complement if imm is 2 */
	ACT_PUSH,
	ACT_POP,
	ACT_LEAVE,
	ACT_EXCHANGE,
	ACT_EXCHANGE_ADD,
	ACT_GUARD,	/* subtraction of the stack protector's guard from a copy of it */
	ACT_JMP,
	ACT_JCC,
	ACT_LOOP,
	ACT_IJMP,
	ACT_CALL,
	ACT_ICALL,
	ACT_RET,
	ACT_STOP,	/* the kernel, an exception, a transaction: not followed */
};

enum arg_kind { ARG_NONE, ARG_REG, ARG_HIGH, ARG_MEM, ARG_IMM };

struct arg {
	uint8_t kind;		/* enum arg_kind; HIGH: bits 8..15 of a register */
	uint8_t reg;
	uint8_t bits;		/* 8, 16, 32, 64 */
};

enum { ACT_NO_REG = 0xff, ACT_RIP = 16 };

struct act {			/* one instruction, ready to be followed */
	uint8_t kind, len;
	uint8_t bits;		/* of the operation */
	uint8_t alu;		/* enum alu */
	uint8_t cond;		/* of JCC, SET, CMOV; of LOOP: enum act_loop */
	bool sx;
	/* ALU of a register with itself: what was in it does not matter */
	bool clears;
	struct arg dst, a, b, c;
	struct {
		/* ACT_NO_REG; base ACT_RIP: disp is the address */
		uint8_t base, index, scale;
		/* a segment of its own, a vector of addresses */
		bool opaque;
		bool narrow;			/* 32-bit address */
		int64_t disp;
	} mem;
	/* constant; target of JMP, JCC, LOOP, CALL; bytes that RET pops */
	uint64_t imm;
	/* OTHER: */
	/* registers written as a whole (32 or 64 bits), in part */
	uint16_t wipes, wipes_part;
	uint16_t wipes_flags;
	/* bytes written at mem; UINT16_MAX: who knows how many and where */
	uint16_t stores;
};

enum act_loop { LOOP_PLAIN, LOOP_EQUAL, LOOP_NOT_EQUAL, LOOP_RCX_ZERO, LOOP_ECX_ZERO };

/* Always fills *out: what does not decode is ACT_STOP with len 0. */
void act_lower(struct bytes code, vaddr addr, struct act *out);
/* What the instruction itself may change: registers, but for rsp by a call; flags; bytes at
 * mem (UINT16_MAX: who knows how many and where), besides what a push or call leaves on the
 * stack. */
uint16_t act_writes(const struct act *act);
bool act_writes_flags(const struct act *act);
uint16_t act_stores(const struct act *act);
/* A jump or call through one fixed word, as linkage stubs have it: no choice. */
bool act_is_through_slot(const struct act *act);

enum step {
	STEP_ON,		/* to the next instruction, or along a direct jump */
	STEP_BRANCH,		/* a conditional branch or indirect jump was decided */
	STEP_CALL, STEP_ICALL, STEP_RET,
	STEP_UNKNOWN,		/* where control goes is not known: *why */
	STEP_STOP,		/* not to be followed any further */
};

void machine_start(struct machine *m, const struct memview_file *file,
		   const struct statesample *sample);
/* Follows one instruction; m->pc is where control is then, unchanged on UNKNOWN and STOP. */
enum step machine_step(struct machine *m, const struct act *act, enum unknown *why);
/* Makes unknown what code that was not followed may have written. */
void machine_lose(struct machine *m, uint16_t registers, bool flags);

#endif
