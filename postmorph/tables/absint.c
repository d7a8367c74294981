/* absint.c - abstract interpretation of one instruction, for the proof of jump tables
 *
 * A state (absint.h) maps every general register, and a few places in memory, to an abstract
 * value (absvalue.h).  absint_step() gives the state after an instruction.  Two things are
 * followed:
 *
 *   DISPATCH  a register that holds the address of a table (base), a word read from it (entry),
 *             or the sum of both (target).  Every other use of such a value is an escape: then
 *             the table is not proven, because a program that looks at the address or at an
 *             entry would see that both have changed.  (A table whose address stays the
 *             original's may be used for anything: absint.stays.)
 *   BOUNDS    how large the low 8, 16, 32 and 64 bits of a register may be, by masks, shifts,
 *             extensions and comparisons.  A comparison bounds all values of the compared name,
 *             so copies, and a place in memory from which the value came, are bounded with it.
 *
 * INVARIANTS
 *   I1  a state admits everything that the processor may have there: what is not understood
 *       leaves a plain value, with all groups (tables) that it may depend on;
 *   I2  a value that depends on a table has that in `may`, through every copy, store and load.
 *
 * absjoin.c joins states where ways meet.
 */
#include "postmorph/tables/absint.h"

#include <string.h>

enum { RCX = 1, RSP = 4 };

uint64_t absint_may(const struct abs_state *s, uint8_t but)
{
	uint64_t may = 0;

	for (unsigned i = 0; i < ABS_NREG; i++)
		may |= i == but ? 0 : s->v[i].may;
	return may;
}

void absint_escape(struct absint *ai, uint64_t may)
{
	for (uint32_t g = 0; may && g < ai->ngroup; g++)
		if (may >> (g % 64) & 1)
			ai->escaped[g] = true;
}

static void escape(struct absint *ai, const struct abs_value *v)
{
	if (v->kind == ABS_MIXED)
		absint_escape(ai, v->may);
	else
		ai->escaped[v->group] = true;
}

/* An instruction looks at the low `bits` of a value in a way that has no meaning for tables. */
static void use(struct absint *ai, const struct abs_state *s, uint8_t reg, unsigned bits)
{
	if (reg < ABS_NREG && s->v[reg].may && bits > s->v[reg].clean)
		escape(ai, &s->v[reg]);
}

static void use_mask(struct absint *ai, const struct abs_state *s, uint16_t mask, unsigned bits)
{
	for (; mask; mask &= (uint16_t)(mask - 1))
		use(ai, s, (uint8_t)__builtin_ctz(mask), bits);
}

static bool is_entry(const struct abs_value *v)
{
	return v->kind == ABS_ENTRY || v->kind == ABS_WORD;
}

/* spills_read() of what the instruction reads in the frame. */
static uint32_t read_frame(const struct absint *ai, const struct op *op, uint64_t *may)
{
	*may = 0;
	if (!op->reads_frame || ai->spills.all.n == 0)
		return UINT32_MAX;
	if (ai->depth == 0) {
		*may = spills_may(&ai->spills);
		return 0;
	}
	return spills_read(&ai->spills, op->frame - ai->depth, op->frame_bytes, may);
}

/* A load of a whole register may load what is left over from a jump; all else must not. */
static bool is_reload(const struct op *op)
{
	return op->kind == OP_LOAD && op->bits >= 32 && op->bits == op->src_bits;
}

static void use_frame(struct absint *ai, const struct op *op)
{
	uint64_t may;

	if (!is_reload(op) && 8u * op->frame_bytes > read_frame(ai, op, &may))
		absint_escape(ai, may);
}

/* The name of value i; gives it one at instruction `insn` when it has none.  The same name may
 * be left over from the last time round a loop: those are other values now. */
static uint32_t name_of(struct abs_state *s, unsigned i, uint32_t insn, unsigned k)
{
	uint32_t name = 2 * insn + k + 1;

	if (s->v[i].name)
		return s->v[i].name;
	for (unsigned j = 0; j < ABS_NVALUE; j++)
		if (s->v[j].name == name)
			s->v[j].name = 0;
	if (s->compare.name == name)
		s->compare = (struct abs_compare){ 0 };
	s->v[i].name = name;
	s->v[i].form = FORM_WHOLE;
	return name;
}

static bool same_place(const struct abs_cell *c, const struct op_mem *m)
{
	return c->bytes && c->base == m->base && c->index == m->index && c->disp == m->disp &&
	       (c->index == ABS_NONE || c->scale == m->scale);
}

/* Number of the value that stands in memory m, making one; ABS_NONE if it is not followed. */
static unsigned cell_of(struct abs_state *s, const struct op *op, uint32_t insn)
{
	const struct op_mem *m = &op->mem;
	unsigned i = insn % ABS_NCELL;

	if (m->other || m->bytes == 0)
		return ABS_NONE;
	for (unsigned k = 0; k < ABS_NCELL; k++) {
		if (same_place(&s->cell[k], m) && m->bytes <= s->cell[k].bytes)
			return ABS_NREG + k;
		if (s->cell[k].bytes == 0)
			i = k;
	}
	s->cell[i] = (struct abs_cell){ .disp = m->disp, .base = m->base, .index = m->index,
					.scale = m->scale, .bytes = m->bytes };
	s->v[ABS_NREG + i] = value_plain();
	return ABS_NREG + i;
}

void absint_drop_cell(struct abs_state *s, unsigned k)
{
	s->cell[k] = (struct abs_cell){ 0 };
	s->v[ABS_NREG + k] = value_plain();
}

/* A store to m leaves cell c alone: same registers, other bytes; or stack and static data. */
static bool is_apart(const struct abs_cell *c, const struct op_mem *m)
{
	if (m->other || m->bytes == 0)
		return false;
	if (c->base == m->base && c->index == m->index &&
	    (c->index == ABS_NONE || c->scale == m->scale))
		return c->disp + c->bytes <= m->disp || m->disp + m->bytes <= c->disp;
	return c->index == ABS_NONE && m->index == ABS_NONE &&
	       ((c->base == RSP && m->base == ABS_RIP) ||
		(c->base == ABS_RIP && m->base == RSP));
}

static void kill_memory(struct abs_state *s, const struct op *op)
{
	for (unsigned k = 0; k < ABS_NCELL; k++)
		if (s->cell[k].bytes && (!op->has_mem || !is_apart(&s->cell[k], &op->mem)))
			absint_drop_cell(s, k);
}

static void kill_cells_of(struct abs_state *s, uint16_t regs)
{
	for (unsigned k = 0; k < ABS_NCELL; k++) {
		const struct abs_cell *c = &s->cell[k];

		if ((c->base < ABS_NREG && (regs >> c->base & 1)) ||
		    (c->index < ABS_NREG && (regs >> c->index & 1)))
			if (c->bytes)
				absint_drop_cell(s, k);
	}
}

static void write_registers(struct abs_state *s, const struct op *op)
{
	for (uint16_t m = op->writes; m; m &= (uint16_t)(m - 1)) {
		unsigned i = (unsigned)__builtin_ctz(m);

		s->v[i] = value_plain();
		s->v[i].short32 = op->writes32 >> i & 1;
	}
	for (uint16_t m = op->partial; m; m &= (uint16_t)(m - 1)) {
		struct abs_value *v = &s->v[__builtin_ctz(m)];
		uint8_t bits = op->partial16 & m & -m ? 16 : 8;

		value_blur(v);
		if (v->may && v->clean < bits)
			v->clean = bits;
	}
	kill_cells_of(s, op->writes | op->partial);
}

/* Who reads by way of *v reads the table that will be the new one. */
static bool reads_table(const struct absint *ai, const struct op *op, const struct abs_value *v)
{
	return v->kind == ABS_BASE && (op->movable || !ai->stays[v->group]);
}

/* mov (BASE, index, 4) or mov (BASE, 4 * index) in either order, to 32 bits: an entry that
 * is yet to be sign-extended. */
static bool load_word(struct absint *ai, const struct abs_state *s, const struct op *op,
		      struct abs_value *out)
{
	const struct op_mem *m = &op->mem;

	if (m->base >= ABS_NREG || m->disp != 0 || op->src_bits != 32)
		return false;
	const struct abs_value *base = &s->v[m->base], *index = &s->v[m->index];
	uint32_t bound = index->index;
	if (m->scale == 1 && index->kind == ABS_BASE) {
		base = index;
		index = &s->v[m->base];
		bound = index->index;
	}
	if (!reads_table(ai, op, base))
		return false;
	if (m->scale == 4) {
		use(ai, s, m->index, 64);
		bound = value_bound(index, W64);
	} else if (m->scale != 1 || index->kind != ABS_SCALED) {
		return false;
	}
	*out = value_of_table(ABS_WORD, base->group, bound, index);
	return true;
}

/* The table's own load: movslq (BASE, index, 4) or, absolute, mov T(, index, 8).  No table's
 * address is an index, not even its own. */
static bool load_entry(struct absint *ai, const struct abs_state *s, const struct op *op,
		       struct abs_value *out)
{
	const struct op_mem *m = &op->mem;

	if (m->other || m->index >= ABS_NREG || m->index == m->base)
		return false;
	if (op->bits == 32)
		return load_word(ai, s, op, out);
	if (op->bits != 64)
		return false;
	if (op->group != ABS_NO_GROUP && op->src_bits == 64) {
		use(ai, s, m->index, 64);
		*out = value_of_table(ABS_TARGET, op->group, value_bound(&s->v[m->index], W64),
				&s->v[m->index]);
		return true;
	}
	if (m->base >= ABS_NREG || m->scale != 4 || m->disp != 0 || op->src_bits != 32 ||
	    !op->sx || !reads_table(ai, op, &s->v[m->base]))
		return false;
	use(ai, s, m->index, 64);
	*out = value_of_table(ABS_ENTRY, s->v[m->base].group, value_bound(&s->v[m->index], W64),
			&s->v[m->index]);
	return true;
}

/* ENTRY + BASE of the same table, in either order. */
static bool sum(const struct abs_state *s, uint8_t x, uint8_t y, struct abs_value *out)
{
	const struct abs_value *a = &s->v[x], *b = &s->v[y];

	if (a->kind == ABS_BASE) {
		a = &s->v[y];
		b = &s->v[x];
	}
	if (a->kind != ABS_ENTRY || b->kind != ABS_BASE || a->group != b->group)
		return false;
	*out = value_of_table(ABS_TARGET, a->group, a->index, a);
	return true;
}

/* base + index * scale + constant: the low bits of the sum come from those of the two. */
static bool lea_bits(const struct abs_state *s, const struct op *op, struct abs_value *out)
{
	const struct op_mem *m = &op->mem;
	const struct abs_value *base = m->base < ABS_NREG ? &s->v[m->base] : NULL;
	const struct abs_value *index = m->index < ABS_NREG ? &s->v[m->index] : NULL;

	if (m->other || (!base && !index))
		return false;
	if (!value_logic(base ? base : index, base ? index : NULL, out))
		return false;
	out->short32 = op->bits == 32;
	return true;
}

/* The address of mem, which nothing is read from. */
static bool lea(struct absint *ai, const struct abs_state *s, const struct op *op,
		struct abs_value *out)
{
	const struct op_mem *m = &op->mem;

	if (op->group != ABS_NO_GROUP) {
		*out = value_of_table(ABS_BASE, op->group, 0, NULL);
		if (ai->stays[op->group])
			out->may = 0;
		return true;
	}
	if (m->other || m->index >= ABS_NREG || m->disp != 0 || op->bits != 64)
		return lea_bits(s, op, out);
	if (m->base == ABS_NONE && m->scale == 4) {
		const struct abs_value *index = &s->v[m->index];

		use(ai, s, m->index, 64);
		*out = value_plain();
		out->kind = ABS_SCALED;
		out->index = value_bound(index, W64);
		out->masked = index->masked;
		return true;
	}
	return (m->base < ABS_NREG && m->scale == 1 && sum(s, m->base, m->index, out)) ||
	       lea_bits(s, op, out);
}

/* Back from the frame, with what stands beside a byte there. */
static bool reload(const struct absint *ai, const struct op *op, struct abs_value *out)
{
	uint64_t may;
	uint32_t clean = is_reload(op) ? read_frame(ai, op, &may) : UINT32_MAX;

	if (clean >= op->bits)
		return false;
	*out = value_plain();
	out->kind = ABS_MIXED;
	out->may = may;
	out->clean = clean >= 16 ? 16 : clean >= 8 ? 8 : 0;
	out->short32 = op->bits == 32;
	return true;
}

/* A part of a register that is extended becomes a number, but for an entry; 32 bits that are
 * moved stay what they were. */
static void use_extended(struct absint *ai, const struct abs_state *s, const struct op *op)
{
	bool entry = op->src_bits == 32 && s->v[op->src].kind == ABS_WORD;

	if (op->src_bits < 32 || (op->src_bits == 32 && op->sx && !entry))
		use(ai, s, op->src, op->src_bits);
}

/* Result of the instructions that we understand; false: treat it by its masks. */
static bool result(struct absint *ai, struct abs_state *s, const struct op *op, uint32_t insn,
		   struct abs_value *out)
{
	struct abs_value *src = op->src < ABS_NREG ? &s->v[op->src] : NULL;

	switch (op->kind) {
	case OP_MOVE:
		if (!src->may)
			(void)name_of(s, op->src, insn, 0);
		use_extended(ai, s, op);
		*out = value_extend(src, op->src_bits, op->sx, op->bits);
		if (src->kind == ABS_WORD && op->sx && op->src_bits == 32 && op->bits == 64) {
			*out = *src;
			out->kind = ABS_ENTRY;
		}
		return true;
	case OP_LOAD: {
		if (load_entry(ai, s, op, out))
			return true;
		use_mask(ai, s, op->reads, 64);
		if (reload(ai, op, out))
			return true;
		unsigned c = cell_of(s, op, insn);
		if (c == ABS_NONE) {
			struct abs_value unknown = value_plain();

			*out = value_extend(&unknown, op->src_bits, op->sx, op->bits);
			return true;
		}
		(void)name_of(s, c, insn, 0);
		*out = value_extend(&s->v[c], op->src_bits, op->sx, op->bits);
		return true;
	}
	case OP_CONST:
		*out = value_bounded((uint64_t)op->imm);
		return true;
	case OP_LEA:
		return lea(ai, s, op, out);
	case OP_LOGIC:
		return op->bits >= 32 && value_logic(&s->v[op->dst], src, out);
	case OP_CMOV:
		*out = value_join(&s->v[op->dst], src);
		out->short32 |= op->bits == 32;
		return true;
	case OP_AND:
		if (s->v[op->dst].clean < 8 || op->bits < 32 ||
		    (uint64_t)op->imm >> s->v[op->dst].clean)
			return false;
		*out = value_plain();
		return true;
	case OP_ADD:
		return sum(s, op->dst, op->src, out);
	default:
		return false;
	}
}

static void compare(struct abs_state *s, const struct op *op, uint32_t insn)
{
	unsigned w = value_width(op->bits), i = op->dst;
	uint64_t n = (uint64_t)op->imm;

	s->compare = (struct abs_compare){ 0 };
	if (op->dst == ABS_NONE)
		i = cell_of(s, op, insn);
	if (i == ABS_NONE || n >= ABS_UNBOUND || s->v[i].may)
		return;
	uint32_t name = name_of(s, i, insn, 0);
	s->compare = (struct abs_compare){ .name = name, .n = (uint32_t)n, .form = s->v[i].form,
					   .width = (uint8_t)w, .valid = 1 };
}

static void store(struct abs_state *s, const struct op *op, uint32_t insn)
{
	struct abs_value *src = &s->v[op->src];

	if (src->may || src->kind == ABS_BASE || op->src_bits < 8)
		return;
	unsigned c = cell_of(s, op, insn);
	if (c == ABS_NONE)
		return;
	(void)name_of(s, op->src, insn, 0);
	s->v[c] = value_extend(src, op->src_bits, false, 64);
}

void absint_test(struct absint *ai, const struct abs_state *s, const struct op *op)
{
	if (op->flags_read & s->flags)
		absint_escape(ai, s->flags_may);
}

/* `out` is what the instruction makes of its operands, NULL if nothing from a table. */
static void write_flags(struct abs_state *s, const struct op *op, const struct abs_value *out)
{
	s->flags &= (uint16_t)~op->flags_written;
	if (s->counts)
		s->flags &= (uint16_t)~op->flags_repeated;
	if (out && out->may && (op->kind == OP_ADD || op->kind == OP_LOGIC)) {
		s->flags |= op->flags_written;
		s->flags_may |= out->may;
	}
	if (!s->flags)
		s->flags_may = 0;
	if ((op->writes | op->partial) >> RCX & 1)
		s->counts = op->kind == OP_CONST && (uint32_t)op->imm != 0;
}

/* mov %r, disp(%rsp) of a register of which a part was overwritten (spills.h); false:
 * anything else. */
static bool spill(struct absint *ai, const struct abs_state *s, const struct op *op)
{
	if (op->kind != OP_STORE || op->src_bits < 32 || op->mem.base != RSP ||
	    op->mem.index != ABS_NONE || op->mem.other || ai->depth == 0 ||
	    s->v[op->src].kind != ABS_MIXED || s->v[op->src].clean < 8)
		return false;
	spills_note(&ai->spills, ai->arena, (struct spill){
		.at = op->mem.disp - ai->depth, .may = s->v[op->src].may,
		.bytes = op->src_bits / 8, .clean = s->v[op->src].clean });
	return true;
}

void absint_step(struct absint *ai, struct abs_state *s, const struct op *op, uint32_t insn)
{
	struct abs_value out, old = value_plain();

	absint_test(ai, s, op);
	use_frame(ai, op);
	if (op->kind == OP_CMP_IMM) {
		use_mask(ai, s, op->reads, 64);
		use_mask(ai, s, op->reads16, 16);
		use_mask(ai, s, op->reads8, 8);
		write_flags(s, op, NULL);
		compare(s, op, insn);
		return;
	}
	bool known = result(ai, s, op, insn, &out);
	if (op->kind == OP_PUSH) {	/* compilers align the stack with any dead register */
		if (s->v[op->src].kind == ABS_BASE)
			use(ai, s, op->src, 64);
		ai->pushed_may |= s->v[op->src].may;
	} else if (!known && !spill(ai, s, op)) {
		use_mask(ai, s, op->reads, 64);
		use_mask(ai, s, op->reads16, 16);
		use_mask(ai, s, op->reads8, 8);
	}
	if (op->dst < ABS_NREG)
		old = s->v[op->dst];
	if (op->writes_mem && op->kind != OP_PUSH)	/* nothing is below the stack */
		kill_memory(s, op);
	write_registers(s, op);
	if (known)
		s->v[op->dst] = out;
	if (op->kind == OP_AND || op->kind == OP_SHR)
		value_mask(&s->v[op->dst], op, &old);
	if (op->kind == OP_STORE)
		store(s, op, insn);
	write_flags(s, op, known ? &out : NULL);
	if (op->flags)
		s->compare = (struct abs_compare){ 0 };
}

void absint_pass(struct absint *ai, const struct abs_state *s)
{
	static const uint16_t arguments = 1 << 7 | 1 << 6 | 1 << 2 | 1 << 1 | 1 << 8 | 1 << 9;

	for (unsigned i = 0; i < ABS_NREG; i++)
		if ((arguments >> i & 1) && s->v[i].may && s->v[i].fresh)
			escape(ai, &s->v[i]);
}

void absint_dispatch(struct abs_state *s)
{
	for (unsigned i = 0; i < ABS_NVALUE; i++)
		s->v[i].fresh = 0;
}

void absint_call(struct absint *ai, struct abs_state *s, const struct op *op,
		 uint16_t clobbered)
{
	use_frame(ai, op);
	use_mask(ai, s, op->reads, 64);
	for (unsigned i = 0; i < ABS_NREG; i++)
		if (is_entry(&s->v[i]))		/* of which base is open from here on */
			value_blur(&s->v[i]);
	for (uint16_t m = ABS_CALLER_SAVED; m; m &= (uint16_t)(m - 1)) {
		unsigned i = (unsigned)__builtin_ctz(m);

		if (clobbered >> i & 1)
			s->v[i] = value_plain();
		else if (s->v[i].kind != ABS_BASE || !s->v[i].may)
			value_blur(&s->v[i]);
	}
	for (unsigned k = 0; k < ABS_NCELL; k++)
		if (s->cell[k].bytes)
			absint_drop_cell(s, k);
	s->compare = (struct abs_compare){ 0 };
	if (op->kind == OP_KERNEL) {
		absint_test(ai, s, op);
		write_flags(s, op, NULL);
		return;
	}
	s->flags = s->counts = 0;
	s->flags_may = 0;
}

bool absint_jump(struct absint *ai, struct abs_state *s, const struct op *op,
		 struct abs_jump *out)
{
	use_frame(ai, op);
	if (op->kind == OP_JMP_REG && s->v[op->src].kind == ABS_TARGET) {
		const struct abs_value *v = &s->v[op->src];

		*out = (struct abs_jump){ v->group, v->index, v->masked };
		return true;
	}
	if (op->kind == OP_JMP_MEM && op->group != ABS_NO_GROUP) {
		const struct abs_value *v = &s->v[op->mem.index];

		use(ai, s, op->mem.index, 64);
		*out = (struct abs_jump){ op->group, value_bound(v, W64), v->masked };
		return true;
	}
	use_mask(ai, s, op->reads, 64);
	return false;
}

/* A value of the compared one's name and form is, in the compared width, <= n: what that
 * says about every value made from the same root. */
static void refine(struct abs_state *s, const struct abs_compare *c, uint32_t n)
{
	for (unsigned i = 0; i < ABS_NVALUE; i++)
		if (s->v[i].name == c->name && !s->v[i].may)
			value_limit(&s->v[i], c->form, c->width, n);
}

void absint_branch(struct abs_state *s, unsigned condition, bool taken)
{
	enum { BELOW = 2, EQUAL = 4, BELOW_EQUAL = 6 };
	struct abs_compare c = s->compare;

	if (!c.valid)
		return;
	if (condition & 1)		/* the inverse condition */
		taken = !taken;
	condition &= ~1u;
	if (!taken)
		return;
	if (condition == BELOW_EQUAL || condition == EQUAL)
		refine(s, &c, c.n);
	else if (condition == BELOW && c.n > 0)
		refine(s, &c, c.n - 1);
}

static bool is_base_held(const struct abs_state *s, uint16_t group)
{
	for (unsigned i = 0; i < ABS_NREG; i++)
		if (s->v[i].kind == ABS_BASE && s->v[i].group == group)
			return true;
	return false;
}

void absint_turn(struct abs_state *s)
{
	for (unsigned i = 0; i < ABS_NVALUE; i++)
		if (is_entry(&s->v[i]) && !is_base_held(s, s->v[i].group))
			value_blur(&s->v[i]);
}

void absint_top(struct abs_state *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < ABS_NVALUE; i++)
		s->v[i] = value_plain();
}

bool absint_throw(const struct abs_state *s, struct abs_state *out)
{
	bool any = false;

	absint_top(out);
	for (unsigned i = 0; i < ABS_NREG; i++) {
		if (!s->v[i].may || (ABS_CALLER_SAVED >> i & 1))
			continue;
		out->v[i] = s->v[i];
		value_blur(&out->v[i]);
		out->v[i].fresh = s->v[i].fresh;	/* the pad may pass it to a callee */
		any = true;
	}
	return any;
}
