/* effect.c - what one instruction reads, writes and does with a jump table's address
 *
 * Zydis lists all operands of an instruction, hidden ones included.  Here they become masks of
 * registers and flags, and the few forms that compilers use on the way to a jump table become
 * an enum effect_op.  An instruction of any other form is FX_NONE and has its masks only.
 *
 * Tested by tests/unit/verify/test_effect.c.
 */
#include "verify/effect.h"

#include "binary/bytememo.h"
#include "binary/decoder.h"

struct full {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Number of the general register that `reg` is or is part of; -1 when it is none. */
static int gpr(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return -1;
	return ZydisRegisterGetId(whole);
}

static bool is_gpr64(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR64;
}

static bool is_gpr32(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR32;
}

static uint16_t bit(int reg)
{
	return reg < 0 ? 0 : (uint16_t)(1u << reg);
}

static bool is_low_byte(ZydisRegister reg)
{
	return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR8 && reg != ZYDIS_REGISTER_AH &&
	       reg != ZYDIS_REGISTER_CH && reg != ZYDIS_REGISTER_DH && reg != ZYDIS_REGISTER_BH;
}

static bool plain_segment(const ZydisDecodedOperand *mem)
{
	return mem->mem.segment != ZYDIS_REGISTER_FS && mem->mem.segment != ZYDIS_REGISTER_GS;
}

static bool is_frame(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP &&
	       op->mem.index == ZYDIS_REGISTER_NONE && plain_segment(op);
}

/* Of two places (push 8(%rsp)) the one that is read. */
static void add_frame(struct effect *e, const ZydisDecodedOperand *op)
{
	bool read = op->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ);

	if (!is_frame(op) || e->frame_read)
		return;
	e->frame = true;
	e->frame_read = read;
	e->at = (int32_t)op->mem.disp.value;
	e->span = op->size >= 8 && op->size < 8 * 255 ? (uint8_t)(op->size / 8) : 255;
}

/* These leave their first operand alone when the other is zero; Zydis says that they write
 * it. */
static bool keeps_for_zero(const struct full *f)
{
	return f->in.mnemonic == ZYDIS_MNEMONIC_BSF || f->in.mnemonic == ZYDIS_MNEMONIC_BSR;
}

/* With `stays` what is written may also be left as it is. */
static void add_operand(struct effect *e, const ZydisDecodedOperand *op, bool stays)
{
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		add_frame(e, op);
		e->reads |= bit(gpr(op->mem.base)) | bit(gpr(op->mem.index));
		return;
	}
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	uint16_t mask = bit(gpr(op->reg.value));
	bool low = is_low_byte(op->reg.value);
	bool word = ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR16;
	bool high = !low && ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR8;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		*(low ? &e->low_reads : word || high ? &e->word_reads : &e->reads) |= mask;
	bool certain = (op->actions & ZYDIS_OPERAND_ACTION_WRITE) && !stays;
	if ((low || word) && certain)
		*(low ? &e->low_kills : &e->word_kills) |= mask;
	if (certain && ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) >= 32)
		e->kills |= mask;
	else if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		e->clobbers |= mask;
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

/* Shifts by a count of zero, of which the lowest bits count only, and repeats of no round
 * leave the flags alone; rotations through the carry of 8 and 16 bits count modulo 9 and 17,
 * but one by one bit is one. */
static bool may_leave_flags(const struct full *f)
{
	bool narrow = f->in.operand_width < 32 &&
		      f->in.meta.category == ZYDIS_CATEGORY_ROTATE;
	uint64_t counts = narrow ? 0 : f->in.operand_width == 64 ? 63 : 31;

	if (f->in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				ZYDIS_ATTRIB_HAS_REPNE))
		return true;
	if (f->in.meta.category != ZYDIS_CATEGORY_SHIFT &&
	    f->in.meta.category != ZYDIS_CATEGORY_ROTATE)
		return false;
	for (int i = 0; i < f->in.operand_count; i++)
		if (f->op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    ((f->op[i].imm.value.u & counts) || f->op[i].imm.value.u == 1))
			return false;
	return true;
}

/* cmps and scas with a repeat prefix look at the flags of their own last round only. */
static void set_repeats(struct effect *e, const struct full *f, uint8_t flags_written)
{
	const ZyanU64 prefix = ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

	if (!(f->in.attributes & prefix))
		return;
	e->repeats = flags_written;
	e->flags_read &= (uint8_t)~flags_written;
}

static bool sets_count(const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];

	if (x->type != ZYDIS_OPERAND_TYPE_REGISTER || gpr(x->reg.value) != 1 || x->size < 32 ||
	    y->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	return (f->in.mnemonic == ZYDIS_MNEMONIC_MOV && (uint32_t)y->imm.value.u) ||
	       (f->in.mnemonic == ZYDIS_MNEMONIC_OR && y->imm.is_signed &&
		y->imm.value.s == -1);
}

/* The result does not depend on the register that is formally read. */
static bool ignores_operand(const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];

	if (f->in.operand_count_visible != 2 || x->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_SBB:
		return y->type == ZYDIS_OPERAND_TYPE_REGISTER && x->reg.value == y->reg.value;
	case ZYDIS_MNEMONIC_OR:
		return y->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && y->imm.is_signed &&
		       y->imm.value.s == -1;
	default:
		return false;
	}
}

/* (b,index,scale) with two general registers and no displacement. */
static bool is_indexed(const ZydisDecodedOperand *mem, uint8_t scale)
{
	return mem->type == ZYDIS_OPERAND_TYPE_MEMORY && plain_segment(mem) &&
	       gpr(mem->mem.base) >= 0 && gpr(mem->mem.index) >= 0 &&
	       ZydisRegisterGetClass(mem->mem.base) == ZYDIS_REGCLASS_GPR64 &&
	       mem->mem.scale == scale && mem->mem.disp.value == 0;
}

/* value(,index,8) */
static bool is_absolute(const ZydisDecodedOperand *mem)
{
	return mem->type == ZYDIS_OPERAND_TYPE_MEMORY && plain_segment(mem) &&
	       mem->mem.base == ZYDIS_REGISTER_NONE && gpr(mem->mem.index) >= 0 &&
	       mem->mem.scale == 8 && mem->mem.disp.has_displacement;
}

/* Is written to, and all of it lies where null pointers lead. */
static bool is_null(const ZydisDecodedOperand *op)
{
	enum { PAGE = 4096 };

	return (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
	       op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       op->mem.base == ZYDIS_REGISTER_NONE && op->mem.index == ZYDIS_REGISTER_NONE &&
	       plain_segment(op) && op->mem.disp.value >= 0 &&
	       op->mem.disp.value + op->size / 8 <= PAGE;
}

static void set_op(struct effect *e, enum effect_op op, int a, int b, int c)
{
	e->op = (uint8_t)op;
	e->a = (uint8_t)a;
	e->b = (uint8_t)b;
	e->c = (uint8_t)c;
}

static void classify_lea(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *mem = &f->op[1];

	if (mem->mem.base == ZYDIS_REGISTER_RIP && mem->mem.index == ZYDIS_REGISTER_NONE) {
		set_op(e, FX_BASE, e->a, 0, 0);
	} else if (is_indexed(mem, 1) && mem->mem.base != mem->mem.index) {
		set_op(e, FX_SUM, e->a, gpr(mem->mem.base), gpr(mem->mem.index));
		e->reads = 0;
	} else if (mem->mem.base == ZYDIS_REGISTER_NONE && mem->mem.scale == 4 &&
		   mem->mem.disp.value == 0 &&
		   ZydisRegisterGetClass(mem->mem.index) == ZYDIS_REGCLASS_GPR64) {
		set_op(e, FX_SCALE, e->a, gpr(mem->mem.index), 0);
	}
}

/* mov (b,c,4), %a and mov (b,c), %a of 32 bits. */
static void classify_word(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *mem = &f->op[1];
	int a = gpr(f->op[0].reg.value), b = gpr(mem->mem.base), c = gpr(mem->mem.index);

	if (b == c || (!is_indexed(mem, 4) && !is_indexed(mem, 1)))
		return;
	set_op(e, mem->mem.scale == 4 ? FX_WORD : FX_WORD_SUM, a, b, c);
	e->reads = e->op == FX_WORD ? bit(c) : 0;
}

/* Instructions that write a 64-bit register and may stand on the way to a table. */
static void classify_write(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *src = &f->op[1];

	e->a = (uint8_t)gpr(f->op[0].reg.value);
	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (is_gpr64(src)) {
			set_op(e, FX_COPY, e->a, gpr(src->reg.value), 0);
			e->reads = 0;
		} else if (is_absolute(src)) {
			set_op(e, FX_TABLE, e->a, 0, 0);
			e->value = (vaddr)src->mem.disp.value;
		}
		break;
	case ZYDIS_MNEMONIC_LEA:
		classify_lea(e, f);
		break;
	case ZYDIS_MNEMONIC_MOVSXD:
		if (is_indexed(src, 4) && src->mem.base != src->mem.index) {
			set_op(e, FX_LOAD, e->a, gpr(src->mem.base), 0);
			e->reads = bit(gpr(src->mem.index));
		} else if (is_gpr32(src)) {
			set_op(e, FX_EXTEND, e->a, gpr(src->reg.value), 0);
			e->reads = 0;
		}
		break;
	case ZYDIS_MNEMONIC_ADD:
		if (is_gpr64(src) && src->reg.value != f->op[0].reg.value) {
			set_op(e, FX_ADD, e->a, gpr(src->reg.value), 0);
			e->reads = 0;
		}
		break;
	default:
		break;
	}
}

/* Arithmetic in which bits only ever move upwards. */
static void classify_bits(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];
	bool constant = y->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_OR: case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (constant)
			break;
		return;
	default:
		if (f->in.meta.category == ZYDIS_CATEGORY_CMOV)
			break;
		return;
	}
	if (e->reads == 0 || (!constant && !is_gpr32(y) && !is_gpr64(y)))
		return;
	int a = gpr(x->reg.value);
	set_op(e, FX_BITS, a, constant ? a : gpr(y->reg.value), 0);
	if (f->in.mnemonic == ZYDIS_MNEMONIC_AND && constant) {
		e->op = FX_LOW_BITS;
		e->value = y->imm.value.u;	/* extended by its sign */
	}
	if (f->in.meta.category == ZYDIS_CATEGORY_CMOV)
		e->op = FX_CHOOSE;
	e->reads = 0;
}

/* A whole register between itself and the frame. */
static bool is_kept(const struct full *f, const ZydisDecodedOperand *mem,
		    const ZydisDecodedOperand *reg)
{
	return f->in.mnemonic == ZYDIS_MNEMONIC_MOV && is_frame(mem) &&
	       (is_gpr64(reg) || is_gpr32(reg)) && reg->reg.value != ZYDIS_REGISTER_RSP &&
	       reg->reg.value != ZYDIS_REGISTER_ESP;
}

/* A sum of which only the lowest bits may be known, but that is calculated from none that
 * lie higher. */
static void classify_sum(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *mem = &f->op[1];
	int b = gpr(mem->mem.base), c = gpr(mem->mem.index);

	if (f->in.mnemonic != ZYDIS_MNEMONIC_LEA || mem->mem.base == ZYDIS_REGISTER_RIP ||
	    (b < 0 && c < 0))
		return;
	set_op(e, FX_MIX, gpr(f->op[0].reg.value), b < 0 ? c : b, c < 0 ? b : c);
	e->reads = 0;
}

/* By rsp, or below rbp: where a compiler keeps what it has calculated. */
static bool is_in_frame(const ZydisDecodedOperand *mem)
{
	return mem->mem.base == ZYDIS_REGISTER_RSP ||
	       (mem->mem.base == ZYDIS_REGISTER_RBP && mem->mem.index == ZYDIS_REGISTER_NONE &&
		mem->mem.disp.value < 0);
}

static bool is_shared(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && plain_segment(op) && !is_in_frame(op);
}

static bool is_fetch(const struct full *f)
{
	return (f->in.mnemonic == ZYDIS_MNEMONIC_MOV && is_gpr64(&f->op[0]) &&
		is_shared(&f->op[1])) ||
	       (f->in.mnemonic == ZYDIS_MNEMONIC_JMP && is_shared(&f->op[0]));
}

static void classify_plain(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];

	e->fetches = is_fetch(f);
	if (is_kept(f, x, y)) {
		set_op(e, FX_SPILL, gpr(y->reg.value), 0, 0);
		e->reads = bit(gpr(ZYDIS_REGISTER_RSP));
		return;
	}
	if (is_kept(f, y, x)) {
		set_op(e, FX_RELOAD, gpr(x->reg.value), 0, 0);
		return;
	}
	if (f->in.operand_count_visible == 1 && is_gpr64(x)) {
		if (f->in.mnemonic == ZYDIS_MNEMONIC_PUSH)
			set_op(e, FX_PUSH, gpr(x->reg.value), 0, 0);
		else if (f->in.mnemonic == ZYDIS_MNEMONIC_POP)
			set_op(e, FX_POP, gpr(x->reg.value), 0, 0);
		e->reads = e->op == FX_PUSH ? 0 : e->reads;
	}
	if ((f->in.mnemonic == ZYDIS_MNEMONIC_INC || f->in.mnemonic == ZYDIS_MNEMONIC_DEC) &&
	    (is_gpr64(x) || is_gpr32(x))) {
		set_op(e, FX_BITS, gpr(x->reg.value), gpr(x->reg.value), 0);
		e->reads = 0;
	}
	if (f->in.mnemonic == ZYDIS_MNEMONIC_CDQE) {
		enum { RAX = 0 };

		set_op(e, FX_EXTEND, RAX, RAX, 0);
		e->reads = 0;
	}
	if (f->in.operand_count_visible != 2)
		return;
	if (is_gpr64(x))
		classify_write(e, f);
	else if (is_gpr32(x) && f->in.mnemonic == ZYDIS_MNEMONIC_MOV)
		classify_word(e, f);
	if (e->op != FX_NONE || (!is_gpr64(x) && !is_gpr32(x)))
		return;
	if (f->in.mnemonic == ZYDIS_MNEMONIC_MOV && is_gpr32(x) && is_gpr32(y)) {
		set_op(e, FX_COPY_LOW, gpr(x->reg.value), gpr(y->reg.value), 0);
		e->reads = 0;
		return;
	}
	classify_bits(e, f);
	classify_sum(e, f);
}

static bool is_rsp(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_RSP;
}

/* Instructions that write rsp, but for calls and returns. */
static void classify_stack(struct effect *e, const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];
	int64_t bytes = 1;			/* by which the stack grows; 1: not known */

	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHFQ:
		bytes = f->in.operand_width == 64 ? 8 : 1;
		break;
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_POPFQ:
		bytes = f->in.operand_width == 64 && !is_rsp(x) ? -8 : 1;
		break;
	case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_ADD:
		if (is_rsp(x) && y->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			bytes = f->in.mnemonic == ZYDIS_MNEMONIC_SUB ? y->imm.value.s :
								       -y->imm.value.s;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (is_rsp(x) && y->mem.base == ZYDIS_REGISTER_RSP &&
		    y->mem.index == ZYDIS_REGISTER_NONE)
			bytes = -y->mem.disp.value;
		break;
	default:
		break;
	}
	e->moves_stack = bytes % 8 != 0 || bytes > INT32_MAX || bytes < -INT32_MAX;
	e->stack = e->moves_stack ? 0 : (int32_t)(bytes / 8);
}

static void classify_jump(struct effect *e, const struct full *f)
{
	e->fetches = is_fetch(f);
	if (is_gpr64(&f->op[0])) {
		set_op(e, FX_JUMP, gpr(f->op[0].reg.value), 0, 0);
		e->reads = 0;
	} else if (is_absolute(&f->op[0])) {
		set_op(e, FX_JUMP_TABLE, 0, 0, 0);
		e->value = (vaddr)f->op[0].mem.disp.value;
	}
}

/* Memory is read or written, or what is calculated may be no number. */
static bool may_fault(const struct full *f)
{
	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &f->op[i];

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    op->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			return true;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(op->reg.value) != ZYDIS_REGCLASS_XMM &&
		    ZydisRegisterGetClass(op->reg.value) != ZYDIS_REGCLASS_FLAGS &&
		    gpr(op->reg.value) < 0)
			return true;
	}
	switch (f->in.mnemonic) {
	case ZYDIS_MNEMONIC_DIV: case ZYDIS_MNEMONIC_IDIV:
		return true;
	default:
		/* with exceptions of floating point numbers */
		return f->in.meta.exception_class == ZYDIS_EXCEPTION_CLASS_SSE2 ||
		       f->in.meta.exception_class == ZYDIS_EXCEPTION_CLASS_SSE3;
	}
}

/* Registers of which ah, bh, ch or dh is written: more than their lowest bits, then. */
static uint16_t high_writes(const struct full *f)
{
	uint16_t mask = 0;

	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &f->op[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR8 &&
		    !is_low_byte(op->reg.value))
			mask |= bit(gpr(op->reg.value));
	}
	return mask;
}

/* Of the instruction that code begins with, but for what depends on its place; false when Zydis
 * does not know its operands. */
static bool ask(struct bytes code, const struct insn *insn, struct effect *out)
{
	enum { RSP = 4 };
	struct full f;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, insn->len, &f.in, f.op)))
		return false;
	struct effect e = { .kind = insn->kind, .len = insn->len };

	e.faults = insn->kind == INSN_TRAP;
	*out = e;
	if (insn->kind == INSN_NOP || insn->kind == INSN_TRAP)
		return true;		/* the operands of ud1 are never read */
	for (int i = 0; i < f.in.operand_count; i++) {
		add_operand(&e, &f.op[i], keeps_for_zero(&f));
		e.null |= is_null(&f.op[i]);
		/* Not every string instruction is said to move its address registers on. */
		if (f.in.meta.category == ZYDIS_CATEGORY_STRINGOP &&
		    f.op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			e.clobbers |= bit(gpr(f.op[i].mem.base));
	}
	e.low_kills &= (uint16_t)~high_writes(&f);
	if (f.in.cpu_flags) {
		const ZydisAccessedFlags *af = f.in.cpu_flags;

		e.flags_read = flag_mask(af->tested);
		e.flags_written =
			flag_mask(af->modified | af->set_0 | af->set_1 | af->undefined);
		set_repeats(&e, &f, e.flags_written);
		if (may_leave_flags(&f))
			e.flags_written = 0;
	}
	e.sets_count = sets_count(&f);
	e.kernel = f.in.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
	e.faults = may_fault(&f);
	if (ignores_operand(&f))
		e.reads = e.low_reads = e.word_reads = 0;
	if (((e.kills | e.clobbers) >> RSP & 1) && insn->kind != INSN_RET &&
	    insn->kind != INSN_CALL && insn->kind != INSN_ICALL)
		classify_stack(&e, &f);
	if (insn->kind == INSN_IJMP)
		classify_jump(&e, &f);
	else if (insn->kind == INSN_PLAIN)
		classify_plain(&e, &f);
	*out = e;
	return true;
}

/* What the instruction's field means where it stands. */
static void set_target(struct effect *e, const struct insn *insn, vaddr target)
{
	if (insn_is_branch(insn))
		e->target = target;
	else if (insn->kind == INSN_IJMP || insn->kind == INSN_ICALL)
		e->slot = target;
	else if (e->op == FX_BASE)
		e->value = target;
}

bool effect_decode(struct bytes code, vaddr addr, struct effect *out)
{
	static struct { uint64_t key; struct effect effect; } memo[BYTEMEMO_SLOTS];
	struct insn insn;
	vaddr target;

	if (!insn_decode(code, addr, &insn, &target))
		return false;
	uint64_t key = bytememo_key_placed((struct bytes){ code.p, insn.len }, &insn);
	uint32_t slot = bytememo_slot(key);

	if (key && memo[slot].key == key) {
		*out = memo[slot].effect;
	} else {
		if (!ask(code, &insn, out))
			return false;
		if (key) {
			memo[slot].key = key;
			memo[slot].effect = *out;
		}
	}
	if (insn.field)
		set_target(out, &insn, target);
	return true;
}

bool effect_is_null_store(const struct effect *e, struct bytes code)
{
	static const uint8_t ud2[] = { 0x0f, 0x0b };
	struct bytes behind = bytes_at(code, e->len, sizeof(ud2));

	return e->null && behind.n == sizeof(ud2) && memcmp(behind.p, ud2, sizeof(ud2)) == 0;
}
