/* machine.c - executes one instruction after the other, as far as its operands are known
 *
 * INVARIANTS
 *   I1  a value that is called known is the one that the processor would have: nothing that
 *       depends on an unknown operand is known;
 *   I2  bytes that are not known are 0 in struct value;
 *   I3  no instruction has an effect here that it does not have on the processor: one that is
 *       not modelled was turned into a list of what it writes, or is not followed.
 */
#include "postmorph/machine/machine.h"

static uint8_t bytes_of(unsigned bits)
{
	return (uint8_t)((1u << (bits / 8)) - 1);
}

static bool is_known(const struct value *v, unsigned bits)
{
	return (v->known & bytes_of(bits)) == bytes_of(bits);
}

static struct value known_value(uint64_t v)
{
	return (struct value){ v, 0xff, UNKNOWN_NOTHING };
}

static struct value unknown_value(enum unknown why)
{
	return (struct value){ 0, 0, (uint8_t)why };
}

/* Clears what is not known, so that no result can come from it. */
static struct value only_known(struct value v)
{
	for (unsigned i = 0; i < 8; i++)
		if (!(v.known >> i & 1))
			v.v &= ~((uint64_t)0xff << (8 * i));
	return v;
}

static uint8_t first_cause(const struct value *a, const struct value *b, const struct value *c)
{
	return a->why ? a->why : b->why ? b->why : c->why;
}

void machine_start(struct machine *m, const struct memview_file *file,
		   const struct statesample *sample)
{
	*m = (struct machine){ .flags = sample->rflags & FLAGS_ALL, .flags_known = FLAGS_ALL,
			       .pc = sample->pc - sample->bias };
	for (int i = 0; i < MACHINE_GPRS; i++)
		m->reg[i] = known_value(sample->gpr[i]);
	m->memory.file = file;
	m->memory.bias = sample->bias;
	m->memory.stack_at = sample->gpr[MACHINE_RSP];
	m->memory.stack = sample->stack;
	int n = sample->memory.n
			? statememory_pieces(sample->gpr, sample->memory, m->memory.piece)
			: 0;
	m->memory.npiece = n < 0 ? 0 : (uint32_t)n;
}

/* False when it is not known; *why is the cause. */
static bool address_of(const struct machine *m, const struct act *act, uint64_t *out,
		       uint8_t *why)
{
	unsigned bits = act->mem.narrow ? 32 : 64;
	uint64_t addr = (uint64_t)act->mem.disp;

	*why = UNKNOWN_CODE;
	if (act->mem.opaque)
		return false;
	if (act->mem.base == ACT_RIP) {
		*out = addr + m->memory.bias;
		return true;
	}
	if (act->mem.base != ACT_NO_REG) {
		const struct value *v = &m->reg[act->mem.base];

		*why = v->why;
		if (!is_known(v, bits))
			return false;
		addr += v->v;
	}
	if (act->mem.index != ACT_NO_REG) {
		const struct value *v = &m->reg[act->mem.index];

		*why = v->why;
		if (!is_known(v, bits))
			return false;
		addr += v->v * act->mem.scale;
	}
	*out = alu_low(addr, bits);
	return true;
}

static struct value read_arg(const struct machine *m, const struct act *act,
			     const struct arg *arg)
{
	uint64_t addr;
	uint8_t why;

	switch (arg->kind) {
	case ARG_REG:
		return m->reg[arg->reg];
	case ARG_HIGH:
		return (struct value){ m->reg[arg->reg].v >> 8 & 0xff,
				       m->reg[arg->reg].known >> 1 & 1, m->reg[arg->reg].why };
	case ARG_MEM:
		if (!address_of(m, act, &addr, &why))
			return unknown_value(why);
		return memview_read(&m->memory, addr, arg->bits / 8);
	case ARG_IMM:
		return known_value(act->imm);
	default:
		return known_value(0);
	}
}

static void write_register(struct machine *m, const struct arg *arg, struct value v)
{
	struct value *reg = &m->reg[arg->reg];
	unsigned shift = arg->kind == ARG_HIGH ? 8 : 0;
	uint8_t mask = (uint8_t)(bytes_of(arg->bits) << shift / 8);
	uint64_t bits = alu_low(UINT64_MAX, arg->bits) << shift;

	if (arg->bits == 32) {			/* clears the upper half */
		mask = 0xff;
		bits = UINT64_MAX;
		v.v = alu_low(v.v, 32);
		v.known |= 0xf0;
	}
	reg->v = (reg->v & ~bits) | (v.v << shift & bits);
	reg->known = (uint8_t)((reg->known & ~mask) | (v.known << shift / 8 & mask));
	if (v.why)
		reg->why = v.why;
	*reg = only_known(*reg);
	if (reg->known == 0xff)
		reg->why = UNKNOWN_NOTHING;
}

/* False when there is no more room.  A store to an unknown address may have hit anything. */
static bool write_arg(struct machine *m, const struct act *act, const struct arg *arg,
		      struct value v)
{
	uint64_t addr;
	uint8_t why;

	if (arg->kind == ARG_REG || arg->kind == ARG_HIGH)
		write_register(m, arg, v);
	else if (arg->kind == ARG_MEM && address_of(m, act, &addr, &why))
		return memview_write(&m->memory, addr, arg->bits / 8, v);
	else if (arg->kind == ARG_MEM)
		memview_forget(&m->memory);
	return true;
}

static void set_flags(struct machine *m, uint16_t written, uint16_t known, uint16_t flags,
		      uint8_t why)
{
	m->flags = (uint16_t)((m->flags & ~written) | (flags & written & known));
	m->flags_known = (uint16_t)((m->flags_known & ~written) | (known & written));
	if (why)
		m->flags_why = why;
}

/* The bytes of a & b, a | b, a ^ b, ~a that are known although others are not. */
static struct value bytewise(enum alu op, const struct act *act, const struct value *a,
			     const struct value *b, uint64_t result)
{
	uint8_t known = op == ALU_NOT ? a->known : a->known & b->known;

	for (unsigned i = 0; i < 8 && act->b.kind == ARG_IMM; i++) {
		uint8_t byte = act->imm >> (8 * i) & 0xff;

		if ((op == ALU_AND && byte == 0) || (op == ALU_OR && byte == 0xff))
			known |= (uint8_t)(1u << i);
	}
	return (struct value){ result, known, a->why ? a->why : b->why };
}

/* Scans of zero leave all of the register as it was, even the half that 32 bits else clear. */
static bool write_result(struct machine *m, const struct act *act, struct value v)
{
	struct arg dst = act->dst;

	if ((act->alu == ALU_BSF || act->alu == ALU_BSR) && v.known != 0xff && dst.bits == 32)
		dst.bits = 64;
	return write_arg(m, act, &dst, v);
}

static bool run_unknown(struct machine *m, const struct act *act, const struct value in[3],
			const uint64_t operand[3], uint8_t why)
{
	uint16_t written = alu_writes(act->alu), known = 0;
	struct value result = unknown_value(why);
	struct alu_out out;

	if (act->alu == ALU_AND || act->alu == ALU_OR || act->alu == ALU_XOR ||
	    act->alu == ALU_NOT) {
		/* cannot fault */
		(void)alu_run(act->alu, act->bits, operand, false, &out);
		known = written & (FLAG_CF | FLAG_OF);
		result = bytewise(act->alu, act, &in[0], &in[1], out.value);
	}
	set_flags(m, written, known, 0, why);
	return write_result(m, act, result);
}

static bool run_alu(struct machine *m, const struct act *act)
{
	struct value in[3] = { read_arg(m, act, &act->a), read_arg(m, act, &act->b),
			       read_arg(m, act, &act->c) };
	bool carries = act->alu == ALU_ADC || act->alu == ALU_SBB, known = true;
	const struct arg *arg[3] = { &act->a, &act->b, &act->c };
	uint8_t why = first_cause(&in[0], &in[1], &in[2]);
	uint64_t operand[3];
	struct alu_out out;

	for (int i = 0; i < 3; i++) {
		if (act->clears)
			in[i] = known_value(0);
		known &= is_known(&in[i], arg[i]->kind ? arg[i]->bits : 0);
		operand[i] = only_known(in[i]).v;
	}
	if (known && carries && !(m->flags_known & FLAG_CF)) {
		known = false;
		why = m->flags_why;
	}
	if (!known)
		return run_unknown(m, act, in, operand, why);
	if (!alu_run(act->alu, act->bits, operand, m->flags & FLAG_CF, &out))
		return false;
	set_flags(m, out.written, out.defined, out.flags, UNKNOWN_CODE);
	return write_result(m, act, out.undefined ? unknown_value(UNKNOWN_CODE) :
						    known_value(out.value));
}

/* Results of twice the width, in rdx:rax or ax; and the other way round. */
static bool run_wide(struct machine *m, const struct act *act)
{
	bool divides = act->kind == ACT_DIVIDE;
	struct arg low = { ARG_REG, 0, act->bits }, high = { ARG_REG, 2, act->bits };
	if (act->bits == 8)
		high = (struct arg){ ARG_HIGH, 0, 8 };
	struct value a = read_arg(m, act, &low), b = read_arg(m, act, &high);
	struct value by = read_arg(m, act, &act->a);
	uint8_t why = first_cause(&a, &by, divides ? &b : &by);
	struct value out_low = unknown_value(why), out_high = out_low;
	struct alu_out out = { .written = FLAGS_ALL };

	if (is_known(&a, act->bits) && is_known(&by, act->bits) &&
	    (!divides || is_known(&b, act->bits))) {
		uint64_t operand[3] = { a.v, divides ? b.v : by.v, by.v };

		if (!alu_run(act->alu, act->bits, operand, false, &out))
			return false;
		out_low = known_value(out.value);
		out_high = known_value(out.high);
		why = UNKNOWN_CODE;
	}
	set_flags(m, out.written, out.defined, out.flags, why);
	write_register(m, &low, out_low);
	write_register(m, &high, out_high);
	return true;
}

static bool run_move(struct machine *m, const struct act *act)
{
	struct value v = read_arg(m, act, &act->a);
	unsigned from = act->a.bits;

	if (act->sx && !is_known(&v, from))
		v = unknown_value(v.why);
	else if (act->sx)
		v = known_value((uint64_t)alu_signed(v.v, from));
	else if (from < 64)
		v = (struct value){ alu_low(v.v, from), (uint8_t)(v.known | ~bytes_of(from)),
				    v.why };
	return write_arg(m, act, &act->dst, v);
}

static bool run_sign(struct machine *m, const struct act *act)
{
	struct arg rdx = { ARG_REG, 2, act->bits };
	struct value v = m->reg[0];

	write_register(m, &rdx, is_known(&v, act->bits) ?
		       known_value((uint64_t)(alu_signed(v.v, act->bits) >> 63)) :
		       unknown_value(v.why));
	return true;
}

static bool condition_known(const struct machine *m, unsigned cond)
{
	uint16_t reads = alu_condition_reads(cond);

	return (m->flags_known & reads) == reads;
}

/* A choice between a known and an unknown value is unknown, whichever is chosen. */
static bool run_cmov(struct machine *m, const struct act *act)
{
	struct value a = read_arg(m, act, &act->a), old = read_arg(m, act, &act->dst), v;

	if (!condition_known(m, act->cond))
		v = unknown_value(m->flags_why);
	else
		v = alu_condition(act->cond, m->flags) ? a : old;
	v.known &= a.known & old.known;
	if (!v.why)
		v.why = first_cause(&a, &old, &old);
	return write_arg(m, act, &act->dst, only_known(v));
}

static bool run_set(struct machine *m, const struct act *act)
{
	return write_arg(m, act, &act->dst, condition_known(m, act->cond) ?
			 known_value(alu_condition(act->cond, m->flags)) :
			 unknown_value(m->flags_why));
}

static bool run_lea(struct machine *m, const struct act *act)
{
	uint64_t addr;
	uint8_t why;
	struct value v =
		address_of(m, act, &addr, &why) ? known_value(addr) : unknown_value(why);

	return write_arg(m, act, &act->dst, v);
}

static bool push(struct machine *m, struct value v)
{
	struct value *rsp = &m->reg[MACHINE_RSP];

	if (!is_known(rsp, 64))
		return true;
	rsp->v -= 8;
	return memview_write(&m->memory, rsp->v, 8, v);
}

static struct value pop(struct machine *m)
{
	struct value *rsp = &m->reg[MACHINE_RSP];

	if (!is_known(rsp, 64))
		return unknown_value(rsp->why);
	rsp->v += 8;
	return memview_read(&m->memory, rsp->v - 8, 8);
}

static bool run_stack(struct machine *m, const struct act *act)
{
	struct arg rbp = { ARG_REG, 5, 64 };

	if (act->kind == ACT_PUSH)
		return push(m, read_arg(m, act, &act->a));
	if (act->kind == ACT_LEAVE) {
		m->reg[MACHINE_RSP] = m->reg[rbp.reg];
		write_register(m, &rbp, pop(m));
		return true;
	}
	struct value v = pop(m);
	return write_arg(m, act, &act->dst, v);
}

static bool run_exchange(struct machine *m, const struct act *act)
{
	struct value a = read_arg(m, act, &act->dst), b = read_arg(m, act, &act->a);
	struct value first = b;

	if (act->kind == ACT_EXCHANGE_ADD) {
		uint64_t operand[3] = { a.v, b.v, 0 };
		bool known = is_known(&a, act->bits) && is_known(&b, act->bits);
		struct alu_out out = { .written = FLAGS_ALL };
		uint8_t why = known ? UNKNOWN_CODE : first_cause(&a, &b, &b);

		if (known)
			/* no fault */
			(void)alu_run(ALU_ADD, act->bits, operand, false, &out);
		first = known ? known_value(out.value) : unknown_value(why);
		set_flags(m, out.written, out.defined, out.flags, why);
	}
	/* An operand in memory is addressed by the registers as they were. */
	if (act->dst.kind == ARG_MEM) {
		bool room = write_arg(m, act, &act->dst, first);

		return write_arg(m, act, &act->a, a) && room;
	}
	return write_arg(m, act, &act->a, a) && write_arg(m, act, &act->dst, first);
}

static bool run_carry(struct machine *m, const struct act *act)
{
	bool carry = act->imm == 2 ? !(m->flags & FLAG_CF) : act->imm;

	if (act->imm != 2 || (m->flags_known & FLAG_CF))
		set_flags(m, FLAG_CF, FLAG_CF, carry ? FLAG_CF : 0, UNKNOWN_NOTHING);
	return true;
}

static bool run_other(struct machine *m, const struct act *act)
{
	uint64_t addr;
	uint8_t why;

	bool has_address = act->stores && act->stores != UINT16_MAX &&
			   address_of(m, act, &addr, &why);
	if (act->stores && !has_address)
		memview_forget(&m->memory);
	for (unsigned i = 0; has_address && i < act->stores; i += 8) {
		unsigned n = act->stores - i < 8 ? act->stores - i : 8;

		if (!memview_write(&m->memory, addr + i, n, unknown_value(UNKNOWN_CODE)))
			return false;
	}
	for (uint8_t r = 0; r < MACHINE_GPRS; r++) {
		struct arg whole = { ARG_REG, r, 64 }, part = { ARG_REG, r, 16 };

		if (act->wipes >> r & 1)
			write_register(m, &whole, unknown_value(UNKNOWN_CODE));
		if (act->wipes_part >> r & 1)
			write_register(m, &part, unknown_value(UNKNOWN_CODE));
	}
	if (act->wipes_flags)
		set_flags(m, act->wipes_flags, 0, 0, UNKNOWN_CODE);
	return true;
}

/* Everything that goes on at the next instruction; false: it cannot be followed. */
static bool run_plain(struct machine *m, const struct act *act)
{
	switch ((enum act_kind)act->kind) {
	case ACT_NOP: return true;
	case ACT_MOVE: return run_move(m, act);
	case ACT_LEA: return run_lea(m, act);
	case ACT_ALU: return run_alu(m, act);
	case ACT_WIDE: case ACT_DIVIDE: return run_wide(m, act);
	case ACT_SIGN: return run_sign(m, act);
	case ACT_SET: return run_set(m, act);
	case ACT_CMOV: return run_cmov(m, act);
	case ACT_CARRY: return run_carry(m, act);
	case ACT_PUSH: case ACT_POP: case ACT_LEAVE: return run_stack(m, act);
	case ACT_EXCHANGE: case ACT_EXCHANGE_ADD: return run_exchange(m, act);
	case ACT_OTHER: return run_other(m, act);
	case ACT_GUARD:		/* a program whose guard has changed does not live on */
		set_flags(m, FLAGS_ALL, FLAGS_ALL, alu_flags_of(0, 64), UNKNOWN_NOTHING);
		return write_arg(m, act, &act->dst, known_value(0));
	default:
		return false;
	}
}

static enum step go(struct machine *m, enum step step, vaddr to)
{
	m->pc = to;
	return step;
}

static enum step run_loop(struct machine *m, const struct act *act, enum unknown *why)
{
	struct value *rcx = &m->reg[1];
	bool only_tests = act->cond == LOOP_RCX_ZERO || act->cond == LOOP_ECX_ZERO;
	bool by_flag = act->cond == LOOP_EQUAL || act->cond == LOOP_NOT_EQUAL;
	unsigned bits = act->cond == LOOP_ECX_ZERO ? 32 : 64;

	*why = rcx->why;
	if (!is_known(rcx, bits))
		return STEP_UNKNOWN;
	*why = m->flags_why;
	if (by_flag && !(m->flags_known & FLAG_ZF))
		return STEP_UNKNOWN;
	if (!only_tests)
		rcx->v--;
	bool taken = (alu_low(rcx->v, bits) == 0) == only_tests;
	if (by_flag)
		taken = taken && !(m->flags & FLAG_ZF) == (act->cond == LOOP_NOT_EQUAL);
	return go(m, STEP_BRANCH, taken ? act->imm : m->pc + act->len);
}

static enum step run_return(struct machine *m, const struct act *act, enum unknown *why)
{
	struct value rsp = m->reg[MACHINE_RSP], to = pop(m);

	*why = to.why;
	if (!is_known(&to, 64)) {
		m->reg[MACHINE_RSP] = rsp;
		return STEP_UNKNOWN;
	}
	m->reg[MACHINE_RSP].v += act->imm;
	return go(m, STEP_RET, to.v - m->memory.bias);
}

bool act_is_through_slot(const struct act *act)
{
	return act->a.kind == ARG_MEM && act->mem.base == ACT_RIP &&
	       act->mem.index == ACT_NO_REG;
}

enum step machine_step(struct machine *m, const struct act *act, enum unknown *why)
{
	vaddr next = m->pc + act->len;
	struct value to;

	*why = UNKNOWN_NOTHING;
	switch (act->kind) {
	case ACT_JMP:
		return go(m, STEP_ON, act->imm);
	case ACT_JCC:
		*why = m->flags_why;
		if (!condition_known(m, act->cond))
			return STEP_UNKNOWN;
		return go(m, STEP_BRANCH, alu_condition(act->cond, m->flags) ? act->imm : next);
	case ACT_LOOP:
		return run_loop(m, act, why);
	case ACT_IJMP: case ACT_ICALL:
		to = read_arg(m, act, &act->a);
		*why = to.why;
		if (!is_known(&to, 64))
			return STEP_UNKNOWN;
		if (act->kind == ACT_IJMP)
			return go(m, act_is_through_slot(act) ? STEP_ON : STEP_BRANCH,
				  to.v - m->memory.bias);
		if (!push(m, known_value(next + m->memory.bias)))
			return STEP_STOP;
		return go(m, STEP_ICALL, to.v - m->memory.bias);
	case ACT_CALL:
		if (!push(m, known_value(next + m->memory.bias)))
			return STEP_STOP;
		return go(m, STEP_CALL, act->imm);
	case ACT_RET:
		return run_return(m, act, why);
	default:
		if (!run_plain(m, act))
			return STEP_STOP;
		return go(m, STEP_ON, next);
	}
}

void machine_lose(struct machine *m, uint16_t registers, bool flags)
{
	for (unsigned r = 0; r < MACHINE_GPRS; r++)
		if (registers >> r & 1)
			m->reg[r] = unknown_value(UNKNOWN_CODE);
	if (flags)
		set_flags(m, FLAGS_ALL, 0, 0, UNKNOWN_CODE);
}
