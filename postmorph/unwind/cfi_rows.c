/* cfi_rows.c - runs call frame instructions and makes the unwind row of every address
 *
 * Runs the instructions of a CIE or an FDE over one current state and makes a row wherever the
 * state differs from the row before.  States are interned: a hash table maps a rule set to its
 * index, so that equality of rows anywhere in the program is equality of two numbers.
 *
 * Most rules are for the general registers, which have an array.  The few others have a list
 * that the states share where they can, and which only grows in the one state that is being
 * changed.
 *
 * A program that is not modelled (registers beyond CFI_REG_END or too many of them, expressions
 * over MAX_EXPR or with what may be an address relative to their place, unknown opcodes, a
 * location that runs backwards or out of its FDE, a stack of more than MAX_REMEMBER states)
 * gives false, never an error: the function it describes is left alone.
 *
 * INVARIANTS
 *   I1  state[0] has no rule, and no two states are equal;
 *   I2  the rows of an FDE ascend strictly, begin at its first address, lie inside it, and no
 *       two neighbours have the same state.
 *
 * Tested by tests/unit/postmorph/unwind/test_cfi.c.
 */
#include "postmorph/unwind/cfi_rows.h"
#include "binary/dwarf.h"

/* Chosen, far above what compilers make: a function that has more is left alone. */
enum { MAX_REMEMBER = 32, MAX_STATES = 1 << 18, MAX_OTHER = 64, MAX_EXPR = 255 };

struct cfi_table {
	struct arena *a;
	VEC(struct cfi_state) state;
	VEC(struct cfi_row) rows;
	uint32_t *slot;		/* [nslot] open addressing: index + 1, 0 = free */
	uint32_t nslot;		/* a power of two, at least twice state.n */
};

struct live {			/* a state with room for changes: s.other is its own */
	struct cfi_state s;
	struct cfi_other other[MAX_OTHER];
};

struct run {			/* one program being interpreted */
	struct cfi_table *t;
	const struct cie *cie;
	const struct cfi_state *initial;	/* NULL while the CIE's own program runs */
	struct rd r;
	struct live now;
	vaddr loc, end;		/* end is exclusive; both 0 for a CIE */
	vaddr insns_addr;
	const uint8_t *insns;
	uint32_t depth;
	struct live stack[MAX_REMEMBER];
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static uint64_t hash_bytes(uint64_t h, struct bytes b)
{
	h = mix(h, b.n);
	for (uint64_t i = 0; i < b.n; i++)
		h = mix(h, b.p[i]);
	return h;
}

static uint64_t hash_rule(uint64_t h, uint32_t reg, const struct cfi_rule *rule)
{
	h = mix(h, (uint64_t)rule->off << 16 ^ (reg << 8 | rule->kind));
	return rule->expr.n ? hash_bytes(h, rule->expr) : h;
}

static uint64_t hash_state(const struct cfi_state *s)
{
	uint64_t h = mix(s->args_size,
			 (uint64_t)s->cfa_off << 16 ^ (s->cfa_reg << 1 | s->cfa_is_expr));

	if (s->cfa_is_expr)
		h = hash_bytes(h, s->cfa_expr);
	for (uint32_t i = 0; i < CFI_NREG; i++)
		if (s->reg[i].kind != CFI_UNSPEC)
			h = hash_rule(h, i, &s->reg[i]);
	for (uint32_t i = 0; i < s->nother; i++)
		h = hash_rule(h, s->other[i].reg, &s->other[i].rule);
	return h;
}

static bool equal_bytes(struct bytes x, struct bytes y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);
}

static bool equal_rule(const struct cfi_rule *x, const struct cfi_rule *y)
{
	return x->kind == y->kind && x->off == y->off && equal_bytes(x->expr, y->expr);
}

static bool equal_state(const struct cfi_state *x, const struct cfi_state *y)
{
	if (x->cfa_is_expr != y->cfa_is_expr || x->cfa_reg != y->cfa_reg ||
	    x->cfa_off != y->cfa_off || x->args_size != y->args_size ||
	    x->nother != y->nother || !equal_bytes(x->cfa_expr, y->cfa_expr))
		return false;
	for (uint32_t i = 0; i < CFI_NREG; i++)
		if (!equal_rule(&x->reg[i], &y->reg[i]))
			return false;
	for (uint32_t i = 0; i < x->nother; i++)
		if (x->other[i].reg != y->other[i].reg ||
		    !equal_rule(&x->other[i].rule, &y->other[i].rule))
			return false;
	return true;
}

static void insert_slot(struct cfi_table *t, uint32_t index)
{
	uint32_t mask = t->nslot - 1;
	uint32_t i = (uint32_t)hash_state(&t->state.v[index]) & mask;

	while (t->slot[i])
		i = (i + 1) & mask;
	t->slot[i] = index + 1;
}

/* False when there are too many different states for one file. */
static bool intern(struct cfi_table *t, const struct cfi_state *s, uint32_t *index)
{
	uint32_t mask = t->nslot - 1;

	for (uint32_t i = (uint32_t)hash_state(s) & mask; t->slot[i]; i = (i + 1) & mask) {
		if (equal_state(s, &t->state.v[t->slot[i] - 1])) {
			*index = t->slot[i] - 1;
			return true;
		}
	}
	if (t->state.n >= MAX_STATES)
		return false;
	struct cfi_state kept = *s;

	kept.other =
		s->nother ? arena_dup(t->a, s->other, s->nother * sizeof(*s->other)) : NULL;
	*index = t->state.n;
	vec_push(t->a, &t->state, kept);
	if (2 * t->state.n > t->nslot) {
		t->nslot *= 2;
		t->slot = arena_array(t->a, t->nslot, sizeof(*t->slot));
		for (uint32_t i = 0; i < t->state.n; i++)
			insert_slot(t, i);
	} else {
		insert_slot(t, *index);
	}
	return true;
}

struct cfi_table *cfi_table_new(struct arena *a)
{
	struct cfi_table *t = arena_alloc(a, sizeof(*t));
	struct cfi_state none = { 0 };
	uint32_t index;

	t->a = a;
	t->nslot = 1024;
	t->slot = arena_array(a, t->nslot, sizeof(*t->slot));
	(void)intern(t, &none, &index);		/* cannot fail: the table is empty */
	return t;
}

/* Every row but the first of an FDE takes two instructions: one that advances, one that
 * changes something. */
void cfi_table_reserve(struct cfi_table *t, uint64_t bytes)
{
	vec_reserve(t->a, &t->rows, (uint32_t)(bytes < UINT32_MAX ? bytes / 2 : 0));
}

void cfi_table_get(const struct cfi_table *t, struct cfi *out)
{
	out->state = t->state.v;
	out->nstate = t->state.n;
	out->rows = t->rows.v;
	out->nrow = t->rows.n;
}

bool cfi_read_pointer(struct rd *r, uint8_t enc, vaddr at, uint64_t *raw, uint64_t *value)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*raw = rd_u64(r);
		break;
	case DW_EH_PE_udata4:
		*raw = rd_u32(r);
		break;
	case DW_EH_PE_sdata4:
		*raw = (uint64_t)(int64_t)rd_s32(r);
		break;
	default:
		return false;
	}
	if ((enc & 0x70) != 0 && (enc & 0x70) != DW_EH_PE_pcrel)
		return false;
	*value = *raw ? *raw + ((enc & 0x70) == DW_EH_PE_pcrel ? at : 0) : 0;
	return !r->bad;
}

static void copy_live(struct live *to, const struct cfi_state *from)
{
	to->s = *from;
	to->s.other = to->other;
	if (from->nother)
		memcpy(to->other, from->other, from->nother * sizeof(*from->other));
}

/* Appends a row for [loc, ...) unless the state is that of the row before. */
static bool put_row(struct run *u, struct fde *fde)
{
	uint32_t index;

	if (!intern(u->t, &u->now.s, &index))
		return false;
	if (fde->nrow > 0) {
		struct cfi_row *last = &u->t->rows.v[u->t->rows.n - 1];

		if (last->addr == u->loc) {	/* an advance by nothing */
			if (fde->nrow > 1 && last[-1].state == index) {
				u->t->rows.n--;
				fde->nrow--;
				return true;
			}
			last->state = index;
			return true;
		}
		if (last->state == index)
			return true;
	}
	struct cfi_row row = { .addr = u->loc, .state = index };

	vec_push(u->t->a, &u->t->rows, row);
	fde->nrow++;
	return true;
}

static bool advance(struct run *u, struct fde *fde, uint64_t delta)
{
	uint64_t step;

	if (!fde || __builtin_mul_overflow(delta, u->cie->code_align, &step) ||
	    step > u->end - u->loc)
		return false;
	if (!put_row(u, fde))
		return false;
	u->loc += step;
	return true;
}

static bool set_loc(struct run *u, struct fde *fde)
{
	vaddr at = u->insns_addr + (uint64_t)(u->r.p - u->insns);
	uint64_t raw, value;

	if (fde)
		fde->has_address = true;
	if (!fde || !cfi_read_pointer(&u->r, u->cie->fde_enc, at, &raw, &value) ||
	    value < u->loc || value > u->end || !put_row(u, fde))
		return false;
	u->loc = value;
	return true;
}

static bool set_other(struct live *now, uint32_t reg, const struct cfi_rule *rule)
{
	struct cfi_other *o = now->other;
	uint32_t n = now->s.nother, i = 0;

	while (i < n && o[i].reg < reg)
		i++;
	bool found = i < n && o[i].reg == reg;

	if (rule->kind == CFI_UNSPEC) {
		if (found)
			memmove(&o[i], &o[i + 1], (--now->s.nother - i) * sizeof(*o));
		return true;
	}
	if (!found) {
		if (n == MAX_OTHER)
			return false;
		memmove(&o[i + 1], &o[i], (n - i) * sizeof(*o));
		now->s.nother++;
	}
	o[i] = (struct cfi_other){ reg, *rule };
	return true;
}

static bool put_rule(struct run *u, uint64_t reg, const struct cfi_rule *rule)
{
	if (reg >= CFI_REG_END)
		return false;
	if (reg >= CFI_NREG)
		return set_other(&u->now, (uint32_t)reg, rule);
	u->now.s.reg[reg] = *rule;
	return true;
}

static bool set_rule(struct run *u, uint64_t reg, uint8_t kind, int64_t off)
{
	return put_rule(u, reg, &(struct cfi_rule){ .kind = kind, .off = off });
}

static bool set_scaled(struct run *u, uint64_t reg, uint8_t kind, int64_t factored)
{
	int64_t off;

	return !__builtin_mul_overflow(factored, u->cie->data_align, &off) &&
	       set_rule(u, reg, kind, off);
}

/* Perhaps: an address relative to its own place, and a copy of the expression has another
 * one. */
static bool may_have_place(const uint8_t *expr, uint64_t n)
{
	return n && memchr(expr, DW_OP_GNU_encoded_addr, n);
}

static bool set_expr(struct run *u, uint64_t reg, uint8_t kind)
{
	uint64_t n = rd_uleb(&u->r);
	const uint8_t *p = rd_skip(&u->r, n);

	return p && n <= MAX_EXPR && !may_have_place(p, n) &&
	       put_rule(u, reg, &(struct cfi_rule){ .kind = kind, .expr = { p, n } });
}

static bool set_cfa(struct run *u, uint64_t reg, int64_t off)
{
	if (reg >= CFI_RA)
		return false;
	u->now.s.cfa_is_expr = false;
	u->now.s.cfa_reg = (uint8_t)reg;
	u->now.s.cfa_off = off;
	u->now.s.cfa_expr = (struct bytes){ NULL, 0 };
	return true;
}

static bool set_cfa_scaled(struct run *u, uint64_t reg, int64_t factored)
{
	int64_t off;

	return !__builtin_mul_overflow(factored, u->cie->data_align, &off) &&
	       set_cfa(u, reg, off);
}

static bool set_cfa_expr(struct run *u)
{
	uint64_t n = rd_uleb(&u->r);
	const uint8_t *p = rd_skip(&u->r, n);

	if (!p || n > MAX_EXPR || may_have_place(p, n))
		return false;
	u->now.s.cfa_is_expr = true;
	u->now.s.cfa_reg = 0;
	u->now.s.cfa_off = 0;
	u->now.s.cfa_expr = (struct bytes){ p, n };
	return true;
}

const struct cfi_rule *cfi_rule_of(const struct cfi_state *state, uint32_t reg)
{
	static const struct cfi_rule none;

	if (reg < CFI_NREG)
		return &state->reg[reg];
	for (uint32_t i = 0; i < state->nother; i++)
		if (state->other[i].reg == reg)
			return &state->other[i].rule;
	return &none;
}

static bool restore_rule(struct run *u, uint64_t reg)
{
	return u->initial && reg < CFI_REG_END &&
	       put_rule(u, reg, cfi_rule_of(u->initial, (uint32_t)reg));
}

/* The argument size is no part of what remember and restore keep: unwinders hold it apart. */
static bool restore_state(struct run *u)
{
	uint64_t args_size = u->now.s.args_size;

	if (u->depth == 0)
		return false;
	copy_live(&u->now, &u->stack[--u->depth].s);
	u->now.s.args_size = args_size;
	return true;
}

static bool remember_state(struct run *u)
{
	if (u->depth == MAX_REMEMBER)
		return false;
	copy_live(&u->stack[u->depth++], &u->now.s);
	return true;
}

static int64_t to_signed(struct run *u, uint64_t v)
{
	if (v > INT64_MAX)
		u->r.bad = true;
	return (int64_t)v;
}

/* An opcode whose first operand is a register.  Operands are read in order before they are
 * used. */
static bool step_register(struct run *u, uint8_t op)
{
	uint64_t reg = rd_uleb(&u->r);

	switch (op) {
	case DW_CFA_offset_extended:
		return set_scaled(u, reg, CFI_OFFSET, to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_offset_extended_sf:
		return set_scaled(u, reg, CFI_OFFSET, rd_sleb(&u->r));
	case DW_CFA_GNU_negative_offset_extended:
		return set_scaled(u, reg, CFI_OFFSET, -to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_val_offset:
		return set_scaled(u, reg, CFI_VAL_OFFSET, to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_val_offset_sf:
		return set_scaled(u, reg, CFI_VAL_OFFSET, rd_sleb(&u->r));
	case DW_CFA_restore_extended:
		return restore_rule(u, reg);
	case DW_CFA_undefined:
		return set_rule(u, reg, CFI_UNDEFINED, 0);
	case DW_CFA_same_value:
		return set_rule(u, reg, CFI_SAME, 0);
	case DW_CFA_register: {
		uint64_t other = rd_uleb(&u->r);

		return other < CFI_REG_END && set_rule(u, reg, CFI_REGISTER, (int64_t)other);
	}
	case DW_CFA_def_cfa:
		return set_cfa(u, reg, to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_def_cfa_sf:
		return set_cfa_scaled(u, reg, rd_sleb(&u->r));
	case DW_CFA_def_cfa_register:
		return !u->now.s.cfa_is_expr && set_cfa(u, reg, u->now.s.cfa_off);
	case DW_CFA_expression:
		return set_expr(u, reg, CFI_EXPR);
	case DW_CFA_val_expression:
		return set_expr(u, reg, CFI_VAL_EXPR);
	}
	return false;
}

/* One opcode with the operands behind it. */
static bool step(struct run *u, struct fde *fde)
{
	uint8_t op = rd_u8(&u->r);

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(u, fde, op & 0x3f);
	case DW_CFA_offset:
		return set_scaled(u, op & 0x3f, CFI_OFFSET, to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_restore:
		return restore_rule(u, op & 0x3f);
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return set_loc(u, fde);
	case DW_CFA_advance_loc1:
		return advance(u, fde, rd_u8(&u->r));
	case DW_CFA_advance_loc2:
		return advance(u, fde, rd_u16(&u->r));
	case DW_CFA_advance_loc4:
		return advance(u, fde, rd_u32(&u->r));
	case DW_CFA_remember_state:
		return remember_state(u);
	case DW_CFA_restore_state:
		return restore_state(u);
	case DW_CFA_def_cfa_offset:
		return !u->now.s.cfa_is_expr &&
		       set_cfa(u, u->now.s.cfa_reg, to_signed(u, rd_uleb(&u->r)));
	case DW_CFA_def_cfa_offset_sf:
		return !u->now.s.cfa_is_expr &&
		       set_cfa_scaled(u, u->now.s.cfa_reg, rd_sleb(&u->r));
	case DW_CFA_def_cfa_expression:
		return set_cfa_expr(u);
	case DW_CFA_GNU_args_size:
		u->now.s.args_size = rd_uleb(&u->r);
		return true;
	}
	return step_register(u, op);
}

static bool run_all(struct run *u, struct fde *fde)
{
	while (rd_left(&u->r) > 0)
		if (!step(u, fde) || u->r.bad)
			return false;
	return true;
}

/* Goes over the operands of one opcode; those that may be an address turn the reader bad. */
static void skip_operands(struct rd *r, const char *form)
{
	for (; *form; form++) {
		uint64_t n = *form == 'b'   ? 1
			     : *form == 'w' ? 2
			     : *form == 'd' ? 4
					    : rd_uleb(r);

		if (*form == 'u')
			continue;
		const uint8_t *p = rd_skip(r, n);

		r->bad |= *form == 'x' && p && may_have_place(p, n);
	}
}

bool cfi_may_hold_address(struct bytes insns)
{
	/* by opcode: a letter an operand; b, w, d: 1, 2, 4 bytes, u: LEB128, x: one and as
	 * many bytes */
	static const char *const form[0x40] = {
		[DW_CFA_nop] = "",
		[DW_CFA_advance_loc1] = "b",
		[DW_CFA_advance_loc2] = "w",
		[DW_CFA_advance_loc4] = "d",
		[DW_CFA_offset_extended] = "uu",
		[DW_CFA_restore_extended] = "u",
		[DW_CFA_undefined] = "u",
		[DW_CFA_same_value] = "u",
		[DW_CFA_register] = "uu",
		[DW_CFA_remember_state] = "",
		[DW_CFA_restore_state] = "",
		[DW_CFA_def_cfa] = "uu",
		[DW_CFA_def_cfa_register] = "u",
		[DW_CFA_def_cfa_offset] = "u",
		[DW_CFA_def_cfa_expression] = "x",
		[DW_CFA_expression] = "ux",
		[DW_CFA_offset_extended_sf] = "uu",
		[DW_CFA_def_cfa_sf] = "uu",
		[DW_CFA_def_cfa_offset_sf] = "u",
		[DW_CFA_val_offset] = "uu",
		[DW_CFA_val_offset_sf] = "uu",
		[DW_CFA_val_expression] = "ux",
		[DW_CFA_GNU_args_size] = "u",
		[DW_CFA_GNU_negative_offset_extended] = "uu",
	};
	struct rd r = rd_of(insns);

	while (rd_left(&r)) {
		struct bytes rest = { r.p, rd_left(&r) };
		uint8_t op = rd_u8(&r), high = op & 0xc0;
		const char *f = high == DW_CFA_offset ? "u" : high ? "" : form[op];

		if (f)
			skip_operands(&r, f);
		if (!f || r.bad)	/* from here on it may be anything */
			return memchr(rest.p, DW_CFA_set_loc, rest.n) ||
			       may_have_place(rest.p, rest.n);
	}
	return false;
}

bool cfi_run_cie(struct cfi_table *t, const struct cie *cie, struct bytes insns,
		 uint32_t *state)
{
	struct cfi_state none = { 0 };
	struct run u;

	u.t = t;
	u.cie = cie;
	u.initial = NULL;
	u.r = rd_of(insns);
	copy_live(&u.now, &none);
	u.loc = u.end = u.insns_addr = 0;
	u.insns = insns.p;
	u.depth = 0;
	*state = 0;
	return run_all(&u, NULL) && intern(t, &u.now.s, state);
}

bool cfi_run_fde(struct cfi_table *t, const struct cie *cie, struct fde *fde,
		 struct bytes insns, vaddr insns_addr)
{
	struct cfi_state initial = t->state.v[cie->initial];	/* state.v may move */
	struct run u;

	u.t = t;
	u.cie = cie;
	u.initial = &initial;
	u.r = rd_of(insns);
	copy_live(&u.now, &initial);
	u.loc = fde->addr;
	u.end = fde->addr + fde->len;
	u.insns_addr = insns_addr;
	u.insns = insns.p;
	u.depth = 0;
	fde->row = t->rows.n;
	fde->nrow = 0;
	/* Rules set at the very end of the range describe no instruction: no row for them. */
	if (run_all(&u, fde) && (u.loc == u.end || put_row(&u, fde)))
		return true;
	t->rows.n = fde->row;
	fde->nrow = 0;
	return false;
}
