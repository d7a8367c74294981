/* unwindexpr.c - what DWARF expressions in unwind rows give
 *
 * INVARIANT  an expression reads nothing but its operands, known registers and the piece of the
 *            stack, and ends after STEPS operations.
 *
 * Tested by tests/unit/editor/interpret/test_unwindwalk.c.
 */
#include "editor/interpret/unwindframe.h"

#include "binary/dwarf.h"

/* Both chosen: the longest that compilers make have some 20 operations. */
enum { DEPTH = 32, STEPS = 64 };

struct machine {
	const struct unwindframe *f;
	struct bytes code;
	struct rd r;
	uint64_t stack[DEPTH];
	unsigned n;
	bool bad;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		m->bad = true;
	else
		m->stack[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (m->n == 0) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->n];
}

/* The one so far below the top. */
static uint64_t pick(struct machine *m, unsigned below)
{
	if (below >= m->n) {
		m->bad = true;
		return 0;
	}
	return m->stack[m->n - 1 - below];
}

static uint64_t sum_with_register(struct machine *m, uint64_t reg, int64_t off)
{
	if (reg >= UNWINDFRAME_NREG || !(m->f->known >> reg & 1)) {
		m->bad = true;
		return 0;
	}
	return m->f->reg[reg] + (uint64_t)off;
}

static uint64_t load(struct machine *m, uint64_t addr, unsigned size)
{
	struct bytes b = bytes_at(m->f->stack, addr - m->f->stack_at, size);
	uint64_t v = 0;

	if (!b.p || size > sizeof(v))
		m->bad = true;
	else
		memcpy(&v, b.p, size);
	return v;
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)rd_u16(&m->r);
	int64_t to = (m->r.p - m->code.p) + by;

	if (!taken)
		return;
	if (to < 0 || (uint64_t)to > m->code.n)
		m->bad = true;
	else
		m->r.p = m->code.p + to;
}

/* Constants; false: it is none. */
static bool constant(struct machine *m, uint8_t op, uint64_t *v)
{
	struct rd *r = &m->r;

	switch (op) {
	case DW_OP_const1u: *v = rd_u8(r); return true;
	case DW_OP_const1s: *v = (uint64_t)(int8_t)rd_u8(r); return true;
	case DW_OP_const2u: *v = rd_u16(r); return true;
	case DW_OP_const2s: *v = (uint64_t)(int16_t)rd_u16(r); return true;
	case DW_OP_const4u: *v = rd_u32(r); return true;
	case DW_OP_const4s: *v = (uint64_t)(int32_t)rd_u32(r); return true;
	case DW_OP_const8u:
	case DW_OP_const8s: *v = rd_u64(r); return true;
	case DW_OP_constu: *v = rd_uleb(r); return true;
	case DW_OP_consts: *v = (uint64_t)rd_sleb(r); return true;
	default:
		*v = (uint64_t)op - DW_OP_lit0;
		return op >= DW_OP_lit0 && op <= DW_OP_lit31;
	}
}

/* Operations on the topmost one; false: it is none. */
static bool unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case DW_OP_deref: push(m, load(m, pop(m), 8)); return true;
	case DW_OP_deref_size:
		a = pop(m);
		push(m, load(m, a, rd_u8(&m->r)));
		return true;
	case DW_OP_abs:
		a = pop(m);
		push(m, a >> 63 ? -a : a);
		return true;
	case DW_OP_neg: push(m, -pop(m)); return true;
	case DW_OP_not: push(m, ~pop(m)); return true;
	case DW_OP_plus_uconst: push(m, pop(m) + rd_uleb(&m->r)); return true;
	default: return false;
	}
}

/* Operations on two, `b` the upper one; false: it is none. */
static bool binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *v)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and: *v = a & b; return true;
	case DW_OP_or: *v = a | b; return true;
	case DW_OP_xor: *v = a ^ b; return true;
	case DW_OP_plus: *v = a + b; return true;
	case DW_OP_minus: *v = a - b; return true;
	case DW_OP_mul: *v = a * b; return true;
	case DW_OP_div:
	case DW_OP_mod:
		m->bad |= b == 0 || (sa == INT64_MIN && sb == -1);
		*v = m->bad ? 0 : op == DW_OP_mod ? a % b : (uint64_t)(sa / sb);
		return true;
	case DW_OP_shl: *v = b < 64 ? a << b : 0; return true;
	case DW_OP_shr: *v = b < 64 ? a >> b : 0; return true;
	case DW_OP_shra: *v = (uint64_t)(sa >> (b < 63 ? b : 63)); return true;
	case DW_OP_eq: *v = a == b; return true;
	case DW_OP_ge: *v = sa >= sb; return true;
	case DW_OP_gt: *v = sa > sb; return true;
	case DW_OP_le: *v = sa <= sb; return true;
	case DW_OP_lt: *v = sa < sb; return true;
	case DW_OP_ne: *v = a != b; return true;
	default: return false;
	}
}

/* Operations that move what is on the stack, or jump; false: it is none. */
static bool moves(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case DW_OP_nop: return true;
	case DW_OP_dup: push(m, pick(m, 0)); return true;
	case DW_OP_over: push(m, pick(m, 1)); return true;
	case DW_OP_pick: push(m, pick(m, rd_u8(&m->r))); return true;
	case DW_OP_drop: (void)pop(m); return true;
	case DW_OP_swap:
	case DW_OP_rot:
		a = pop(m);
		b = pop(m);
		if (op == DW_OP_swap) {
			push(m, a);
			push(m, b);
			return true;
		}
		c = pop(m);
		push(m, a);
		push(m, c);
		push(m, b);
		return true;
	case DW_OP_skip: jump(m, true); return true;
	case DW_OP_bra: jump(m, pop(m) != 0); return true;
	default: return false;
	}
}

static void step(struct machine *m)
{
	uint8_t op = rd_u8(&m->r);
	uint64_t v, reg;

	if (constant(m, op, &v)) {
		push(m, v);
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push(m, sum_with_register(m, (uint64_t)op - DW_OP_breg0, rd_sleb(&m->r)));
	} else if (op == DW_OP_bregx) {
		reg = rd_uleb(&m->r);
		push(m, sum_with_register(m, reg, rd_sleb(&m->r)));
	} else if (!moves(m, op) && !unary(m, op)) {
		uint64_t b = pop(m), a = pop(m);

		m->bad |= !binary(m, op, a, b, &v);
		push(m, v);
	}
}

bool unwindexpr_value(const struct unwindframe *f, struct bytes expr, const uint64_t *start,
		      uint64_t *out)
{
	struct machine m = { .f = f, .code = expr, .r = rd_of(expr) };
	unsigned steps = 0;

	if (start)
		push(&m, *start);
	while (!m.bad && rd_left(&m.r)) {
		if (++steps > STEPS)
			return false;
		step(&m);
		m.bad |= m.r.bad;
	}
	if (m.bad || m.r.bad || m.n == 0)
		return false;
	*out = m.stack[m.n - 1];
	return true;
}
