/* machine_writes.c - tells what an instruction may write, for code that is not followed
 *
 * Tested by tests/unit/postmorph/machine/test_machine.c
 * (other_instructions_leave_nothing_wrong).
 */
#include "postmorph/machine/machine.h"

static uint16_t register_of(const struct arg *arg)
{
	return arg->kind == ARG_REG || arg->kind == ARG_HIGH ? (uint16_t)(1u << arg->reg) : 0;
}

uint16_t act_writes(const struct act *act)
{
	enum { RAX = 1, RCX = 2, RDX = 4, RSP = 16, RBP = 32 };

	switch ((enum act_kind)act->kind) {
	case ACT_NOP: case ACT_CARRY: case ACT_JMP: case ACT_JCC: case ACT_IJMP:
	case ACT_CALL: case ACT_ICALL: case ACT_STOP:
		return 0;
	case ACT_MOVE: case ACT_LEA: case ACT_ALU: case ACT_SET: case ACT_CMOV: case ACT_GUARD:
		return register_of(&act->dst);
	case ACT_WIDE: case ACT_DIVIDE:
		return RAX | RDX;
	case ACT_SIGN:
		return RDX;
	case ACT_EXCHANGE: case ACT_EXCHANGE_ADD:
		return register_of(&act->dst) | register_of(&act->a);
	case ACT_LOOP:
		return RCX;
	case ACT_PUSH: case ACT_RET:
		return RSP;
	case ACT_POP:
		return register_of(&act->dst) | RSP;
	case ACT_LEAVE:
		return RBP | RSP;
	case ACT_OTHER:
		return act->wipes | act->wipes_part;
	}
	return UINT16_MAX;
}

bool act_writes_flags(const struct act *act)
{
	switch ((enum act_kind)act->kind) {
	case ACT_ALU:
		return alu_writes((enum alu)act->alu) != 0;
	case ACT_OTHER:
		return act->wipes_flags != 0;
	case ACT_WIDE: case ACT_DIVIDE: case ACT_CARRY: case ACT_GUARD: case ACT_EXCHANGE_ADD:
		return true;
	default:
		return false;
	}
}

uint16_t act_stores(const struct act *act)
{
	if (act->kind == ACT_OTHER)
		return act->stores;
	if (act->dst.kind == ARG_MEM)
		return act->dst.bits / 8;
	return act->kind == ACT_EXCHANGE && act->a.kind == ARG_MEM ? act->a.bits / 8 : 0;
}
