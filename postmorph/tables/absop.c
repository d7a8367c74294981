/* absop.c - turns an instruction into what the jump table analysis needs of it (absop.h)
 *
 * Zydis lists all operands of an instruction, hidden ones included.  From these come the masks
 * of registers that it reads and writes; a few kinds of instructions get a kind of their own
 * with operands.  Results are remembered by the bytes of the instruction (bytememo.h).
 *
 * Tested by tests/unit/binary/test_decode.c (an_effect_is_that_of_the_instruction_at_its_place)
 * and, by what is proven with it, tests/unit/postmorph/tables/test_jumptable.c.
 */
#include "postmorph/tables/absop.h"

#include "binary/bytememo.h"
#include "binary/decoder.h"

/* Number of the general register that `reg` is or is part of; ABS_NONE for any other. */
static uint8_t number_of(ZydisRegister reg)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
		return ABS_NONE;
	return (uint8_t)(full - ZYDIS_REGISTER_RAX);
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

/* bsf and bsr of zero leave their first operand alone, although the tables say that they write
 * it. */
static bool may_stay(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	return (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) ||
	       in->mnemonic == ZYDIS_MNEMONIC_BSF || in->mnemonic == ZYDIS_MNEMONIC_BSR;
}

static void add_register(struct op *op, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *o)
{
	uint8_t n = number_of(o->reg.value);
	uint16_t bit, width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);

	if (n == ABS_NONE)
		return;
	bit = (uint16_t)(1u << n);
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
		if (width >= 32)
			op->reads |= bit;
		else if (width == 16 || is_high_byte(o->reg.value))
			op->reads16 |= bit;
		else
			op->reads8 |= bit;
	}
	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (may_stay(in, o)) {
		op->writes |= bit;
		op->reads |= bit;		/* it may keep its old value */
	} else if (width >= 32) {
		op->writes |= bit;
		if (width == 32)
			op->writes32 |= bit;
	} else {
		op->partial |= bit;
		if (width == 16)
			op->partial16 |= bit;
		else if (is_high_byte(o->reg.value))
			op->reads16 |= bit;	/* the low byte stays what it was */
	}
}

static void add_memory(struct op *op, const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *o, vaddr addr)
{
	bool access = o->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
	struct op_mem m = {
		.base = number_of(o->mem.base), .index = number_of(o->mem.index),
		.scale = o->mem.scale,
		.disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
		.bytes = o->size <= 64 ? (uint8_t)(o->size / 8) : 0,
	};

	if (o->mem.base == ZYDIS_REGISTER_RIP) {
		m.base = ABS_RIP;
		m.disp += (int64_t)(addr + in->length);
	}
	m.other = in->address_width != 64 || o->mem.segment == ZYDIS_REGISTER_FS ||
		  o->mem.segment == ZYDIS_REGISTER_GS || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	if (m.base < ABS_NREG)
		op->reads |= (uint16_t)(1u << m.base);
	if (m.index < ABS_NREG)
		op->reads |= (uint16_t)(1u << m.index);
	bool reads = access && (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
	if (reads && !m.other && o->mem.base == ZYDIS_REGISTER_RSP && m.index == ABS_NONE) {
		op->reads_frame = true;
		op->frame_bytes =
			o->size >= 8 && o->size < 8 * 255 ? (uint8_t)(o->size / 8) : 255;
		op->frame = (int32_t)m.disp;
	}
	if (op->has_mem)		/* two of them (string instructions): follow none */
		m.other = true;
	op->has_mem = true;
	if (in->meta.category == ZYDIS_CATEGORY_BITBYTE)
		m.other = true;		/* a bit of a string that begins there */
	op->reads_mem |= reads;
	op->writes_mem |= access && (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	op->mem = m;
}

static bool is_reg(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) != ABS_NONE &&
	       !is_high_byte(o->reg.value);
}

static bool is_mem(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_imm(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* dst <- o1: register to register, memory to register or immediate to register, full width. */
static void set_move(struct op *op, const ZydisDecodedOperand *o, bool sx)
{
	if (is_reg(&o[0]) && o[0].size < 32)
		return;
	if (is_reg(&o[0]) && is_imm(&o[1])) {
		op->kind = OP_CONST;
		op->imm = o[0].size == 32 ? (int64_t)(uint32_t)o[1].imm.value.u :
					    o[1].imm.value.s;
	} else if (is_reg(&o[0]) && (is_reg(&o[1]) || is_mem(&o[1]))) {
		op->kind = is_mem(&o[1]) ? OP_LOAD : OP_MOVE;
		op->sx = sx;
	} else if (is_mem(&o[0]) && is_reg(&o[1])) {
		op->kind = OP_STORE;
	} else {
		return;
	}
	op->bits = (uint8_t)(o[0].size <= 64 ? o[0].size : 0);
	op->src_bits = (uint8_t)(o[1].size <= 64 ? o[1].size : 0);
	op->dst = is_reg(&o[0]) ? number_of(o[0].reg.value) : ABS_NONE;
	op->src = is_reg(&o[1]) ? number_of(o[1].reg.value) : ABS_NONE;
}

static uint64_t low_bits(uint64_t v, unsigned bits)
{
	return bits >= 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

static void set_arithmetic(struct op *op, const ZydisDecodedOperand *o, enum op_kind with_imm,
			   enum op_kind with_reg)
{
	op->bits = (uint8_t)o[0].size;
	op->dst = is_reg(&o[0]) ? number_of(o[0].reg.value) : ABS_NONE;
	if (with_imm != OP_OTHER && is_imm(&o[1]) &&
	    (is_reg(&o[0]) || (is_mem(&o[0]) && with_imm == OP_CMP_IMM))) {
		op->kind = with_imm;
		op->imm = (int64_t)low_bits(o[1].imm.value.u, op->bits);
	} else if (with_reg != OP_OTHER && is_reg(&o[0]) && is_reg(&o[1])) {
		op->kind = with_reg;
		op->src = number_of(o[1].reg.value);
	}
}

static void set_one_register(struct op *op, const ZydisDecodedOperand *o, enum op_kind kind)
{
	op->kind = kind;
	op->bits = (uint8_t)o[0].size;
	op->dst = number_of(o[0].reg.value);
}

static bool same_register(const ZydisDecodedOperand *o)
{
	return is_reg(&o[0]) && is_reg(&o[1]) && o[0].reg.value == o[1].reg.value;
}

static void set_branch(struct op *op, const ZydisDecodedInstruction *in)
{
	bool two_bytes = in->opcode_map == ZYDIS_OPCODE_MAP_0F;

	if (in->meta.category == ZYDIS_CATEGORY_COND_BR && in->raw.imm[0].is_relative &&
	    (in->opcode & 0xf0) == (two_bytes ? 0x80 : 0x70)) {
		op->kind = OP_JCC;
		op->imm = in->opcode & 0xf;
	}
}

/* What neither moves nor calculates. */
static void set_kind_of_control(struct op *op, const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *o)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
		op->kind = OP_CALL;
		break;
	case ZYDIS_MNEMONIC_SYSCALL: case ZYDIS_MNEMONIC_INT: case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_XBEGIN:
		op->kind = OP_KERNEL;
		break;
	case ZYDIS_MNEMONIC_JMP:
		if (is_reg(&o[0])) {
			op->kind = OP_JMP_REG;
			op->src = number_of(o[0].reg.value);
		} else if (is_mem(&o[0])) {
			op->kind = OP_JMP_MEM;
		}
		break;
	default:
		set_branch(op, in);
	}
}

static void set_kind(struct op *op, const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *o)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX:
		set_move(op, o, false);
		break;
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD: case ZYDIS_MNEMONIC_CDQE:
		set_move(op, o, true);
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (o[0].size >= 32)
			set_one_register(op, o, OP_LEA);
		break;
	case ZYDIS_MNEMONIC_ADD:
		set_arithmetic(op, o, OP_LOGIC, o[0].size == 64 ? OP_ADD : OP_LOGIC);
		break;
	case ZYDIS_MNEMONIC_SHL:
		set_arithmetic(op, o, OP_LOGIC, OP_OTHER);
		break;
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
		if (is_reg(&o[0]))
			set_one_register(op, o, OP_LOGIC);
		break;
	case ZYDIS_MNEMONIC_AND:
		set_arithmetic(op, o, OP_AND, OP_LOGIC);
		break;
	case ZYDIS_MNEMONIC_OR:
		set_arithmetic(op, o, OP_LOGIC, OP_LOGIC);
		if (op->kind == OP_LOGIC && op->bits >= 32 && is_imm(&o[1]) &&
		    o[1].imm.value.s == -1)	/* what was there before does not matter */
			op->kind = OP_CONST;
		break;
	case ZYDIS_MNEMONIC_PUSH:
		if (is_reg(&o[0]) && o[0].size == 64) {
			op->kind = OP_PUSH;
			op->src = number_of(o[0].reg.value);
		}
		break;
	case ZYDIS_MNEMONIC_SBB: /* of a register with itself: the carry flag alone counts */
		if (same_register(o))
			op->reads = op->reads16 = op->reads8 = 0;
		break;
	case ZYDIS_MNEMONIC_SHR:
		set_arithmetic(op, o, OP_SHR, OP_OTHER);
		break;
	case ZYDIS_MNEMONIC_CMP:
		set_arithmetic(op, o, OP_CMP_IMM, OP_OTHER);
		break;
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB:
		if (same_register(o) && o[0].size >= 32) {
			op->kind = OP_CONST;
			op->dst = number_of(o[0].reg.value);
		} else {
			set_arithmetic(op, o, OP_LOGIC, OP_LOGIC);
		}
		break;
	default:
		if (in->meta.category == ZYDIS_CATEGORY_CMOV && o[0].size >= 32)
			set_arithmetic(op, o, OP_OTHER, OP_CMOV);
		else
			set_kind_of_control(op, in, o);
	}
}

static uint8_t flag_mask(ZydisAccessedFlagsMask flags)
{
	static const ZydisAccessedFlagsMask flag[] = {
		ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF,
		ZYDIS_CPUFLAG_ZF, ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF,
	};
	uint8_t mask = 0;

	for (unsigned i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
		if (flags & flag[i])
			mask |= (uint8_t)(1u << i);
	return mask;
}

/* A shift by zero and a repeat of no round change no flag.  What counts are the lowest five
 * or six bits of the number; of a byte or word that is rotated through the carry it counts
 * modulo 9 or 17. */
static bool writes_flags_always(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	const uint64_t counted = in->operand_width == 64 ? 63 : 31;
	const ZydisInstructionAttributes repeat =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

	if (in->attributes & repeat)
		return false;
	if (in->meta.category != ZYDIS_CATEGORY_SHIFT &&
	    in->meta.category != ZYDIS_CATEGORY_ROTATE)
		return true;
	if (in->operand_width < 32)
		return false;
	for (int i = 0; i < in->operand_count; i++)
		if (is_imm(&o[i]) && (o[i].imm.value.u & counted))
			return true;
	return false;
}

static void add_flags(struct op *op, const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *o)
{
	const ZydisAccessedFlags *f = in->cpu_flags;

	if (!f)
		return;
	ZydisAccessedFlagsMask written = f->modified | f->set_0 | f->set_1 | f->undefined;
	op->flags = written & (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF);
	op->flags_read = flag_mask(f->tested);
	if (in->attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) {
		op->flags_repeated = flag_mask(written);
		op->flags_read &= (uint8_t)~op->flags_repeated;	/* of its own last round */
	}
	if (writes_flags_always(in, o))
		op->flags_written = flag_mask(written);
}

/* String instructions move on the registers that they address memory with; the tables of
 * operands do not say so of all of them (scas, cmps).  Repeated no times they stay as they
 * are. */
static void add_string_registers(struct op *op, const ZydisDecodedInstruction *in,
				 const ZydisDecodedOperand *o)
{
	for (int i = 0; i < in->operand_count; i++) {
		uint8_t n = is_mem(&o[i]) ? number_of(o[i].mem.base) : ABS_NONE;

		if (n != ABS_NONE) {
			op->writes |= (uint16_t)(1u << n);
			op->reads |= (uint16_t)(1u << n);
		}
	}
}

/* Fills *out; false if it may be another one elsewhere. */
static bool ask(struct bytes code, vaddr addr, struct op *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	struct op op = { .dst = ABS_NONE, .src = ABS_NONE, .group = ABS_NO_GROUP };

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &in, o))) {
		*out = (struct op){ .reads = 0xffff,
				    .writes = 0xffff, .writes_mem = true, .flags = true,
				    .flags_read = 0xff, .dst = ABS_NONE, .src = ABS_NONE,
				    .group = ABS_NO_GROUP };
		return false;
	}
	for (int i = 0; i < in.operand_count; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(&op, &in, &o[i]);
		else if (is_mem(&o[i]))
			add_memory(&op, &in, &o[i], addr);
	}
	add_flags(&op, &in, o);
	set_kind(&op, &in, o);
	if (in.meta.category == ZYDIS_CATEGORY_STRINGOP)
		add_string_registers(&op, &in, o);
	*out = op;
	return !(in.attributes & ZYDIS_ATTRIB_IS_RELATIVE);
}

/* Of a field nothing but the address in a memory operand depends: where a branch leads is
 * not asked here. */
void op_decode(struct bytes code, const struct insn *insn, vaddr addr, struct op *out)
{
	static struct { uint64_t key; struct op op; } memo[BYTEMEMO_SLOTS];
	uint64_t key = bytememo_key_placed(code, insn);
	uint32_t slot = bytememo_slot(key);

	if (key && memo[slot].key == key) {
		*out = memo[slot].op;
	} else if ((ask(code, addr, out) || insn->field) && key) {
		memo[slot].key = key;
		memo[slot].op = *out;
	}
	if (insn->field && out->mem.base == ABS_RIP)
		out->mem.disp = (int64_t)insn_target(insn, code.p, addr);
}
