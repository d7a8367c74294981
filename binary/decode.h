/* decode.h - one x86-64 instruction, reduced to what moving it needs; decoded by Zydis */
#ifndef BINARY_DECODE_H
#define BINARY_DECODE_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/rd.h"

enum insn_kind {
	INSN_PLAIN,		/* falls through, transfers control nowhere */
	INSN_NOP,		/* no effect at all, any length; endbr64 is PLAIN */
	INSN_CALL,		/* call rel32 */
	INSN_ICALL,		/* call r/m */
	INSN_JMP,		/* jmp rel8/rel32 */
	INSN_JCC,		/* jcc rel8/rel32 */
	INSN_LOOP,		/* loop, loope, loopne, jrcxz, jecxz: rel8 only */
	INSN_IJMP,		/* jmp r/m */
	INSN_RET,		/* ret, iret, sysret */
	/* hlt, ud0, ud1, ud2: does not go on to the next instruction.  int3 is PLAIN: a
	 * handler returns behind it, and may read what stands there */
	INSN_TRAP,
	INSN_XBEGIN,		/* xbegin rel: the abort handler is a branch target */
};

struct insn {
	uint32_t off;		/* from prog->base */
	uint8_t len;		/* 1..15 */
	uint8_t kind;		/* enum insn_kind */
	/* offset in the instruction of the one field that depends on where it stands:
	 * rip-relative disp32, or the branch displacement; 0 = none */
	uint8_t field;
	uint8_t field_size : 7;	/* 1 or 4 bytes; always 4 for a rip-relative operand */
	uint8_t constants : 1;	/* insn_constants() finds some */
};

/* False when `code` does not begin with one complete valid 64-bit instruction (no more than
 * code.n bytes are looked at).  addr is used only for *target (0 when there is no field);
 * out->off is left 0 for the caller to set. */
bool insn_decode(struct bytes code, vaddr addr, struct insn *out, vaddr *target);

/* One stretch of code, usually of a function, and its instructions. */
struct insn_run {
	struct bytes code;
	struct insn *insn;	/* [n] one behind the other; off is from the start of `code` */
	uint32_t n;		/* up to the end of `code`, or to bytes that do not decode */
};

/* Decodes all of run[], two at a time, which takes half as long.  `room` has space for as many
 * instructions as all their codes together have bytes. */
void insn_decode_runs(struct insn_run *run, uint32_t nrun, struct insn *room);

static inline uint64_t insn_run_end(const struct insn_run *r)
{
	return r->n ? r->insn[r->n - 1].off + r->insn[r->n - 1].len : 0;
}

/* A number made of the bytes in front of displacement and immediates, without the register
 * operand's bits in ModRM.  Two instructions with the same number are the same operation on the
 * same operands, except for that register, constants and addresses.  0: not known. */
uint64_t insn_pattern(struct bytes code);

/* True when the processor may run the instruction and a conditional branch right behind it as
 * one (macro-fusion, as Intel's optimization manual describes it).  The branch's condition,
 * which rules out some pairs, is not looked at. */
bool insn_fuses(struct bytes code);

/* The prefix CS means nothing in 64-bit code in front of an instruction that names no segment
 * and is no branch, so it can make an instruction longer.  FRONT_MAX is what the GNU assembler
 * puts there at most: some processors are slow with more.  PREFIXES_MAX is what Valgrind knows,
 * the instruction's own prefixes included. */
enum { INSN_FRONT = 0x2e, INSN_FRONT_MAX = 5, INSN_PREFIXES_MAX = 7 };

/* How many such prefixes may be put in front of the instruction.  More than 0 only where they
 * are known to have no effect: at plain arithmetic and moves between registers that have no
 * prefix but 66 and REX.  A handler of faults may add the length of an instruction that can
 * fault. */
uint32_t insn_front_room(const struct insn *insn, const uint8_t *code);

/* Target of the position-dependent field: branch target, or address of the rip-relative
 * operand.  `code` are the instruction's bytes at `addr`; field must not be 0. */
vaddr insn_target(const struct insn *insn, const uint8_t *code, vaddr addr);

/* `lea ADDRESS(%rip)` into a 64-bit register: forms an address and does nothing else. */
static inline bool insn_is_lea(const struct insn *insn, const uint8_t *code)
{
	enum { REX_W = 0x48, LEA = 0x8d };

	return insn->kind == INSN_PLAIN && insn->field >= 3 && code[insn->field - 2] == LEA &&
	       (code[insn->field - 3] & 0xf8) == REX_W;
}

/* 32- and 64-bit constants in the operands that may be absolute addresses, sign-extended:
 * displacements that are not relative to rip, and immediates.  Returns how many. */
enum { INSN_MAX_CONSTANTS = 3 };
uint32_t insn_constants(struct bytes code, uint64_t out[INSN_MAX_CONSTANTS]);

/* A direct branch: its field is a displacement. */
static inline bool insn_is_branch(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_JMP || insn->kind == INSN_JCC ||
	       insn->kind == INSN_LOOP || insn->kind == INSN_XBEGIN;
}

/* True when control never reaches the next instruction through this one. */
static inline bool insn_ends_flow(const struct insn *insn)
{
	return insn->kind == INSN_JMP || insn->kind == INSN_IJMP || insn->kind == INSN_RET ||
	       insn->kind == INSN_TRAP;
}

/* syscall or sysenter, of so many bytes, behind whatever prefixes. */
bool insn_calls_system(struct bytes code, uint32_t len);

#endif
