/* frames.c - the records of .eh_frame and an interpreter for their programs
 *
 * Found as the program's own unwinder finds them: PT_GNU_EH_FRAME leads to .eh_frame_hdr, that
 * to .eh_frame.  The Verifier's own reading, on purpose: the tables that it judges were written
 * with the help of another one.
 *
 * STATES   A rule set is written out as bytes (CFA, argument size, then every register that has
 *          a rule) and interned in one table for both files, so rows compare by number.
 *
 * CONSTANT The original's are not in a writable segment: what the loader relocates there, or
 * anybody
 *          changes, it would not change in the copy.
 *
 * LIMITS   Work is linear in the section's size: initial programs, rule sets and the depth of
 *          remembered states are limited.  An FDE in a form that is not modelled is kept
 *          without rows; nothing can be shown about its code then, so it cannot have moved.
 */
#include <stdlib.h>

#include "verify/lookup.h"

enum { NREG = 160, DEPTH = 32, EXPR_MAX = 255, CIE_MAX = 256, DWARF_RSP = 7 };
enum { SET_LOC = 0x01, ENCODED_ADDR = 0xf1 };	/* DW_CFA_set_loc, DW_OP_GNU_encoded_addr */
enum { RULE_MAX = 8 + 8 + 8 + EXPR_MAX, STATE_MAX = 2 * 8 + (1 + NREG) * RULE_MAX };

enum rule_kind { UNSPEC, UNDEFINED, SAME, OFFSET, VAL_OFFSET, REGISTER, EXPR, VAL_EXPR };

struct rule {
	uint8_t kind;
	int64_t off;
	struct bytes expr;
};

struct state {
	struct rule cfa;	/* REGISTER: reg in cfa_reg, off; EXPR */
	uint64_t cfa_reg, args;
	/* no register from here on has a rule, nor is reg[] filled there */
	uint32_t top;
	struct rule reg[NREG];
};

struct vstates {
	struct arena *a;
	VEC(struct bytes) item;
	uint32_t *slot;		/* open addressing: item number + 1 */
	uint32_t nslot;		/* a power of two */
	VEC(int64_t) depth;	/* CFA less rsp; 0 when the CFA is anything else */
	uint8_t text[STATE_MAX];	/* a state being written out */
};

struct machine {
	struct state now, initial, saved[DEPTH];
	uint32_t nsaved;
	vaddr loc;
	bool strict;		/* nothing that unwinders read differently */
};

bool vstates_is_entry(const struct vstates *s, uint32_t state)
{
	return vstates_depth(s, state) == 8;
}

int64_t vstates_depth(const struct vstates *s, uint32_t state)
{
	return state < s->depth.n ? s->depth.v[state] : 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

static uint64_t hash(struct bytes b)
{
	uint64_t h = b.n, v, i = 0;

	for (; i + sizeof(v) <= b.n; i += sizeof(v)) {
		memcpy(&v, b.p + i, sizeof(v));
		h = mix(h, v);
	}
	for (; i < b.n; i++)
		h = mix(h, b.p[i]);
	return h;
}

static void grow_slots(struct vstates *s)
{
	s->nslot = s->nslot ? 2 * s->nslot : 1024;
	s->slot = arena_array(s->a, s->nslot, sizeof(*s->slot));
	for (uint32_t i = 0; i < s->item.n; i++) {
		uint32_t k = (uint32_t)hash(s->item.v[i]) & (s->nslot - 1);

		while (s->slot[k])
			k = (k + 1) & (s->nslot - 1);
		s->slot[k] = i + 1;
	}
}

static uint32_t intern(struct vstates *s, struct bytes b, int64_t depth)
{
	if (2 * s->item.n >= s->nslot)
		grow_slots(s);
	uint32_t k = (uint32_t)hash(b) & (s->nslot - 1);

	for (; s->slot[k]; k = (k + 1) & (s->nslot - 1)) {
		struct bytes x = s->item.v[s->slot[k] - 1];

		if (x.n == b.n && memcmp(x.p, b.p, b.n) == 0)
			return s->slot[k] - 1;
	}
	s->slot[k] = s->item.n + 1;
	b.p = arena_dup(s->a, b.p, b.n);
	vec_push(s->a, &s->item, b);
	vec_push(s->a, &s->depth, depth);
	return s->item.n - 1;
}

static uint8_t *put(uint8_t *p, const void *data, size_t n)
{
	memcpy(p, data, n);
	return p + n;
}

/* In words, which are what is hashed. */
static uint8_t *put_rule(uint8_t *p, uint8_t reg, const struct rule *r)
{
	uint64_t head = (uint64_t)reg << 8 | r->kind;

	p = put(p, &head, 8);
	p = put(p, &r->off, 8);
	if (r->kind == EXPR || r->kind == VAL_EXPR) {
		p = put(p, &r->expr.n, 8);
		p = put(p, r->expr.p, r->expr.n);
	}
	return p;
}

static uint32_t add_row(struct vstates *s, const struct state *st)
{
	uint8_t *p = s->text;

	p = put(p, &st->cfa_reg, 8);
	p = put(p, &st->args, 8);
	p = put_rule(p, 0xff, &st->cfa);
	for (uint32_t i = 0; i < st->top; i++)
		if (st->reg[i].kind != UNSPEC)
			p = put_rule(p, (uint8_t)i, &st->reg[i]);
	int64_t depth = st->cfa.kind == REGISTER && st->cfa_reg == DWARF_RSP ? st->cfa.off : 0;
	return intern(s, (struct bytes){ s->text, (uint64_t)(p - s->text) }, depth);
}

/* An expression; one with what may be an address relative to its own place turns the reader
 * bad. */
static struct bytes rd_expr(struct rd *r)
{
	uint64_t n = rd_uleb(r);
	const uint8_t *p = rd_skip(r, n);

	r->bad |= p && n && memchr(p, ENCODED_ADDR, n);
	return (struct bytes){ p, p ? n : 0 };
}

/* One that a state can have: those that compilers make are not longer. */
static struct bytes rd_block(struct rd *r)
{
	struct bytes expr = rd_expr(r);

	r->bad |= expr.n > EXPR_MAX;
	return expr;
}

static void set_rule(struct machine *m, struct rd *r, uint64_t reg, struct rule rule)
{
	if (reg >= NREG) {
		r->bad = true;
		return;
	}
	while (m->now.top <= reg)
		m->now.reg[m->now.top++] = (struct rule){ .kind = UNSPEC };
	m->now.reg[reg] = rule;
}

/* libgcc takes the rule away, others go back to the CIE's: new code may not depend on it. */
static void restore(struct machine *m, struct rd *r, uint64_t reg)
{
	struct rule rule = { .kind = UNSPEC };

	if (reg < m->initial.top)
		rule = m->initial.reg[reg];
	if (m->strict && rule.kind != UNSPEC)
		r->bad = true;
	else
		set_rule(m, r, reg, rule);
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa = (struct rule){ .kind = REGISTER, .off = off };
	m->now.cfa_reg = reg;
}

static void set_cfa_expr(struct machine *m, struct bytes expr)
{
	m->now.cfa = (struct rule){ .kind = EXPR, .expr = expr };
	m->now.cfa_reg = 0;
}

static int64_t scaled(int64_t factor, int64_t align)
{
	return (int64_t)((uint64_t)factor * (uint64_t)align);
}

/* The operations that give rules and the CFA; anything unknown turns the reader bad. */
static void run_rule(struct machine *m, struct rd *r, const struct vcie *cie, uint8_t op)
{
	uint64_t reg;
	int64_t da = cie->data_align;

	switch (op) {
	case 0x05: case 0x11: case 0x14: case 0x15: case 0x2f:
		reg = rd_uleb(r);
		int64_t n = op == 0x11 || op == 0x15 ? rd_sleb(r) : (int64_t)rd_uleb(r);
		set_rule(m, r, reg, (struct rule){
			.kind = op == 0x14 || op == 0x15 ? VAL_OFFSET : OFFSET,
			.off = scaled(op == 0x2f ? scaled(n, -1) : n, da) });
		break;
	case 0x06: restore(m, r, rd_uleb(r)); break;
	case 0x07: set_rule(m, r, rd_uleb(r), (struct rule){ .kind = UNDEFINED }); break;
	case 0x08: set_rule(m, r, rd_uleb(r), (struct rule){ .kind = SAME }); break;
	case 0x09:
		reg = rd_uleb(r);
		set_rule(m, r, reg,
			 (struct rule){ .kind = REGISTER, .off = (int64_t)rd_uleb(r) });
		break;
	case 0x10: case 0x16:
		reg = rd_uleb(r);
		set_rule(m, r, reg, (struct rule){ .kind = op == 0x10 ? EXPR : VAL_EXPR,
						   .expr = rd_block(r) });
		break;
	case 0x0c: reg = rd_uleb(r); set_cfa(m, reg, (int64_t)rd_uleb(r)); break;
	case 0x12: reg = rd_uleb(r); set_cfa(m, reg, scaled(rd_sleb(r), da)); break;
	case 0x0d: case 0x0e: case 0x13:
		if (m->now.cfa.kind != REGISTER)
			r->bad = true;
		else if (op == 0x0d)
			m->now.cfa_reg = rd_uleb(r);
		else
			m->now.cfa.off =
				op == 0x0e ? (int64_t)rd_uleb(r) : scaled(rd_sleb(r), da);
		break;
	case 0x0f: set_cfa_expr(m, rd_block(r)); break;
	case 0x2e: m->now.args = rd_uleb(r); break;
	default: r->bad = true;
	}
}

static void copy_state(struct state *to, const struct state *from)
{
	memcpy(to, from, offsetof(struct state, reg) + from->top * sizeof(*from->reg));
}

static void run_stack(struct machine *m, struct rd *r, uint8_t op)
{
	if (op == 0x0a) {
		if (m->nsaved == DEPTH)
			r->bad = true;
		else
			copy_state(&m->saved[m->nsaved++], &m->now);
	} else if (m->nsaved == 0) {
		r->bad = true;
	} else {
		uint64_t args = m->now.args;

		copy_state(&m->now, &m->saved[--m->nsaved]);
		m->now.args = args;
	}
}

/* Runs one operation.  Returns how far it advances the location. */
static uint64_t run_op(struct machine *m, struct rd *r, const struct vcie *cie)
{
	uint8_t op = rd_u8(r), low = op & 0x3f;

	switch (op >> 6) {
	case 1: return low * cie->code_align;
	case 2:
		set_rule(m, r, low, (struct rule){
			.kind = OFFSET, .off = scaled((int64_t)rd_uleb(r), cie->data_align) });
		return 0;
	case 3: restore(m, r, low); return 0;
	}
	switch (op) {
	case 0x00: return 0;
	case 0x02: return rd_u8(r) * cie->code_align;
	case 0x03: return rd_u16(r) * cie->code_align;
	case 0x04: return rd_u32(r) * cie->code_align;
	case 0x0a: case 0x0b: run_stack(m, r, op); return 0;
	default: run_rule(m, r, cie, op); return 0;
	}
}

/* Goes over an opcode and its operands.  Opcodes that nobody here knows, and those that have an
 * address, or may, turn the reader bad. */
static void skip_op(struct rd *r)
{
	uint8_t op = rd_u8(r);

	if (op >> 6 == 1 || op >> 6 == 3)
		return;
	if (op >> 6 == 2) {
		(void)rd_uleb(r);
		return;
	}
	switch (op) {
	case 0x00: case 0x0a: case 0x0b:
		break;
	case 0x02: (void)rd_u8(r); break;
	case 0x03: (void)rd_u16(r); break;
	case 0x04: (void)rd_u32(r); break;
	case 0x05: case 0x09: case 0x0c: case 0x11: case 0x12: case 0x14: case 0x15: case 0x2f:
		(void)rd_uleb(r);
		(void)rd_uleb(r);
		break;
	case 0x06: case 0x07: case 0x08: case 0x0d: case 0x0e: case 0x13: case 0x2e:
		(void)rd_uleb(r);
		break;
	case 0x10: case 0x16:
		(void)rd_uleb(r);
		(void)rd_expr(r);
		break;
	case 0x0f: (void)rd_expr(r); break;
	default: r->bad = true;
	}
}

bool vcfi_is_free(struct bytes program)
{
	struct rd r = rd_of(program);

	while (rd_left(&r)) {
		const uint8_t *at = r.p;
		uint64_t left = rd_left(&r);

		skip_op(&r);
		if (r.bad)
			return !memchr(at, SET_LOC, left) && !memchr(at, ENCODED_ADDR, left);
	}
	return true;
}

struct rows {
	struct vstates *states;
	struct arena *a;
	VEC(struct vrow) v;
};

static void push_row(struct rows *rows, uint32_t first, const struct machine *m)
{
	uint32_t number = add_row(rows->states, &m->now);

	if (rows->v.n == first || rows->v.v[rows->v.n - 1].state != number)
		vec_push(rows->a, &rows->v, ((struct vrow){ m->loc, number }));
}

/* Rows of one FDE; false when its program or its CIE's is not understood. */
static bool run_fde(struct rows *rows, struct machine *m, const struct vcie *cie,
		    const struct vfde *fde)
{
	uint32_t first = rows->v.n;
	struct rd r = rd_of(fde->program);

	copy_state(&m->now, &m->initial);
	m->nsaved = 0;
	m->loc = fde->addr;
	while (rd_left(&r)) {
		uint64_t advance = run_op(m, &r, cie);

		if (r.bad)
			return false;
		if (advance == 0)
			continue;
		if (advance > fde->len - (m->loc - fde->addr))	/* describes nothing here */
			break;
		push_row(rows, first, m);
		m->loc += advance;
		if (m->loc - fde->addr == fde->len)
			return true;
	}
	push_row(rows, first, m);
	return true;
}

static bool run_cie(struct machine *m, const struct vcie *cie)
{
	struct rd r = rd_of(cie->program);

	if (cie->program.n > CIE_MAX)
		return false;
	m->now.cfa = (struct rule){ .kind = UNSPEC };
	m->now.cfa_reg = m->now.args = 0;
	m->now.top = m->initial.top = m->nsaved = 0;
	m->strict = false;
	while (rd_left(&r))
		if (run_op(m, &r, cie) || r.bad)
			return false;
	copy_state(&m->initial, &m->now);
	return true;
}

/* The same program for the same code, which so has the same rows. */
static bool same_program(const struct vcfi *cx, const struct vfde *x, const struct vcfi *cy,
			 const struct vfde *y)
{
	const struct vcie *a = &cx->cie[x->cie], *b = &cy->cie[y->cie];

	return x->addr == y->addr && x->len == y->len &&
	       verify_same_bytes(x->program, y->program) && a->understood == b->understood &&
	       a->code_align == b->code_align && a->data_align == b->data_align &&
	       verify_same_bytes(a->program, b->program);
}

/* Fills row[] and the FDEs' parts of it.  Neighbours share their CIE as a rule.  What is in
 * `other`, too (NULL: nothing), is copied from there. */
static void run_all(struct verify *v, struct vcfi *cfi, const struct vcfi *other)
{
	const struct vfde *there = other ? other->fde : NULL;
	const struct vfde *end = other ? other->fde + other->nfde : NULL;
	struct rows rows = { .states = v->states, .a = v->a };
	struct machine *m = arena_alloc(v->a, sizeof(*m));
	uint32_t cie = UINT32_MAX;
	enum { MANY = 1 << 24 };
	uint64_t most = cfi->nfde;
	bool ok = false;

	/* Every row but the first of an FDE takes two operations. */
	for (uint32_t i = 0; i < cfi->nfde; i++)
		most += cfi->fde[i].program.n / 2;
	vec_reserve(v->a, &rows.v, most < MANY ? (uint32_t)most : MANY);
	for (uint32_t i = 0; i < cfi->nfde; i++) {
		struct vfde *fde = &cfi->fde[i];

		while (there < end && there->addr < fde->addr)
			there++;
		fde->row = rows.v.n;
		bool strict = other && verify_is_fresh(v, fde->addr);
		if (there < end && there->understood && !strict &&
		    same_program(other, there, cfi, fde)) {
			for (uint32_t k = there->row; k < there->row + there->nrow; k++)
				vec_push(v->a, &rows.v, other->row[k]);
			fde->understood = true;
			fde->nrow = there->nrow;
			continue;
		}
		if (fde->cie != cie) {
			cie = fde->cie;
			ok = cfi->cie[cie].understood && run_cie(m, &cfi->cie[cie]);
		}
		m->strict = strict;
		fde->understood = ok && run_fde(&rows, m, &cfi->cie[cie], fde);
		if (!fde->understood)
			rows.v.n = fde->row;
		fde->nrow = rows.v.n - fde->row;
	}
	cfi->row = rows.v.v;
	cfi->nrow = rows.v.n;
}

int verify_frames(struct verify *v)
{
	v->states = arena_alloc(v->a, sizeof(*v->states));
	v->states->a = v->a;
	if (vcfi_parse(v, &v->orig, &v->ocfi) < 0)
		return err_wrap(v->err, "original");
	if (image_is_writable(&v->orig, v->ocfi.frame))
		return refuse(
			v,
			"the original's .eh_frame at 0x%llx can be written to: a copy may say "
			"something else",
			ULL(v->ocfi.frame));
	run_all(v, &v->ocfi, NULL);
	if (vcfi_parse(v, &v->gen, &v->gcfi) < 0)
		return err_wrap(v->err, "generation");
	run_all(v, &v->gcfi, &v->ocfi);
	v->ocfi.fragment = arena_array(v->a, v->ocfi.nfde, sizeof(*v->ocfi.fragment));
	struct vcursor at = { .cfi = &v->ocfi, .fde = NO_FDE };
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		const struct vfde *fde = &v->ocfi.fde[i];
		struct bytes code = verify_orig_code(v, fde->addr);

		/* A fragment that begins with a landing pad has a one-byte nop in front. */
		v->ocfi.fragment[i] = fde->understood &&
			(!vstates_is_entry(v->states, vcfi_state(&at, fde->addr)) ||
			 (fde->len > 1 && code.p && *code.p == 0x90 &&
			  !vstates_is_entry(v->states, vcfi_state(&at, fde->addr + 1))));
	}
	return 0;
}
