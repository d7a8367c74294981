/* flagsdead.c - are all flags but CF overwritten, on every way from here, before one is read?
 *
 * WAYS      lead on over direct jumps, both ways of branches, and into what is called directly.
 *           They end well where all flags have been overwritten, and, by assumption A10, where
 *           code of another module begins or code that is reached through a pointer: indirect
 *           calls, jumps through a slot, computed jumps that leave their function.  A computed
 *           jump may go on inside as well, by a table or to a label: all that is known to lead
 *           inside of its function is looked at, too.  Where nothing is, it is one that leaves
 *           if the frame is that of the entry, as in a tail call, else it ends badly; so does a
 *           system call (it puts the flags into %r11), and a way of so many instructions.
 *
 * RETURNS   A return ends well if no caller reads flags behind its call.  Each call of the
 *           original is asked that; where one does, or may, the returns of what it calls end
 *           badly, and those of functions that this one jumps to; all returns do if the call is
 *           an indirect one.  Where it is that, or the function jumps through a pointer, a read
 *           must have been found, not only no end of the looking, nor a jump to who knows
 *           where: so far behind a call nobody reads flags.  Where the loader alone says what
 *           the pointer is, it is that function.
 *
 * Until a read is found, returns and computed jumps count as ending well, and what was asked
 * before that is asked again.
 *
 * Tested by tests/unit/verify/test_counting.c.
 */
#include "verify/flagsdead.h"

#include <stdlib.h>

#include "verify/effect.h"
#include "verify/holders.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { MAX_STEPS = 1000, MAX_BRANCHES = 10 };		/* chosen, not measured */
enum { ALL_BUT_CF = 0x3e };		/* PF AF ZF SF OF, as in struct effect */

struct way {
	const struct verify *v;
	int steps;
	bool read;			/* it ended badly by a read, or may have */
};

static bool dead_from(struct way *w, vaddr addr, uint8_t flags, int branches);

static bool dead_at_return(struct way *w, vaddr addr)
{
	const struct verify *v = w->v;
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	w->read |= v->counting.all_live || fde == NO_FDE ||
		   v->counting.returns_read[verify_group(v, fde)];
	return !v->counting.all_live && fde != NO_FDE &&
	       !v->counting.returns_live[verify_group(v, fde)];
}

static bool has_frame_of_entry(const struct verify *v, vaddr addr)
{
	struct vcursor c = { .cfi = &v->ocfi, .fde = NO_FDE };
	uint32_t state = vcfi_state(&c, addr);

	return state != ROW_NONE && vstates_is_entry(v->states, state);
}

/* The first address inside of the group to which something leads, or of a later group. */
static uint32_t first_inner(const struct vcounting *c, uint32_t group)
{
	uint32_t lo = 0, hi = c->inner.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->inner.v[mid].group < group)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool has_inner(const struct vcounting *c, uint32_t group)
{
	uint32_t i = first_inner(c, group);

	return i < c->inner.n && c->inner.v[i].group == group;
}

static bool dead_at_jump(struct way *w, vaddr addr)
{
	const struct vcounting *c = &w->v->counting;
	uint32_t fde = vcfi_find(&w->v->ocfi, addr);

	if (fde == NO_FDE)
		return false;
	const uint32_t group = verify_group(w->v, fde);
	w->read |= c->jumps_read[group];
	return has_inner(c, group) ? !c->jumps_live[group] : has_frame_of_entry(w->v, addr);
}

static bool dead_behind(struct way *w, const struct effect *e, vaddr addr, uint8_t flags,
			int branches)
{
	switch (e->kind) {
	case INSN_JMP:
	case INSN_CALL:
		return dead_from(w, e->target, flags, branches);
	case INSN_JCC:
	case INSN_LOOP:
		return branches < MAX_BRANCHES &&
		       dead_from(w, e->target, flags, branches + 1) &&
		       dead_from(w, addr + e->len, flags, branches + 1);
	case INSN_ICALL:
	case INSN_TRAP:
		return true;
	case INSN_IJMP:
		return e->slot || dead_at_jump(w, addr);
	case INSN_RET:
		return dead_at_return(w, addr);
	default:
		break;
	}
	w->read = true;
	return false;
}

/* syscall and sysenter. */
static bool calls_system(struct bytes code)
{
	return code.n >= 2 && code.p[0] == 0x0f && (code.p[1] == 0x05 || code.p[1] == 0x34);
}

static bool dead_from(struct way *w, vaddr addr, uint8_t flags, int branches)
{
	struct effect e;

	while (w->steps-- > 0) {
		struct bytes code = verify_orig_code(w->v, addr);

		if (!code.p || !effect_decode(code, addr, &e) || calls_system(code) ||
		    (e.flags_read & flags)) {
			w->read = true;
			return false;
		}
		flags &= (uint8_t)~e.flags_written;
		if (flags == 0)
			return true;
		if (e.kind != INSN_PLAIN && e.kind != INSN_NOP)
			return dead_behind(w, &e, addr, flags, branches);
		addr += e.len;
	}
	return false;
}

bool verify_flags_dead(const struct verify *v, vaddr addr)
{
	struct way w = { .v = v, .steps = MAX_STEPS };

	return dead_from(&w, addr, ALL_BUT_CF, 0);
}

static void set_live(struct verify *v, vaddr callee, bool read)
{
	uint32_t fde = vcfi_find(&v->ocfi, callee);

	if (fde == NO_FDE)
		return;
	uint32_t group = verify_group(v, fde);

	v->counting.changed |= !v->counting.returns_live[group] ||
			       (read && !v->counting.returns_read[group]);
	v->counting.returns_live[group] = true;
	v->counting.returns_read[group] |= read;
}

/* Of what a call or jump through the slot reaches; 0: through a register, or other memory. */
static void set_pointed_live(struct verify *v, vaddr slot, bool read)
{
	vaddr function;

	if (slot && verify_slot_function(v, slot, &function)) {
		if (function)
			set_live(v, function, read);
	} else if (read) {
		v->counting.changed |= !v->counting.all_live;
		v->counting.all_live = true;
	}
}

static void set_reached_live(struct verify *v, vaddr target, bool read)
{
	vaddr slot = verify_stub_slot(v, target);

	if (slot)
		set_pointed_live(v, slot, read);
	else
		set_live(v, target, read);
}

/* What ends with a call ends with one that does not come back. */
static bool runs_on(enum insn_kind kind)
{
	return kind == INSN_PLAIN || kind == INSN_JCC || kind == INSN_LOOP;
}

static void look_at(struct verify *v, uint32_t fde)
{
	const struct vfde *f = &v->ocfi.fde[fde];
	enum insn_kind last = INSN_TRAP;	/* but for NOPs */
	struct insn insn;
	vaddr target;

	for (vaddr addr = f->addr; addr - f->addr < f->len; addr += insn.len) {
		bool leaves = v->counting.returns_live[verify_group(v, fde)];
		struct way w = { .v = v, .steps = MAX_STEPS,
				 .read = v->counting.returns_read[verify_group(v, fde)] };

		if (!insn_decode(verify_orig_code(v, addr), addr, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : (enum insn_kind)insn.kind;
		bool call = insn.kind == INSN_CALL || insn.kind == INSN_ICALL;
		if (call)
			w.read = false;
		if (v->counting.all_live ||
		    !(call ? !dead_from(&w, addr + insn.len, ALL_BUT_CF, 0) : leaves))
			continue;
		if (insn.kind == INSN_ICALL || insn.kind == INSN_IJMP)
			set_pointed_live(v, insn.field ? target : 0, w.read);
		else if (insn_is_branch(&insn))
			set_reached_live(v, target, w.read);
	}
	const uint32_t group = verify_group(v, fde);
	if (v->counting.returns_live[group] && runs_on(last))
		set_live(v, f->addr + f->len, v->counting.returns_read[group]);
}

/* --- where computed jumps may go on inside of their functions --- */

static void note_inner(struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	if (fde != NO_FDE && (v->ocfi.fde[fde].addr != addr || v->ocfi.fragment[fde]))
		vec_push(v->a, &v->counting.inner,
			 ((struct vinner){ addr, verify_group(v, fde) }));
}

static int note_held(struct verify *v, const struct vholder *h, void *ctx)
{
	(void)ctx;
	note_inner(v, h->value);
	return 0;
}

static void note_entries(struct verify *v, vaddr table, uint32_t kind, uint64_t n)
{
	vaddr to;

	for (uint64_t k = 0; k < n; k++)
		if (verify_table_entry(&v->orig, table, kind, k, &to))
			note_inner(v, to);
}

static int by_group(const void *a, const void *b)
{
	const struct vinner *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
				    : (x->addr > y->addr) - (x->addr < y->addr);
}

/* Pointers that data hold, what instructions form, and entries of tables; each once. */
static void find_inner(struct verify *v)
{
	(void)verify_each_holder(v, note_held, NULL);
	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_LEA || v->refs.all.v[i].kind == REF_OPERAND)
			note_inner(v, v->refs.all.v[i].to);
	for (uint32_t i = 0; i < v->refs.formed.n; i++)
		note_inner(v, v->refs.formed.v[i].to);
	for (uint32_t i = 0; i < v->map.ntable; i++)
		note_entries(v, v->map.table[i].orig_addr, v->map.table[i].kind,
			     v->map.table[i].nentry);
	for (uint32_t i = 0; i < v->walk.extents.n; i++) {
		const struct vextent *x = &v->walk.extents.v[i];

		note_entries(v, x->lo, x->kind, (x->hi - x->lo) / blockmap_entry_size(x->kind));
	}
	struct vinner *all = v->counting.inner.v;
	uint32_t n = 0;
	if (v->counting.inner.n)
		qsort(all, v->counting.inner.n, sizeof(*all), by_group);
	for (uint32_t i = 0; i < v->counting.inner.n; i++)
		if (!n || by_group(&all[n - 1], &all[i]) != 0)
			all[n++] = all[i];
	v->counting.inner.n = n;
}

static void look_inside(struct verify *v, const struct vinner *inner)
{
	struct vcounting *c = &v->counting;
	struct way w = { .v = v, .steps = MAX_STEPS };
	bool dead = dead_from(&w, inner->addr, ALL_BUT_CF, 0);

	c->changed |= (!dead && !c->jumps_live[inner->group]) ||
		      (w.read && !c->jumps_read[inner->group]);
	c->jumps_live[inner->group] |= !dead;
	c->jumps_read[inner->group] |= w.read;
}

void verify_look_at_returns(struct verify *v)
{
	struct vcounting *c = &v->counting;
	const size_t n = v->ocfi.nfde;

	find_inner(v);
	c->returns_live = arena_array(v->a, n, sizeof(*c->returns_live));
	c->returns_read = arena_array(v->a, n, sizeof(*c->returns_read));
	c->jumps_live = arena_array(v->a, n, sizeof(*c->jumps_live));
	c->jumps_read = arena_array(v->a, n, sizeof(*c->jumps_read));
	do {
		c->changed = false;
		for (uint32_t i = 0; i < v->ocfi.nfde; i++)
			look_at(v, i);
		for (uint32_t i = 0; i < c->inner.n; i++)
			look_inside(v, &c->inner.v[i]);
	} while (c->changed);
}
