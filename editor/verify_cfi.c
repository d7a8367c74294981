/* verify_cfi.c - the records of .eh_frame and an interpreter for their programs
 *
 * Found as the program's own unwinder finds them: PT_GNU_EH_FRAME leads to .eh_frame_hdr, that to
 * .eh_frame.  The Verifier's own reading, on purpose: the tables that it judges were written with
 * the help of another one.
 *
 * STATES   A rule set is written out as bytes (CFA, argument size, then every register that has a
 *          rule) and interned in one table for both files, so rows compare by number.
 *
 * LIMITS   Work is linear in the section's size: initial programs, rule sets and the depth of
 *          remembered states are limited.  An FDE in a form that is not modelled is kept
 *          without rows; nothing can be shown about its code then, so it cannot have moved.
 */
#include <stdlib.h>

#include "editor/verify_parts.h"

enum { NREG = 33, DEPTH = 32, STATE_MAX = 1024, CIE_MAX = 256, DWARF_RSP = 7 };

enum rule_kind { UNSPEC, UNDEFINED, SAME, OFFSET, VAL_OFFSET, REGISTER, EXPR, VAL_EXPR };

struct rule {
	uint8_t kind;
	int64_t off;
	struct bytes expr;
};

struct state {
	struct rule cfa;	/* REGISTER: reg in cfa_reg, off; EXPR */
	uint64_t cfa_reg, args;
	struct rule reg[NREG];
};

struct vstates {
	struct arena *a;
	VEC(struct bytes) item;
	uint32_t *slot;		/* open addressing: item number + 1 */
	uint32_t nslot;		/* a power of two */
	VEC(int64_t) depth;	/* CFA less rsp; 0 when the CFA is anything else */
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

static uint64_t hash(struct bytes b)
{
	uint64_t h = 0xcbf29ce484222325;

	for (uint64_t i = 0; i < b.n; i++)
		h = (h ^ b.p[i]) * 0x100000001b3;
	return h ^ h >> 29;
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

/* False when the expressions are too long to be anything a compiler made. */
static bool put_rule(uint8_t **p, const uint8_t *end, uint8_t reg, const struct rule *r)
{
	enum { FIXED = 2 + 8 + 8 };

	if ((uint64_t)(end - *p) < FIXED || r->expr.n > (uint64_t)(end - *p) - FIXED)
		return false;
	*(*p)++ = reg;
	*(*p)++ = r->kind;
	*p = put(*p, &r->off, 8);
	if (r->kind == EXPR || r->kind == VAL_EXPR) {
		*p = put(*p, &r->expr.n, 8);
		*p = put(*p, r->expr.p, r->expr.n);
	}
	return true;
}

static bool add_row(struct vstates *s, const struct state *st, uint32_t *number)
{
	uint8_t buf[STATE_MAX], *p = buf;

	p = put(p, &st->cfa_reg, 8);
	p = put(p, &st->args, 8);
	if (!put_rule(&p, buf + sizeof(buf), 0xff, &st->cfa))
		return false;
	for (uint8_t i = 0; i < NREG; i++)
		if (st->reg[i].kind != UNSPEC && !put_rule(&p, buf + sizeof(buf), i, &st->reg[i]))
			return false;
	int64_t depth = st->cfa.kind == REGISTER && st->cfa_reg == DWARF_RSP ? st->cfa.off : 0;
	*number = intern(s, (struct bytes){ buf, (uint64_t)(p - buf) }, depth);
	return true;
}

static struct bytes rd_block(struct rd *r)
{
	uint64_t n = rd_uleb(r);
	const uint8_t *p = rd_skip(r, n);

	return (struct bytes){ p, p ? n : 0 };
}

static void set_rule(struct machine *m, struct rd *r, uint64_t reg, struct rule rule)
{
	if (reg >= NREG)
		r->bad = true;
	else
		m->now.reg[reg] = rule;
}

/* libgcc takes the rule away, others go back to the CIE's: new code may not depend on it. */
static void restore(struct machine *m, struct rd *r, uint64_t reg)
{
	if (reg >= NREG || (m->strict && m->initial.reg[reg].kind != UNSPEC))
		r->bad = true;
	else
		m->now.reg[reg] = m->initial.reg[reg];
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
		set_rule(m, r, reg, (struct rule){ .kind = REGISTER, .off = (int64_t)rd_uleb(r) });
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
			m->now.cfa.off = op == 0x0e ? (int64_t)rd_uleb(r) : scaled(rd_sleb(r), da);
		break;
	case 0x0f: set_cfa_expr(m, rd_block(r)); break;
	case 0x2e: m->now.args = rd_uleb(r); break;
	default: r->bad = true;
	}
}

static void run_stack(struct machine *m, struct rd *r, uint8_t op)
{
	if (op == 0x0a) {
		if (m->nsaved == DEPTH)
			r->bad = true;
		else
			m->saved[m->nsaved++] = m->now;
	} else if (m->nsaved == 0) {
		r->bad = true;
	} else {
		uint64_t args = m->now.args;

		m->now = m->saved[--m->nsaved];
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

struct rows {
	struct vstates *states;
	struct arena *a;
	VEC(struct vrow) v;
};

static bool push_row(struct rows *rows, uint32_t first, const struct machine *m)
{
	uint32_t number;

	if (!add_row(rows->states, &m->now, &number))
		return false;
	if (rows->v.n > first && rows->v.v[rows->v.n - 1].state == number)
		return true;
	vec_push(rows->a, &rows->v, ((struct vrow){ m->loc, number }));
	return true;
}

/* Rows of one FDE; false when its program or its CIE's is not understood. */
static bool run_fde(struct rows *rows, struct machine *m, const struct vcie *cie,
		    const struct vfde *fde)
{
	uint32_t first = rows->v.n;
	struct rd r = rd_of(fde->program);

	m->now = m->initial;
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
		if (!push_row(rows, first, m))
			return false;
		m->loc += advance;
		if (m->loc - fde->addr == fde->len)
			return true;
	}
	return push_row(rows, first, m);
}

static bool run_cie(struct machine *m, const struct vcie *cie)
{
	struct rd r = rd_of(cie->program);

	if (cie->program.n > CIE_MAX)
		return false;
	*m = (struct machine){ 0 };
	while (rd_left(&r))
		if (run_op(m, &r, cie) || r.bad)
			return false;
	m->initial = m->now;
	return true;
}

/* Fills row[] and the FDEs' parts of it.  Neighbours share their CIE as a rule. */
static void run_all(struct verify *v, struct vcfi *cfi)
{
	struct rows rows = { .states = v->states, .a = v->a };
	struct machine *m = arena_alloc(v->a, sizeof(*m));
	uint32_t cie = UINT32_MAX;
	bool ok = false;

	for (uint32_t i = 0; i < cfi->nfde; i++) {
		struct vfde *fde = &cfi->fde[i];

		if (fde->cie != cie) {
			cie = fde->cie;
			ok = cfi->cie[cie].understood && run_cie(m, &cfi->cie[cie]);
		}
		fde->row = rows.v.n;
		m->strict = cfi == &v->gcfi && verify_is_fresh(v, fde->addr);
		fde->understood = ok && run_fde(&rows, m, &cfi->cie[cie], fde);
		if (!fde->understood)
			rows.v.n = fde->row;
		fde->nrow = rows.v.n - fde->row;
	}
	cfi->row = rows.v.v;
	cfi->nrow = rows.v.n;
}

uint32_t vcfi_find(const struct vcfi *cfi, vaddr addr)
{
	uint32_t lo = 0, hi = cfi->nfde;

	bracket_narrow(&cfi->by_addr, addr, &lo, &hi);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (cfi->fde[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - cfi->fde[lo - 1].addr < cfi->fde[lo - 1].len ? lo - 1 : NO_FDE;
}

uint32_t vcfi_state(struct vcursor *c, vaddr addr)
{
	const struct vcfi *cfi = c->cfi;

	if (c->fde == NO_FDE || addr < cfi->fde[c->fde].addr ||
	    addr - cfi->fde[c->fde].addr >= cfi->fde[c->fde].len) {
		c->fde = vcfi_find(cfi, addr);
		if (c->fde == NO_FDE)
			return ROW_NONE;
		c->row = cfi->fde[c->fde].row;
	}
	const struct vfde *fde = &cfi->fde[c->fde];

	if (!fde->understood)
		return ROW_NONE;
	uint32_t end = fde->row + fde->nrow;
	if (cfi->row[c->row].addr > addr) {
		uint32_t lo = fde->row, hi = c->row;	/* row[lo].addr <= addr < row[hi].addr */

		while (hi - lo > 1) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (cfi->row[mid].addr <= addr)
				lo = mid;
			else
				hi = mid;
		}
		c->row = lo;
	}
	while (c->row + 1 < end && cfi->row[c->row + 1].addr <= addr)
		c->row++;
	return cfi->row[c->row].state;
}

int verify_cfi(struct verify *v)
{
	v->states = arena_alloc(v->a, sizeof(*v->states));
	v->states->a = v->a;
	if (vcfi_parse(v, &v->orig, &v->ocfi) < 0)
		return err_wrap(v->err, "original");
	run_all(v, &v->ocfi);
	if (vcfi_parse(v, &v->gen, &v->gcfi) < 0)
		return err_wrap(v->err, "generation");
	run_all(v, &v->gcfi);
	v->fragment = arena_array(v->a, v->ocfi.nfde, sizeof(*v->fragment));
	v->open = arena_array(v->a, v->ocfi.nfde, sizeof(*v->open));
	v->followed = arena_array(v->a, v->ocfi.nfde, sizeof(*v->followed));
	v->labelled = arena_array(v->a, v->ocfi.nfde, sizeof(*v->labelled));
	v->has_table = arena_array(v->a, v->ocfi.nfde, sizeof(*v->has_table));
	struct vcursor at = { .cfi = &v->ocfi, .fde = NO_FDE };
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		const struct vfde *fde = &v->ocfi.fde[i];
		struct bytes code = verify_orig_code(v, fde->addr);

		/* A fragment that begins with a landing pad has a one-byte nop in front. */
		v->fragment[i] = fde->understood &&
			(!vstates_is_entry(v->states, vcfi_state(&at, fde->addr)) ||
			 (fde->len > 1 && code.p && *code.p == 0x90 &&
			  !vstates_is_entry(v->states, vcfi_state(&at, fde->addr + 1))));
	}
	return 0;
}
