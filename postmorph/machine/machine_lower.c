/* machine_lower.c - decodes an instruction with Zydis and turns it into an act of machine.h
 *
 * An instruction that is not listed here becomes ACT_OTHER with everything that it writes, by
 * the decoder's own tables, so that no instruction can be taken for harmless.
 *
 * Tested by tests/unit/postmorph/machine/test_machine.c.
 */
#include "binary/bytememo.h"
#include "binary/decoder.h"
#include "postmorph/machine/machine.h"

/* MANY_BYTES is the size of the largest register; larger stores may be anywhere. */
enum { MANY_BYTES = 64, RCX_RSI_RDI = 1 << 1 | 1 << 6 | 1 << 7 };

struct lowering {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	vaddr addr;
};

static uint8_t number_of(ZydisRegister reg)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (reg == ZYDIS_REGISTER_RIP)
		return ACT_RIP;
	if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
		return ACT_NO_REG;
	return (uint8_t)(full - ZYDIS_REGISTER_RAX);
}

static bool is_high(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static void set_memory(struct act *act, const struct lowering *l, const ZydisDecodedOperand *o)
{
	act->mem.base = number_of(o->mem.base);
	act->mem.index = number_of(o->mem.index);
	act->mem.scale = o->mem.scale;
	act->mem.disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	act->mem.narrow = l->in.address_width != 64;
	act->mem.opaque = o->mem.segment == ZYDIS_REGISTER_FS ||
			  o->mem.segment == ZYDIS_REGISTER_GS ||
			  o->mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
			  o->mem.type == ZYDIS_MEMOP_TYPE_MIB || l->in.address_width < 32;
	if (act->mem.base == ACT_RIP)
		act->mem.disp += (int64_t)(l->addr + l->in.length);
	else if (o->mem.base != ZYDIS_REGISTER_NONE && act->mem.base == ACT_NO_REG)
		act->mem.opaque = true;		/* eip */
}

/* False when it is no general register, memory operand or constant of at most 64 bits. */
static bool set_arg(struct act *act, const struct lowering *l, int i, struct arg *out)
{
	const ZydisDecodedOperand *o = &l->o[i];

	if (i >= l->in.operand_count || o->size > 64 || o->size == 0)
		return false;
	*out = (struct arg){ .bits = (uint8_t)o->size };
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		out->kind = is_high(o->reg.value) ? ARG_HIGH : ARG_REG;
		out->reg = number_of(o->reg.value);
		return out->reg < MACHINE_GPRS;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		out->kind = ARG_MEM;
		return true;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		out->kind = ARG_IMM;
		act->imm = o->imm.is_signed ? (uint64_t)o->imm.value.s : o->imm.value.u;
		return true;
	default:
		return false;
	}
}

static const struct {
	ZydisMnemonic mnemonic;
	uint8_t alu;
	uint8_t nargs;		/* explicit ones; the first is read and written */
	bool no_result;
	bool apart;		/* the first is written only */
} alu_ops[] = {
	{ ZYDIS_MNEMONIC_ADD, ALU_ADD, 2, false, false },
	{ ZYDIS_MNEMONIC_ADC, ALU_ADC, 2, false, false },
	{ ZYDIS_MNEMONIC_SUB, ALU_SUB, 2, false, false },
	{ ZYDIS_MNEMONIC_SBB, ALU_SBB, 2, false, false },
	{ ZYDIS_MNEMONIC_CMP, ALU_SUB, 2, true, false },
	{ ZYDIS_MNEMONIC_TEST, ALU_AND, 2, true, false },
	{ ZYDIS_MNEMONIC_AND, ALU_AND, 2, false, false },
	{ ZYDIS_MNEMONIC_OR, ALU_OR, 2, false, false },
	{ ZYDIS_MNEMONIC_XOR, ALU_XOR, 2, false, false },
	{ ZYDIS_MNEMONIC_NOT, ALU_NOT, 1, false, false },
	{ ZYDIS_MNEMONIC_NEG, ALU_NEG, 1, false, false },
	{ ZYDIS_MNEMONIC_INC, ALU_INC, 1, false, false },
	{ ZYDIS_MNEMONIC_DEC, ALU_DEC, 1, false, false },
	{ ZYDIS_MNEMONIC_SHL, ALU_SHL, 2, false, false },
	{ ZYDIS_MNEMONIC_SHR, ALU_SHR, 2, false, false },
	{ ZYDIS_MNEMONIC_SAR, ALU_SAR, 2, false, false },
	{ ZYDIS_MNEMONIC_ROL, ALU_ROL, 2, false, false },
	{ ZYDIS_MNEMONIC_ROR, ALU_ROR, 2, false, false },
	{ ZYDIS_MNEMONIC_SHLD, ALU_SHLD, 3, false, false },
	{ ZYDIS_MNEMONIC_SHRD, ALU_SHRD, 3, false, false },
	{ ZYDIS_MNEMONIC_BT, ALU_BT, 2, true, false },
	{ ZYDIS_MNEMONIC_BTS, ALU_BTS, 2, false, false },
	{ ZYDIS_MNEMONIC_BTR, ALU_BTR, 2, false, false },
	{ ZYDIS_MNEMONIC_BTC, ALU_BTC, 2, false, false },
	{ ZYDIS_MNEMONIC_BSF, ALU_BSF, 2, false, true },
	{ ZYDIS_MNEMONIC_BSR, ALU_BSR, 2, false, true },
	{ ZYDIS_MNEMONIC_TZCNT, ALU_TZCNT, 2, false, true },
	{ ZYDIS_MNEMONIC_LZCNT, ALU_LZCNT, 2, false, true },
	{ ZYDIS_MNEMONIC_POPCNT, ALU_POPCNT, 2, false, true },
	{ ZYDIS_MNEMONIC_BSWAP, ALU_BSWAP, 1, false, false },
	{ ZYDIS_MNEMONIC_ANDN, ALU_ANDN, 3, false, true },
	{ ZYDIS_MNEMONIC_BLSR, ALU_BLSR, 2, false, true },
	{ ZYDIS_MNEMONIC_BLSI, ALU_BLSI, 2, false, true },
	{ ZYDIS_MNEMONIC_BLSMSK, ALU_BLSMSK, 2, false, true },
};

static bool is_same_register(const struct arg *a, const struct arg *b)
{
	return a->kind == ARG_REG && b->kind == ARG_REG && a->reg == b->reg &&
	       a->bits == b->bits;
}

static bool is_bit_string(const struct act *act)
{
	return act->alu >= ALU_BT && act->alu <= ALU_BTC && act->a.kind == ARG_MEM &&
	       act->b.kind != ARG_IMM;
}

/* False when it is none of them. */
static bool lower_alu(struct act *act, const struct lowering *l)
{
	struct arg *const in[3] = { &act->a, &act->b, &act->c };

	for (size_t k = 0; k < sizeof(alu_ops) / sizeof(alu_ops[0]); k++) {
		if (alu_ops[k].mnemonic != l->in.mnemonic)
			continue;
		int first = alu_ops[k].apart;

		act->alu = alu_ops[k].alu;
		if (!set_arg(act, l, 0, &act->dst))
			return false;
		for (int i = first; i < alu_ops[k].nargs; i++)
			if (!set_arg(act, l, i, in[i - first]))
				return false;
		if (is_bit_string(act) || (act->alu == ALU_BSWAP && act->dst.bits < 32))
			return false;
		act->bits = act->dst.bits;
		if (alu_ops[k].no_result)
			act->dst = (struct arg){ 0 };
		act->clears =
			(act->alu == ALU_XOR || act->alu == ALU_SUB || act->alu == ALU_SBB) &&
			is_same_register(&act->a, &act->b);
		act->kind = ACT_ALU;
		return true;
	}
	return false;
}

static bool lower_move(struct act *act, const struct lowering *l, bool sx)
{
	if (!set_arg(act, l, 0, &act->dst) || !set_arg(act, l, 1, &act->a))
		return false;
	act->kind = ACT_MOVE;
	act->sx = sx;
	act->bits = act->dst.bits;
	if (act->a.kind == ARG_IMM)
		act->a.bits = act->bits;	/* extended already */
	return true;
}

/* imul with one operand, mul, div, idiv: the one operand is explicit. */
static bool lower_wide(struct act *act, const struct lowering *l, enum act_kind kind,
		       enum alu alu)
{
	if (!set_arg(act, l, 0, &act->a))
		return false;
	act->kind = (uint8_t)kind;
	act->alu = (uint8_t)alu;
	act->bits = act->a.bits;
	return true;
}

static bool lower_imul(struct act *act, const struct lowering *l)
{
	if (l->in.operand_count_visible == 1)
		return lower_wide(act, l, ACT_WIDE, ALU_IMUL_WIDE);
	int first = l->in.operand_count_visible == 3;

	if (!set_arg(act, l, 0, &act->dst) || !set_arg(act, l, first, &act->a) ||
	    !set_arg(act, l, first + 1, &act->b))
		return false;
	act->kind = ACT_ALU;
	act->alu = ALU_IMUL;
	act->bits = act->dst.bits;
	return true;
}

static void fixed_arg(struct arg *out, uint8_t reg, uint8_t bits)
{
	*out = (struct arg){ ARG_REG, reg, bits };
}

static bool lower_branch(struct act *act, const struct lowering *l, enum act_kind direct,
			 enum act_kind indirect)
{
	if (l->in.raw.imm[0].is_relative) {
		ZyanU64 target;

		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&l->in, &l->o[0], l->addr, &target)))
			return false;
		act->kind = (uint8_t)direct;
		act->imm = target;
		return true;
	}
	if (!set_arg(act, l, 0, &act->a) || act->a.bits != 64)
		return false;
	act->kind = (uint8_t)indirect;
	return true;
}

/* What is subtracted lies at %fs:0x28: the guard, whose copy has just been loaded. */
static bool is_guard(const struct lowering *l)
{
	enum { GUARD = 0x28 };
	const ZydisDecodedOperand *o = &l->o[1];

	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.segment == ZYDIS_REGISTER_FS &&
	       o->mem.base == ZYDIS_REGISTER_NONE && o->mem.index == ZYDIS_REGISTER_NONE &&
	       o->mem.disp.value == GUARD && o->size == 64;
}

static bool lower_conditional(struct act *act, const struct lowering *l)
{
	unsigned map = l->in.opcode_map, op = l->in.opcode;

	act->cond = op & 0xf;
	switch (l->in.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (map == ZYDIS_OPCODE_MAP_0F ? (op & 0xf0) != 0x80 : (op & 0xf0) != 0x70)
			return false;
		return lower_branch(act, l, ACT_JCC, ACT_STOP);
	case ZYDIS_CATEGORY_SETCC:
		act->kind = ACT_SET;
		return set_arg(act, l, 0, &act->dst);
	case ZYDIS_CATEGORY_CMOV:
		act->kind = ACT_CMOV;
		if (!set_arg(act, l, 0, &act->dst) || !set_arg(act, l, 1, &act->a))
			return false;
		act->bits = act->dst.bits;
		return true;
	default:
		return false;
	}
}

static bool lower_loop(struct act *act, const struct lowering *l, enum act_loop kind)
{
	if (l->in.address_width != 64 && kind != LOOP_ECX_ZERO)
		return false;
	act->cond = (uint8_t)kind;
	return lower_branch(act, l, ACT_LOOP, ACT_STOP);
}

static bool lower_stack(struct act *act, const struct lowering *l)
{
	if (l->in.operand_width != 64)
		return false;
	act->bits = 64;
	if (l->in.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
		act->kind = ACT_LEAVE;
		return true;
	}
	bool push = l->in.mnemonic == ZYDIS_MNEMONIC_PUSH;
	act->kind = push ? ACT_PUSH : ACT_POP;
	return set_arg(act, l, 0, push ? &act->a : &act->dst);
}

static bool lower_carry(struct act *act, unsigned how)
{
	act->kind = ACT_CARRY;
	act->imm = how;
	return true;
}

static bool lower_exchange(struct act *act, const struct lowering *l, enum act_kind kind)
{
	act->kind = (uint8_t)kind;
	act->bits = (uint8_t)l->o[0].size;
	return set_arg(act, l, 0, &act->dst) && set_arg(act, l, 1, &act->a);
}

static bool lower_sign(struct act *act, unsigned bits, bool apart)
{
	act->bits = (uint8_t)bits;
	act->kind = apart ? ACT_SIGN : ACT_MOVE;
	act->sx = true;
	fixed_arg(&act->dst, 0, (uint8_t)bits);
	fixed_arg(&act->a, 0, (uint8_t)(bits / 2));
	return true;
}

static bool lower_listed(struct act *act, const struct lowering *l)
{
	switch (l->in.mnemonic) {
	case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_ENDBR64: case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_PREFETCHT0: case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2: case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHW:
		act->kind = ACT_NOP;
		return true;
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: return lower_move(act, l, false);
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD: return lower_move(act, l, true);
	case ZYDIS_MNEMONIC_CBW: return lower_sign(act, 16, false);
	case ZYDIS_MNEMONIC_CWDE: return lower_sign(act, 32, false);
	case ZYDIS_MNEMONIC_CDQE: return lower_sign(act, 64, false);
	case ZYDIS_MNEMONIC_CWD: return lower_sign(act, 16, true);
	case ZYDIS_MNEMONIC_CDQ: return lower_sign(act, 32, true);
	case ZYDIS_MNEMONIC_CQO: return lower_sign(act, 64, true);
	case ZYDIS_MNEMONIC_LEA:
		act->kind = ACT_LEA;
		act->bits = (uint8_t)l->o[0].size;
		return set_arg(act, l, 0, &act->dst);
	case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_XOR:
		if (!is_guard(l) || !set_arg(act, l, 0, &act->dst))
			return lower_alu(act, l);
		act->kind = ACT_GUARD;
		act->bits = 64;
		return true;
	case ZYDIS_MNEMONIC_IMUL: return lower_imul(act, l);
	case ZYDIS_MNEMONIC_MUL: return lower_wide(act, l, ACT_WIDE, ALU_MUL_WIDE);
	case ZYDIS_MNEMONIC_DIV: return lower_wide(act, l, ACT_DIVIDE, ALU_DIV);
	case ZYDIS_MNEMONIC_IDIV: return lower_wide(act, l, ACT_DIVIDE, ALU_IDIV);
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_LEAVE:
		return lower_stack(act, l);
	case ZYDIS_MNEMONIC_CLC: return lower_carry(act, 0);
	case ZYDIS_MNEMONIC_STC: return lower_carry(act, 1);
	case ZYDIS_MNEMONIC_CMC: return lower_carry(act, 2);
	case ZYDIS_MNEMONIC_XCHG: return lower_exchange(act, l, ACT_EXCHANGE);
	case ZYDIS_MNEMONIC_XADD: return lower_exchange(act, l, ACT_EXCHANGE_ADD);
	case ZYDIS_MNEMONIC_JMP: return lower_branch(act, l, ACT_JMP, ACT_IJMP);
	case ZYDIS_MNEMONIC_CALL: return lower_branch(act, l, ACT_CALL, ACT_ICALL);
	case ZYDIS_MNEMONIC_LOOP: return lower_loop(act, l, LOOP_PLAIN);
	case ZYDIS_MNEMONIC_LOOPE: return lower_loop(act, l, LOOP_EQUAL);
	case ZYDIS_MNEMONIC_LOOPNE: return lower_loop(act, l, LOOP_NOT_EQUAL);
	case ZYDIS_MNEMONIC_JRCXZ: return lower_loop(act, l, LOOP_RCX_ZERO);
	case ZYDIS_MNEMONIC_JECXZ: return lower_loop(act, l, LOOP_ECX_ZERO);
	case ZYDIS_MNEMONIC_RET:
		act->kind = ACT_RET;
		act->imm = l->in.raw.imm[0].size ? l->in.raw.imm[0].value.u : 0;
		return l->in.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;
	default:
		return lower_conditional(act, l) || lower_alu(act, l);
	}
}

/* What must not be passed by: control does not simply go on behind it. */
static bool ends_here(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_UNCOND_BR: case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_SYSTEM:
		return true;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_UD2 ||
		       in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
		       in->mnemonic == ZYDIS_MNEMONIC_UD0 ||
		       in->mnemonic == ZYDIS_MNEMONIC_HLT ||
		       in->mnemonic == ZYDIS_MNEMONIC_INT3;
	}
}

static void wipe_register(struct act *act, const ZydisDecodedOperand *o)
{
	uint8_t n = number_of(o->reg.value);

	if (n >= MACHINE_GPRS || !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) >= 32)
		act->wipes |= (uint16_t)(1u << n);
	else
		act->wipes_part |= (uint16_t)(1u << n);
}

static void lower_other(struct act *act, const struct lowering *l)
{
	const ZydisAccessedFlags *f = l->in.cpu_flags;

	act->kind = ends_here(&l->in) ? ACT_STOP : ACT_OTHER;
	for (int i = 0; i < l->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &l->o[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			wipe_register(act, o);
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		bool bits = i == 0 && l->in.meta.category == ZYDIS_CATEGORY_BITBYTE &&
			    l->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER; /* of a string */
		bool simple = !bits && o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
			      o->size > 0 && o->size <= 8 * MANY_BYTES;
		act->stores = simple && !act->stores ? o->size / 8 : UINT16_MAX;
	}
	if (l->in.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    l->in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		act->wipes |= RCX_RSI_RDI;	/* not all of them are told for scas and cmps */
	/* The tables leave flags out that the instruction clears (vptest). */
	if (f && ((f->modified | f->set_0 | f->set_1 | f->undefined) & FLAGS_ALL))
		act->wipes_flags = FLAGS_ALL;
}

/* Fills *out; false if it may be another one elsewhere. */
static bool ask(struct bytes code, vaddr addr, struct act *out)
{
	struct lowering l = { .addr = addr };
	struct act act = { .mem = { .base = ACT_NO_REG, .index = ACT_NO_REG } };

	*out = (struct act){ .kind = ACT_STOP };
	if (!code.p ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &l.in, l.o)))
		return false;
	act.len = l.in.length;
	for (int i = 0; i < l.in.operand_count; i++)
		if (l.o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    l.o[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			set_memory(&act, &l, &l.o[i]);
	struct act blank = act;
	if (!lower_listed(&act, &l)) {
		act = blank;
		lower_other(&act, &l);
	}
	*out = act;
	return !(l.in.attributes & ZYDIS_ATTRIB_IS_RELATIVE);
}

void act_lower(struct bytes code, vaddr addr, struct act *out)
{
	static struct { uint64_t key; struct act act; } memo[BYTEMEMO_SLOTS];
	uint64_t key = bytememo_key(code);
	uint32_t slot = bytememo_slot(key);

	if (key && memo[slot].key == key) {
		*out = memo[slot].act;
	} else if (ask(code, addr, out) && key) {
		memo[slot].key = key;
		memo[slot].act = *out;
	}
}
