/* flagsdead.c - are all flags but CF overwritten, on every way from here, before one is read?
 *
 * WAYS      lead on over direct jumps, both ways of branches, and into what is called directly.
 *           They end well where all flags have been overwritten, and, by assumption A10, where
 *           code of another module begins or code that is reached through a pointer: indirect
 *           calls, jumps through a slot of the loader's, computed jumps that leave their
 *           function.  One may go on inside as well: all that tables of the function lead to is
 *           looked at, too.  The way is open where there may be labels, unless the jump has the
 *           address of a table in it: where data hold or code forms an address inside of the
 *           function, or it forms that of its own entry; to these distances may be added.  So
 *           it is in what such a function goes on in without a call, a cold part or a thunk.
 *           Where no table is, it is a jump that leaves if the frame is that of the entry, as
 *           in a tail call, and no register was calculated to hold where it leads
 *           (calculated.c), else the way is open.  All are where something leads to what begins
 *           by reading flags, or does not write them for long: that is a label, though it
 *           stands where a function would.  Open is a way of so many instructions, too; a
 *           system call is a read: it puts the flags into %r11.  Behind a trap goes on who
 *           handles its signal, if code stands there.
 *
 * RETURNS   A return ends well if no caller reads flags behind its call.  Each call of the
 *           original is asked that; where one does, or may, the returns of what it calls end
 *           badly, and those of functions that this one jumps to; all returns do if the call is
 *           an indirect one, or of code without an FDE.  Where it is that, or the function
 *           jumps through a pointer, a read must have been found, and an open way is none: so
 *           far behind a call nobody reads flags.  Where the loader alone says what the pointer
 *           is, it is that function.
 *
 * Until a read is found, returns and computed jumps count as ending well, and what was asked
 * before that is asked again.
 *
 * Tested by tests/unit/verify/test_counting.c.
 */
#include "verify/flagsdead.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "verify/calculated.h"
#include "verify/effect.h"
#include "verify/holders.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

/* Instructions and branches of a way, and instructions of all of them; chosen, not measured. */
enum { MAX_WAY = 1000, MAX_BRANCHES = 10, MAX_STEPS = 4000 };
/* In all, for each byte of code, and besides: several times as many as the Editor takes. */
enum { STEPS_A_BYTE = 512, MORE_STEPS = 8000000 };
enum { ALL_BUT_CF = 0x3e };		/* PF AF ZF SF OF, as in struct effect */

/* How a way ends; of two the greater one. */
enum { WELL, OPEN, BY_READ };

struct look {
	const struct verify *v;
	int steps;
	bool reads_alone;		/* only what instructions read counts */
};

struct way {			/* what has been gone of one */
	uint8_t flags;			/* still to be overwritten */
	uint16_t steps, branches;
};

static int end_of(struct look *l, vaddr addr, struct way way);

static int end_at_return(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return v->counting.all_live || fde == NO_FDE
		       ? BY_READ : v->counting.returns[verify_group(v, fde)];
}

static bool has_frame_of_entry(const struct verify *v, vaddr addr)
{
	struct vcursor c = { .cfi = &v->ocfi, .fde = NO_FDE };
	uint32_t state = vcfi_state(&c, addr);

	return state != ROW_NONE && vstates_is_entry(v->states, state);
}

static bool has_inner(const struct vcounting *c, uint32_t group)
{
	uint32_t lo = 0, hi = c->inner.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->inner.v[mid].group < group)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->inner.n && c->inner.v[lo].group == group;
}

/* Inside of a function, and not where it begins. */
static bool is_inside(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return fde != NO_FDE && (v->ocfi.fde[fde].addr != addr || v->ocfi.fragment[fde]);
}

/* The loader alone says what the word holds, or start-up code, and that is another module's or
 * a function. */
static bool leads_to_function(const struct verify *v, vaddr slot)
{
	vaddr function;

	return verify_is_chosen(&v->calls, slot) ||
	       (verify_slot_function(v, slot, &function) &&
		!(function && is_inside(v, function)));
}

static bool is_direct(const struct vcounting *c, vaddr addr)
{
	return verify_has_addr(c->direct.v, c->direct.n, addr);
}

static bool is_calculated(const struct vcounting *c, vaddr addr)
{
	return verify_has_addr(c->calculated.v, c->calculated.n, addr);
}

/* `slot`: the word that it jumps through; 0: a register, or memory anywhere. */
static int end_at_jump(const struct verify *v, vaddr addr, vaddr slot)
{
	const struct vcounting *c = &v->counting;
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	if (slot && (fde == NO_FDE || leads_to_function(v, slot)))
		return WELL;
	if (fde == NO_FDE)
		return OPEN;
	const uint32_t group = verify_group(v, fde);
	bool known = is_direct(c, addr) ||
		     (!c->labels[group] &&
		      (slot || has_inner(c, group) ||
		       (has_frame_of_entry(v, addr) && !is_calculated(c, addr))));
	return known && !c->odd ? c->tables[group]
				: c->tables[group] > OPEN ? c->tables[group] : OPEN;
}

/* What is farther away than is looked at may read. */
static int too_far(const struct look *l)
{
	return l->reads_alone ? BY_READ : OPEN;
}

/* A trap: who handles its signal may go on behind it. */
static bool goes_on_behind(const struct verify *v, vaddr next)
{
	uint32_t fde = vcfi_find(&v->ocfi, next);

	return fde != NO_FDE && verify_goes_on(v, fde, next);
}

static int end_behind(struct look *l, const struct effect *e, vaddr addr, struct way way)
{
	int taken, falls;

	switch (e->kind) {
	case INSN_JMP:
	case INSN_CALL:
		return end_of(l, e->target, way);
	case INSN_JCC:
	case INSN_LOOP:
		if (way.branches++ == MAX_BRANCHES)
			return too_far(l);
		taken = end_of(l, e->target, way);
		if (taken == BY_READ)
			return taken;
		falls = end_of(l, addr + e->len, way);
		return falls > taken ? falls : taken;
	case INSN_ICALL:
		return WELL;
	case INSN_TRAP:
		addr += e->len;
		return goes_on_behind(l->v, addr) ? end_of(l, addr, way) : WELL;
	case INSN_IJMP:
		return l->reads_alone ? OPEN : end_at_jump(l->v, addr, e->slot);
	case INSN_RET:
		return l->reads_alone ? OPEN : end_at_return(l->v, addr);
	default:
		return l->reads_alone ? OPEN : BY_READ;
	}
}

static int end_of(struct look *l, vaddr addr, struct way way)
{
	struct effect e;

	for (; way.steps < MAX_WAY; way.steps++) {
		struct bytes code = verify_orig_code(l->v, addr);

		if (l->steps-- <= 0)
			return BY_READ;
		if (!code.p || !effect_decode(code, addr, &e) ||
		    insn_calls_system(code, e.len))
			return l->reads_alone ? OPEN : BY_READ;
		if (e.flags_read & way.flags)
			return BY_READ;
		way.flags &= (uint8_t)~e.flags_written;
		if (way.flags == 0)
			return WELL;
		if (e.kind != INSN_PLAIN && e.kind != INSN_NOP) {
			way.steps++;
			return end_behind(l, &e, addr, way);
		}
		addr += e.len;
	}
	return too_far(l);
}

/* So many of MAX_STEPS are left.  False: nothing is left in all. */
static bool spend(struct vcounting *c, int steps)
{
	uint64_t taken = (uint64_t)(MAX_STEPS - steps) + 1;

	c->left -= taken < c->left ? taken : c->left;
	return c->left > 0;
}

/* While what grows is looked for. */
static int end_now(struct verify *v, vaddr addr)
{
	struct look l = { v, MAX_STEPS, false };
	int end = end_of(&l, addr, (struct way){ .flags = ALL_BUT_CF });

	v->counting.all_live |= !spend(&v->counting, l.steps);
	return end;
}

bool verify_flags_dead(const struct verify *v, vaddr addr)
{
	struct look l = { v, MAX_STEPS, false };

	return end_of(&l, addr, (struct way){ .flags = ALL_BUT_CF }) == WELL;
}

static void grow(struct verify *v, uint8_t *end, int to)
{
	if (to <= *end)
		return;
	*end = (uint8_t)to;
	v->counting.changed = true;
}

static void live_at_all(struct verify *v)
{
	v->counting.changed |= !v->counting.all_live;
	v->counting.all_live = true;
}

static void grow_returns(struct verify *v, vaddr callee, int to)
{
	uint32_t fde = vcfi_find(&v->ocfi, callee);

	if (fde != NO_FDE)
		grow(v, &v->counting.returns[verify_group(v, fde)], to);
	else if (to == BY_READ)
		live_at_all(v);		/* it may jump to any */
}

/* Of what a call or jump through the slot reaches; 0: through a register, or other memory. */
static void grow_pointed(struct verify *v, vaddr slot, int to)
{
	vaddr function;

	if (slot && verify_slot_function(v, slot, &function)) {
		if (function)
			grow_returns(v, function, to);
	} else if (to == BY_READ) {
		live_at_all(v);
	}
}

static void grow_reached(struct verify *v, vaddr target, int to)
{
	vaddr slot = verify_stub_slot(v, target);

	if (slot)
		grow_pointed(v, slot, to);
	else
		grow_returns(v, target, to);
}

/* What ends with a call ends with one that does not come back. */
static bool runs_on(enum insn_kind kind)
{
	return kind == INSN_PLAIN || kind == INSN_JCC || kind == INSN_LOOP;
}

static void look_at(struct verify *v, uint32_t fde)
{
	const struct vfde *f = &v->ocfi.fde[fde];
	const uint8_t *own = &v->counting.returns[verify_group(v, fde)];
	enum insn_kind last = INSN_TRAP;	/* but for NOPs */
	struct insn insn;
	vaddr target;

	for (vaddr addr = f->addr; addr - f->addr < f->len && !v->counting.all_live;
	     addr += insn.len) {
		if (!insn_decode(verify_orig_code(v, addr), addr, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : (enum insn_kind)insn.kind;
		bool call = insn.kind == INSN_CALL || insn.kind == INSN_ICALL;
		int to = call ? end_now(v, addr + insn.len) : *own;

		v->counting.all_live |= !spend(&v->counting, MAX_STEPS);
		if (to == WELL)
			continue;
		if (insn.kind == INSN_ICALL || insn.kind == INSN_IJMP)
			grow_pointed(v, insn.field ? target : 0, to);
		else if (insn_is_branch(&insn))
			grow_reached(v, target, to);
	}
	if (runs_on(last))
		grow_returns(v, f->addr + f->len, *own);
}

/* --- where computed jumps may go on inside of their functions --- */

/* `from`: the FDE whose code forms it; NO_FDE: data hold it. */
static void note_label(struct verify *v, vaddr addr, uint32_t from)
{
	struct vcounting *c = &v->counting;
	uint32_t fde = vcfi_find(&v->ocfi, addr);
	struct look l = { v, MAX_STEPS, true };

	if (fde == NO_FDE)
		return;
	const uint32_t group = verify_group(v, fde);
	c->labels[group] |= is_inside(v, addr) ||
			    (from != NO_FDE && verify_group(v, from) == group);
	if (v->ocfi.fde[fde].addr != addr)
		return;
	c->called[fde] = true;
	if (c->asked[fde] || v->ocfi.fragment[fde])
		return;
	c->asked[fde] = true;
	c->odd |= end_of(&l, addr, (struct way){ .flags = ALL_BUT_CF }) == BY_READ;
	c->odd |= !spend(c, l.steps);
}

/* An entry of a table of addresses is no label. */
static bool is_in_table(const struct verify *v, vaddr at)
{
	const struct vcounting *c = &v->counting;
	uint32_t lo = 0, hi = c->held.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->held.v[mid].hi < at + 8)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->held.n && c->held.v[lo].lo <= at;
}

static int note_held(struct verify *v, const struct vholder *h, void *ctx)
{
	bool word = h->kind == HOLDS_RELATIVE || h->kind == HOLDS_RELR ||
		    h->kind == HOLDS_RELOCATED || h->kind == HOLDS_WORD;

	(void)ctx;		/* symbols are for other modules, and for nobody */
	if (word && !is_in_table(v, h->kind == HOLDS_WORD ? h->at : h->place))
		note_label(v, h->value, NO_FDE);
	return 0;
}

/* [REX] OP DISP32(,REGISTER,8), of so many bytes: the displacement, else 0. */
static vaddr entry_operand(struct bytes code, uint8_t len, uint8_t op, uint8_t *into)
{
	const uint8_t *p = code.p;
	uint32_t disp;

	if (into) {		/* a load of 64 bits, into one of the first eight registers */
		if (len != 8 || (p[0] & 0xfc) != 0x48)
			return 0;
		p++;
		*into = p[1] >> 3 & 7;
	} else if (len != 7) {
		return 0;
	}
	if (p[0] != op || (p[1] & 0xc7) != 0x04 || (p[2] & 0xc5) != 0xc5)
		return 0;
	memcpy(&disp, p + 3, sizeof(disp));
	return disp;
}

static int by_start(const void *a, const void *b)
{
	const struct vextent *x = a, *y = b;

	return x->lo != y->lo ? (x->lo > y->lo ? 1 : -1)
			      : (x->fde > y->fde) - (x->fde < y->fde);
}

/* A table of addresses begins there, by which a function of that group jumps. */
static bool is_table(const struct verify *v, vaddr addr, uint32_t group)
{
	const struct vextent key = { .lo = addr, .fde = group };
	const struct vcounting *c = &v->counting;

	return addr && c->held.n && bsearch(&key, c->starts, c->held.n, sizeof(key), by_start);
}

static void note_leap(struct verify *v, uint32_t fde, vaddr to)
{
	uint32_t other = vcfi_find(&v->ocfi, to);

	if (other != NO_FDE && verify_group(v, other) != verify_group(v, fde))
		vec_push(v->a, &v->counting.leaps,
			 ((struct vleap){ verify_group(v, fde), verify_group(v, other), to }));
}

static void note_call(struct verify *v, vaddr to)
{
	uint32_t fde = vcfi_find(&v->ocfi, to);

	if (fde == NO_FDE)
		return;
	v->counting.called[fde] = true;
	if (is_inside(v, to))
		vec_push(v->a, &v->counting.unfollowed, to);
}

/* Addresses that instructions of one FDE form, and jumps that have a table in them. */
static void note_code(struct verify *v, uint32_t fde)
{
	const struct vfde *f = &v->ocfi.fde[fde];
	const uint32_t group = verify_group(v, fde);
	uint64_t constant[INSN_MAX_CONSTANTS];
	enum insn_kind last = INSN_TRAP;	/* but for NOPs */
	vaddr loaded = 0, target;		/* the table, by the instruction before */
	uint8_t into = 0;
	struct insn insn;

	for (vaddr addr = f->addr; addr - f->addr < f->len; addr += insn.len) {
		struct bytes code = verify_orig_code(v, addr);

		if (!insn_decode(code, addr, &insn, &target)) {
			insn.len = 1;
			loaded = 0;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : (enum insn_kind)insn.kind;
		if (insn.kind == INSN_CALL)
			note_call(v, target);
		else if (insn_is_branch(&insn))
			note_leap(v, fde, target);
		else if (insn.field)
			note_label(v, target, fde);
		uint32_t n = insn.constants && v->orig.eh.e_type == ET_EXEC
				     ? insn_constants((struct bytes){ code.p, insn.len },
						      constant) : 0;
		while (n-- > 0)
			note_label(v, constant[n], fde);
		if (insn.kind == INSN_IJMP && !insn.field) {
			vaddr table = entry_operand(code, insn.len, 0xff, NULL);
			bool behind = insn.len == 2 && loaded && (code.p[1] & 7) == into &&
				      !verify_is_met(v, addr);

			if (is_table(v, table, group) || (behind && is_table(v, loaded, group)))
				vec_push(v->a, &v->counting.direct, addr);
		}
		loaded = entry_operand(code, insn.len, 0x8b, &into);
	}
	if (runs_on(last))
		note_leap(v, fde, f->addr + f->len);
}

static int by_from(const void *a, const void *b)
{
	const struct vleap *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* It soon jumps through a register, or through memory that may have been one. */
static bool is_thunk(const struct verify *v, vaddr addr)
{
	enum { FEW = 16 };
	struct insn insn;
	vaddr target;

	for (int i = 0; i < FEW; i++, addr += insn.len) {
		struct bytes code = verify_orig_code(v, addr);

		if (!insn_decode(code, addr, &insn, &target))
			return false;
		if (insn.kind == INSN_IJMP)
			return !insn.field;
		if (insn.kind != INSN_NOP && insn.kind != INSN_PLAIN)
			return false;
	}
	return false;
}

/* To what is no function that is called, or a thunk: there may be a jump to a label of the
 * function that it comes from. */
static bool leads_to_part(const struct verify *v, const struct vleap *l)
{
	return is_inside(v, l->at) || !v->counting.called[vcfi_find(&v->ocfi, l->at)] ||
	       is_thunk(v, l->at);
}

static void inherit_labels(struct verify *v)
{
	struct vcounting *c = &v->counting;
	uint32_t *queue = arena_array(v->a, v->ocfi.nfde, sizeof(*queue)), n = 0;

	if (c->leaps.n)
		qsort(c->leaps.v, c->leaps.n, sizeof(*c->leaps.v), by_from);
	for (uint32_t i = 0; i < c->leaps.n; i++)
		if (leads_to_part(v, &c->leaps.v[i]))
			vec_push(v->a, &c->unfollowed, c->leaps.v[i].at);
	for (uint32_t g = 0; g < v->ocfi.nfde; g++)
		if (c->labels[g])
			queue[n++] = g;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = search_first(j, 0, c->leaps.n, c->leaps.v[j].from < queue[i]);

		for (; k < c->leaps.n && c->leaps.v[k].from == queue[i]; k++)
			if (!c->labels[c->leaps.v[k].to] && leads_to_part(v, &c->leaps.v[k])) {
				c->labels[c->leaps.v[k].to] = true;
				queue[n++] = c->leaps.v[k].to;
			}
	}
}

/* Of a table that function `fde` jumps by, NO_FDE if that is not known: where it leads from
 * there, be it outside. */
static void note_entries(struct verify *v, vaddr table, uint32_t kind, uint64_t n, uint32_t fde)
{
	vaddr to;

	for (uint64_t k = 0; k < n; k++) {
		if (!verify_table_entry(&v->orig, table, kind, k, &to))
			continue;
		uint32_t in = fde != NO_FDE ? fde : vcfi_find(&v->ocfi, to);
		if (in != NO_FDE)
			vec_push(v->a, &v->counting.inner,
				 ((struct vinner){ to, verify_group(v, in) }));
	}
	uint32_t group = fde == NO_FDE ? NO_FDE : verify_group(v, fde);
	if (kind == BLOCKMAP_TABLE_ABS64)
		vec_push(v->a, &v->counting.held,
			 ((struct vextent){ table, table + 8 * n, kind, group }));
}

static int by_original(const void *a, const void *b)
{
	const struct blockmap_table *x = a, *y = b;

	return x->orig_addr != y->orig_addr ? (x->orig_addr > y->orig_addr ? 1 : -1)
					    : (x->kind > y->kind) - (x->kind < y->kind);
}

/* What the code shows of a table, or the new one (replaced[], by_original), which may be
 * longer. */
static void note_extent(struct verify *v, const struct blockmap_table *replaced,
			const struct vextent *x)
{
	const struct blockmap_table key = { .orig_addr = x->lo, .kind = x->kind };
	const struct blockmap_table *t = !v->map.ntable ? NULL :
		bsearch(&key, replaced, v->map.ntable, sizeof(key), by_original);
	uint64_t n = (x->hi - x->lo) / blockmap_entry_size(x->kind);

	note_entries(v, x->lo, x->kind, t && t->nentry > n ? t->nentry : n, x->fde);
}

static void note_tables(struct verify *v)
{
	const struct blockmap *m = &v->map;
	struct blockmap_table *replaced =
		arena_dup(v->a, m->table, m->ntable * sizeof(*m->table));

	if (m->ntable)
		qsort(replaced, m->ntable, sizeof(*replaced), by_original);
	for (uint32_t i = 0; i < v->walk.extents.n; i++)
		note_extent(v, replaced, &v->walk.extents.v[i]);
	for (uint32_t i = 0; i < m->ntable; i++)
		note_entries(v, m->table[i].orig_addr, m->table[i].kind, m->table[i].nentry,
			     NO_FDE);
}

static int by_group(const void *a, const void *b)
{
	const struct vinner *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
				    : (x->addr > y->addr) - (x->addr < y->addr);
}

/* Where tables lead, each once. */
static void sort_inner(struct verify *v)
{
	struct vinner *all = v->counting.inner.v;
	uint32_t n = 0;

	if (v->counting.inner.n)
		qsort(all, v->counting.inner.n, sizeof(*all), by_group);
	for (uint32_t i = 0; i < v->counting.inner.n; i++)
		if (!n || by_group(&all[n - 1], &all[i]) != 0)
			all[n++] = all[i];
	v->counting.inner.n = n;
}

static int by_end(const void *a, const void *b)
{
	const struct vextent *x = a, *y = b;

	return x->hi != y->hi ? (x->hi > y->hi ? 1 : -1) : (x->lo > y->lo) - (x->lo < y->lo);
}

static void find_labels(struct verify *v)
{
	struct vcounting *c = &v->counting;

	note_tables(v);
	sort_inner(v);
	c->starts = arena_dup(v->a, c->held.v, c->held.n * sizeof(*c->held.v));
	if (c->held.n) {
		qsort(c->held.v, c->held.n, sizeof(*c->held.v), by_end);
		qsort(c->starts, c->held.n, sizeof(*c->starts), by_start);
	}
	(void)verify_each_holder(v, note_held, NULL);
	for (uint32_t i = 0; i < v->refs.formed.n; i++)
		note_label(v, v->refs.formed.v[i].to, v->refs.formed.v[i].fde);
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		note_code(v, i);
	verify_sort_addrs(c->direct.v, c->direct.n);
	inherit_labels(v);
	verify_find_calculated(v);
}

void verify_look_at_returns(struct verify *v)
{
	struct vcounting *c = &v->counting;
	const uint32_t n = v->ocfi.nfde;
	bool back = false;

	c->returns = arena_array(v->a, n, sizeof(*c->returns));
	c->tables = arena_array(v->a, n, sizeof(*c->tables));
	c->labels = arena_array(v->a, n, sizeof(*c->labels));
	c->called = arena_array(v->a, n, sizeof(*c->called));
	c->asked = arena_array(v->a, n, sizeof(*c->asked));
	c->left = MORE_STEPS + STEPS_A_BYTE * (uint64_t)v->orig.text.n;
	find_labels(v);
	do {			/* back and forth: what grows goes on in either direction */
		c->changed = false;
		for (uint32_t i = 0; i < n; i++)
			look_at(v, back ? n - 1 - i : i);
		for (uint32_t i = 0; i < c->inner.n; i++) {
			const struct vinner *x = &c->inner.v[back ? c->inner.n - 1 - i : i];

			if (c->tables[x->group] < BY_READ)
				grow(v, &c->tables[x->group], end_now(v, x->addr));
		}
		back = !back;
	} while (c->changed);
}
