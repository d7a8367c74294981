/* insntime.c - what a single instruction needs and how long it takes at best
 *
 * Tested by tests/unit/postmorph/machine/test_insntime.c.
 */
#include "postmorph/machine/insntime.h"

#include "binary/decoder.h"

enum { NO_REGISTER = 255 };

static uint64_t bit_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return UINT64_C(1) << (whole - ZYDIS_REGISTER_RAX);
	if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
		return UINT64_C(1) << (INSNTIME_VECTOR + (whole - ZYDIS_REGISTER_ZMM0));
	return 0;
}

static uint8_t number_of(ZydisRegister r)
{
	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15
		       ? (uint8_t)(r - ZYDIS_REGISTER_RAX)
		       : NO_REGISTER;
}

static void take_memory(const ZydisDecodedOperand *op, struct insntime *t)
{
	t->address |= bit_of(op->mem.base) | bit_of(op->mem.index);
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return;			/* lea: an address alone */
	t->load |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	t->store |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	t->memory = (struct insntime_memory){
		number_of(op->mem.base), number_of(op->mem.index), op->mem.scale,
		(uint8_t)(op->size / 8 < 64 ? op->size / 8 : 64), op->mem.disp.value,
	};
}

/* A register that a move of part of it writes keeps the rest; that is not looked at: such
 * writes are taken as whole ones, which is the quicker case. */
static void take_operands(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
			  struct insntime *t)
{
	for (uint32_t i = 0; i < in->operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			take_memory(&op[i], t);
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			uint64_t bit = bit_of(op[i].reg.value);

			if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
				t->reads |= bit;
			if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
				t->writes |= bit;
		}
	}
	if (in->cpu_flags && in->cpu_flags->tested)
		t->reads |= UINT64_C(1) << INSNTIME_FLAGS;
	if (in->cpu_flags && (in->cpu_flags->modified | in->cpu_flags->set_0 |
			      in->cpu_flags->set_1 | in->cpu_flags->undefined))
		t->writes |= UINT64_C(1) << INSNTIME_FLAGS;
}

/* xor, sub, pxor and the like of a register with itself is 0, whatever was in it, and of a
 * comparison of vectors all ones. */
static bool is_constant(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	int a;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS: case ZYDIS_MNEMONIC_XORPD: case ZYDIS_MNEMONIC_PCMPEQD:
		a = 0;
		break;
	case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_VPCMPEQD:
		a = 1;
		break;
	default:
		return false;
	}
	return op[a].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[a + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[a].reg.value == op[a + 1].reg.value;
}

/* It renames a register and computes nothing. */
static bool is_move(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_XCHG:
		return op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].size >= 32;
	case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVAPD: case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_VMOVAPS: case ZYDIS_MNEMONIC_VMOVAPD: case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVUPD: case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVUPS: case ZYDIS_MNEMONIC_VMOVUPD: case ZYDIS_MNEMONIC_VMOVDQU:
		return op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

/* The stack pointer, but where it is what is popped. */
static void take_moved(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
		       struct insntime *t)
{
	const uint64_t rsp = bit_of(ZYDIS_REGISTER_RSP);

	if (in->mnemonic != ZYDIS_MNEMONIC_PUSH && in->mnemonic != ZYDIS_MNEMONIC_POP &&
	    in->mnemonic != ZYDIS_MNEMONIC_CALL && in->mnemonic != ZYDIS_MNEMONIC_RET)
		return;
	if (in->mnemonic == ZYDIS_MNEMONIC_POP && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    bit_of(op[0].reg.value) == rsp)
		return;
	t->moved = t->writes & rsp;
	t->writes &= ~rsp;
}

static void set_time(struct insntime *t, enum insntime_class class, double latency, double busy)
{
	t->class = (uint8_t)class;
	t->latency = latency;
	t->busy = busy;
}

static bool is_vector(const struct insntime *t)
{
	return (t->reads | t->writes) >> INSNTIME_VECTOR != 0;
}

static void take_class(const ZydisDecodedInstruction *in, struct insntime *t)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		set_time(t, INSNTIME_DIVIDE, 7, 4);
		return;
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MULX:
		set_time(t, INSNTIME_MULTIPLY, 3, 0.33);
		return;
	case ZYDIS_MNEMONIC_DIVSS: case ZYDIS_MNEMONIC_DIVPS: case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_DIVPD: case ZYDIS_MNEMONIC_SQRTSS: case ZYDIS_MNEMONIC_SQRTPS:
	case ZYDIS_MNEMONIC_SQRTSD: case ZYDIS_MNEMONIC_SQRTPD: case ZYDIS_MNEMONIC_VDIVSS:
	case ZYDIS_MNEMONIC_VDIVSD: case ZYDIS_MNEMONIC_VSQRTSS: case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_VDIVPS: case ZYDIS_MNEMONIC_VDIVPD:
		set_time(t, INSNTIME_DIVIDE, 9.8, 2.4);
		return;
	case ZYDIS_MNEMONIC_ADDSS: case ZYDIS_MNEMONIC_ADDSD: case ZYDIS_MNEMONIC_ADDPS:
	case ZYDIS_MNEMONIC_ADDPD: case ZYDIS_MNEMONIC_SUBSS: case ZYDIS_MNEMONIC_SUBSD:
	case ZYDIS_MNEMONIC_MULSS: case ZYDIS_MNEMONIC_MULSD: case ZYDIS_MNEMONIC_MULPS:
	case ZYDIS_MNEMONIC_MULPD: case ZYDIS_MNEMONIC_VADDSD: case ZYDIS_MNEMONIC_VADDSS:
	case ZYDIS_MNEMONIC_VMULSD: case ZYDIS_MNEMONIC_VMULSS: case ZYDIS_MNEMONIC_VADDPD:
	case ZYDIS_MNEMONIC_VADDPS: case ZYDIS_MNEMONIC_VMULPD: case ZYDIS_MNEMONIC_VMULPS:
		set_time(t, INSNTIME_FLOAT, 2, 0.25);
		return;
	default:
		set_time(t, t->load    ? INSNTIME_LOAD
			    : t->store ? INSNTIME_STORE
				       : INSNTIME_PLAIN, 1, is_vector(t) ? 0.25 : 0.17);
	}
}

void insntime_of(const struct prog *prog, const struct insn *insn, struct insntime *out)
{
	struct insntime t = { .memory = { NO_REGISTER, NO_REGISTER, 0, 0, 0 }, .latency = 1,
			      .busy = 0.17 };
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), prog_insn_bytes(prog, insn),
						insn->len, &in, op))) {
		take_operands(&in, op, &t);
		const bool constant = is_constant(&in, op);
		if (constant)
			t.reads = 0;
		take_class(&in, &t);
		take_moved(&in, op, &t);
		/* a load alone has no arithmetic behind it */
		bool moves = in.meta.category == ZYDIS_CATEGORY_DATAXFER ||
			     in.meta.category == ZYDIS_CATEGORY_POP;
		if (constant || is_move(&in, op))
			set_time(&t, INSNTIME_PLAIN, 0, 0);
		else if (t.load && moves)
			t.latency = 0;
	}
	if (insn_is_branch(insn) || insn->kind == INSN_RET || insn->kind == INSN_IJMP ||
	    insn->kind == INSN_ICALL)
		set_time(&t, INSNTIME_BRANCH, 1, 0.33);
	if (insn->kind == INSN_NOP)
		t = (struct insntime){ .busy = 0.1 };
	*out = t;
}
