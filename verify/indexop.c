/* indexop.c - what one instruction means for a number that is followed backwards through it
 *
 * bounds.c asks, from a jump table's load towards the function's entry: where was this number
 * before the instruction, and what does the instruction say about it?  Zydis lists the
 * operands; a few forms are told apart, and all others make unknown what they write.
 *
 * Tested by tests/unit/verify/test_indexop.c and test_bounds.c.
 */
#include "verify/indexop.h"

#include "binary/decoder.h"

struct full {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Number of the general register that `reg` is the lowest part of; PLACE_NONE when it is
 * none. */
static uint8_t low_part(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64 ||
	    (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH))
		return PLACE_NONE;
	return (uint8_t)ZydisRegisterGetId(whole);
}

static uint16_t mask_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64
		       ? (uint16_t)(1u << ZydisRegisterGetId(whole)) : 0;
}

static struct vplace memory(const ZydisDecodedOperand *op, vaddr next)
{
	struct vplace p = { .kind = PLACE_MEMORY, .base = PLACE_NONE, .index = PLACE_NONE,
			    .at = op->mem.disp.value };

	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || op->mem.segment == ZYDIS_REGISTER_FS ||
	    op->mem.segment == ZYDIS_REGISTER_GS)
		return (struct vplace){ 0 };
	if (op->mem.base == ZYDIS_REGISTER_RIP) {
		p.base = PLACE_RIP;
		p.at += (int64_t)next;
	} else if (op->mem.base != ZYDIS_REGISTER_NONE) {
		p.base = low_part(op->mem.base);
		if (ZydisRegisterGetClass(op->mem.base) != ZYDIS_REGCLASS_GPR64)
			return (struct vplace){ 0 };
	}
	if (op->mem.index != ZYDIS_REGISTER_NONE) {
		if (ZydisRegisterGetClass(op->mem.index) != ZYDIS_REGCLASS_GPR64)
			return (struct vplace){ 0 };
		p.index = low_part(op->mem.index);
		p.scale = op->mem.scale;
	}
	return p;
}

static struct vplace place(const ZydisDecodedOperand *op, vaddr next)
{
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return memory(op, next);
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    low_part(op->reg.value) == PLACE_NONE)
		return (struct vplace){ 0 };
	return (struct vplace){ .kind = PLACE_REG, .base = low_part(op->reg.value) };
}

static bool is_constant(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static uint64_t low_bits(uint64_t x, uint32_t bits)
{
	return bits < 64 ? x & (((uint64_t)1 << bits) - 1) : x;
}

/* The constant as a number of the first operand's size. */
static uint64_t constant(const struct full *f, int i)
{
	return low_bits(f->op[i].imm.value.u, f->op[0].size);
}

static void set_move(struct iop *o, const struct full *f, bool is_signed, vaddr next)
{
	o->kind = IOP_MOVE;
	o->from = place(&f->op[1], next);
	o->from_bits = (uint8_t)f->op[1].size;
	o->is_signed = is_signed;
}

static void set_compare(struct iop *o, const struct full *f, uint64_t value, vaddr next)
{
	o->kind = IOP_COMPARE;
	o->from = place(&f->op[0], next);
	o->from_bits = (uint8_t)f->op[0].size;
	o->value = value;
}

/* cdqe: eax to rax, cwde: ax to eax. */
static void set_widened(struct iop *o, uint8_t to_bits)
{
	o->kind = IOP_MOVE;
	o->to = o->from = (struct vplace){ .kind = PLACE_REG };
	o->to_bits = to_bits;
	o->from_bits = to_bits / 2;
	o->is_signed = true;
}

static void set_masked(struct iop *o, const struct full *f)
{
	if (!is_constant(&f->op[1]))
		return;
	o->kind = IOP_MASK;
	o->value = constant(f, 1);
	o->from_bits = (uint8_t)f->op[0].size;
}

static void set_shifted(struct iop *o, const struct full *f)
{
	uint32_t bits = f->op[0].size;
	uint64_t n = f->op[1].imm.value.u & (bits == 64 ? 63 : 31);

	if (!is_constant(&f->op[1]) || n >= bits)
		return;
	o->kind = IOP_SHIFT;
	o->value = n;
}

/* lea 0(,%r,4), %a */
static void set_scaled(struct iop *o, const struct full *f)
{
	const ZydisDecodedOperand *m = &f->op[1];

	if (f->op[0].size != 64 || m->mem.base != ZYDIS_REGISTER_NONE || m->mem.scale != 4 ||
	    m->mem.disp.value != 0 ||
	    ZydisRegisterGetClass(m->mem.index) != ZYDIS_REGCLASS_GPR64)
		return;
	o->kind = IOP_SCALE;
	o->from = (struct vplace){ .kind = PLACE_REG, .base = low_part(m->mem.index) };
}

static bool is_zeroed(const struct full *f)
{
	return is_register(&f->op[0]) && is_register(&f->op[1]) &&
	       f->op[0].reg.value == f->op[1].reg.value && f->op[0].size >= 32;
}

static void set_const(struct iop *o, uint64_t value)
{
	o->kind = IOP_CONST;
	o->value = value;
}

static void classify(struct iop *o, const struct full *f, vaddr next)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];

	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (is_constant(y))
			set_const(o, constant(f, 1));
		else if (is_register(x) || is_register(y))
			set_move(o, f, false, next);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		set_move(o, f, false, next);
		break;
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
		set_move(o, f, true, next);
		break;
	case ZYDIS_MNEMONIC_CDQE:
		set_widened(o, 64);
		break;
	case ZYDIS_MNEMONIC_CWDE:
		set_widened(o, 32);
		break;
	case ZYDIS_MNEMONIC_XOR:
		if (is_zeroed(f))
			set_const(o, 0);
		break;
	case ZYDIS_MNEMONIC_AND:
		if (is_register(x))
			set_masked(o, f);
		break;
	case ZYDIS_MNEMONIC_SHR:
		if (is_register(x))
			set_shifted(o, f);
		break;
	case ZYDIS_MNEMONIC_LEA:
		set_scaled(o, f);
		break;
	case ZYDIS_MNEMONIC_CMP:
		if (is_constant(y))
			set_compare(o, f, constant(f, 1), next);
		break;
	case ZYDIS_MNEMONIC_TEST:
		if (is_register(x) && is_register(y) && x->reg.value == y->reg.value)
			set_compare(o, f, 0, next);
		break;
	case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_SYSCALL: case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_SYSENTER:
		o->kind = IOP_CALL;
		break;
	default:
		if (f->in.meta.category == ZYDIS_CATEGORY_CMOV && x->size >= 32) {
			set_move(o, f, false, next);
			o->kind = IOP_CHOOSE;
		}
		break;
	}
}

/* Registers and memory that operand `op` is about. */
static void add_operand(struct iop *o, const struct full *f, const ZydisDecodedOperand *op)
{
	bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && writes) {
		o->writes |= mask_of(op->reg.value);
		/* bsf and bsr of zero leave it as it is, upper half and all; cmov does not,
		 * whether it moves or not */
		bool certain = f->in.meta.category == ZYDIS_CATEGORY_CMOV ||
			       ((op->actions & ZYDIS_OPERAND_ACTION_WRITE) &&
				f->in.mnemonic != ZYDIS_MNEMONIC_BSF &&
				f->in.mnemonic != ZYDIS_MNEMONIC_BSR);
		if (op->size == 32 && certain &&
		    low_part(op->reg.value) != PLACE_NONE)
			o->clears |= mask_of(op->reg.value);
	} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		   op->mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
		o->stores |= writes;
		/* not every string instruction is said to move its registers on */
		if (f->in.meta.category == ZYDIS_CATEGORY_STRINGOP)
			o->writes |= mask_of(op->mem.base);
	}
}

/* A bit that a register tells, which may be far from the operand. */
static bool writes_bit(const struct full *f)
{
	return (f->in.mnemonic == ZYDIS_MNEMONIC_BTS || f->in.mnemonic == ZYDIS_MNEMONIC_BTR ||
		f->in.mnemonic == ZYDIS_MNEMONIC_BTC) && is_register(&f->op[1]);
}

bool iop_decode(struct bytes code, vaddr addr, struct iop *out)
{
	enum { WHOLE = 128 };		/* bits; more than that are stored in odd ways */
	struct full f;
	struct iop o = { 0 };

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &f.in, f.op)))
		return false;
	vaddr next = addr + f.in.length;
	for (int i = 0; i < f.in.operand_count; i++)
		add_operand(&o, &f, &f.op[i]);
	if (f.in.operand_count_visible > 0 &&
	    (f.op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
		o.to = place(&f.op[0], next);
		o.to_bits = f.op[0].size <= WHOLE ? (uint8_t)f.op[0].size : 0;
	}
	if (f.in.meta.category == ZYDIS_CATEGORY_STRINGOP)	/* perhaps many times */
		o.to = (struct vplace){ 0 };
	if (f.in.cpu_flags) {
		const ZydisAccessedFlags *af = f.in.cpu_flags;

		o.writes_flags = (af->modified | af->set_0 | af->set_1 | af->undefined) &
				 (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF);
	}
	classify(&o, &f, next);
	if (o.to.kind == PLACE_MEMORY && writes_bit(&f))
		o.to = (struct vplace){ 0 };
	if (f.in.mnemonic == ZYDIS_MNEMONIC_PUSH)	/* nothing is below the stack */
		o.stores = false;
	/* one that also writes something else (xchg, locked ones) is none of these */
	if (o.kind != IOP_CALL && o.stores && o.to.kind != PLACE_MEMORY)
		o.kind = IOP_OTHER;
	*out = o;
	return true;
}

bool iop_index(struct bytes code, uint8_t base, struct vindex *out)
{
	struct full f;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &f.in, f.op)))
		return false;
	for (int i = 0; i < f.in.operand_count_visible; i++) {
		struct vplace m;

		if (f.op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		m = memory(&f.op[i], 0);
		if (m.kind != PLACE_MEMORY || m.index >= PLACE_NONE)
			return false;
		out->scaled = m.scale == 1;
		uint8_t index = m.index;
		if (out->scaled && index == base)
			index = m.base;
		else if (m.base != base)
			return false;
		if (index >= PLACE_NONE || m.scale == 2 ||
		    (m.scale == 8) != (base == PLACE_NONE))
			return false;
		out->index = (struct vplace){ .kind = PLACE_REG, .base = index };
		return true;
	}
	return false;
}

enum vlimit iop_limit(uint8_t condition)
{
	enum { BELOW = 2, EQUAL = 4, BELOW_EQUAL = 6 };

	switch (condition) {
	case BELOW:
		return LIMIT_BELOW;
	case EQUAL:
		return LIMIT_EQUAL;
	case BELOW_EQUAL:
		return LIMIT_AT_MOST;
	default:
		return LIMIT_NONE;
	}
}

bool vplace_same(const struct vplace *x, const struct vplace *y)
{
	if (x->kind != y->kind || x->kind == PLACE_OTHER)
		return false;
	if (x->kind == PLACE_REG)
		return x->base == y->base;
	return x->base == y->base && x->index == y->index && x->at == y->at &&
	       (x->index == PLACE_NONE || x->scale == y->scale);
}

bool vplace_apart(const struct vplace *memory, uint32_t bytes, const struct vplace *to,
		  uint32_t to_bytes)
{
	enum { RSP = 4 };

	if (to->kind != PLACE_MEMORY || to_bytes == 0)
		return false;
	if (memory->base == to->base && memory->index == to->index &&
	    (memory->index == PLACE_NONE || memory->scale == to->scale))
		return memory->at + (int64_t)bytes <= to->at ||
		       to->at + (int64_t)to_bytes <= memory->at;
	return memory->index == PLACE_NONE && to->index == PLACE_NONE &&
	       ((memory->base == RSP && to->base == PLACE_RIP) ||
		(memory->base == PLACE_RIP && to->base == RSP));
}
