/* ways.c - where the computed jumps of a function with redirected labels get their targets from
 *
 * FETCHED    by a `mov` of 64 bits, or by the jump itself, from memory, as it was there: not
 *            from a frame, where compilers keep what they have calculated.
 * BY_TABLE   an entry of a table plus the address by which the block read that entry: the
 *            table's address, for nothing is read by the addresses of labels.
 * Both are looked for in the block that the jump ends.  If the block does not write the
 * register, every branch and fall to the block, and there must be some, has to bring something
 * fetched; nothing else may lead to it: no pointer, no operand, no landing pad, no replaced
 * table, nor one that stays.
 *
 * Tested by tests/unit/verify/test_redirected.c.
 */
#include "verify/effect.h"
#include "verify/holders.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { NGPR = 16 };
/* Blocks.  A lower limit refused libproc2's generation; a higher one costs time only. */
enum { MAX_DEPTH = 8 };

struct origin {			/* of the values of registers, in one block */
	uint16_t loaded;	/* a mov of 64 bits read them from memory */
	/* an entry of a jump table and the address by which it was read */
	uint16_t summed;
	uint16_t written;
	uint8_t through[NGPR];	/* 1 + the register that holds that address; 0: no entry */
};

static void set(uint16_t *mask, uint8_t reg, bool to)
{
	*mask = (uint16_t)(to ? *mask | 1u << reg : *mask & ~(1u << reg));
}

static bool has(uint16_t mask, uint8_t reg)
{
	return mask >> reg & 1;
}

static void forget(struct origin *o, uint16_t written)
{
	o->loaded &= (uint16_t)~written;
	o->summed &= (uint16_t)~written;
	for (uint8_t i = 0; i < NGPR; i++)
		if (has(written, i) || (o->through[i] && has(written, o->through[i] - 1)))
			o->through[i] = 0;
}

static void follow(struct origin *o, const struct effect *e)
{
	const struct origin was = *o;
	uint16_t written = e->kills | e->clobbers;

	if (e->kind == INSN_CALL || e->kind == INSN_ICALL)
		written |= VERIFY_CALLER_SAVED;
	forget(o, written);
	o->written |= written;
	if (e->op == FX_COPY) {
		set(&o->loaded, e->a, has(was.loaded, e->b));
		set(&o->summed, e->a, has(was.summed, e->b));
	}
	if (e->op == FX_LOAD && e->a != e->b && !has(was.loaded, e->b))
		o->through[e->a] = e->b + 1;
	if (e->op == FX_ADD)
		set(&o->summed, e->a,
		    was.through[e->a] == e->b + 1 || was.through[e->b] == e->a + 1);
	if (e->fetches)
		o->loaded |= e->kills;
}

static int note_held(struct verify *v, const struct vholder *h, void *ctx)
{
	if (h->kind != HOLDS_LISTED)		/* nothing that runs knows it by that */
		vec_push(v->a, (struct vbases *)ctx, h->value);
	return 0;
}

static void note_entries(struct verify *v, struct vbases *held, vaddr table, uint32_t kind,
			 uint64_t n)
{
	vaddr to;

	for (uint32_t k = 0; k < n; k++)
		if (verify_table_entry(&v->orig, table, kind, k, &to))
			vec_push(v->a, held, to);
}

/* Pointers, operands, landing pads, entries of tables, those that stay as well, and starts of
 * functions: what leads to code without branching there, ascending. */
static const struct vbases *held_of(struct verify *v)
{
	struct vbases *held = &v->pointers.held;

	if (held->n)
		return held;
	(void)verify_each_holder(v, note_held, held);
	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *r = &v->refs.all.v[i];

		if (r->kind == REF_LEA || r->kind == REF_OPERAND)
			vec_push(v->a, held, r->to);
	}
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		const struct vlsda *l = vlsda_of(&v->ocfi, i);

		vec_push(v->a, held, v->ocfi.fde[i].addr);
		for (uint32_t k = 0; l && k < l->nsite; k++)
			vec_push(v->a, held, v->ocfi.site[l->site + k].pad);
	}
	for (uint32_t i = 0; i < v->map.ntable; i++)
		note_entries(v, held, v->map.table[i].orig_addr, v->map.table[i].kind,
			     v->map.table[i].nentry);
	for (uint32_t i = 0; i < v->walk.extents.n; i++) {
		const struct vextent *x = &v->walk.extents.v[i];

		note_entries(v, held, x->lo, x->kind,
			     (x->hi - x->lo) / blockmap_entry_size(x->kind));
	}
	verify_sort_addrs(held->v, held->n);
	return held;
}

bool verify_is_held(struct verify *v, vaddr addr)
{
	const struct vbases *held = held_of(v);

	return verify_has_addr(held->v, held->n, addr);
}

/* Nothing but the instruction in front of it leads there. */
static bool is_run_into(struct verify *v, vaddr addr)
{
	return !verify_is_met(v, addr) && !verify_is_held(v, addr);
}

/* Where the block of the instruction at `last` begins. */
static vaddr block_start(struct verify *v, vaddr last)
{
	uint32_t fde = vcfi_find(&v->ocfi, last);
	vaddr at = fde == NO_FDE ? last : v->ocfi.fde[fde].addr, start = at;
	bool falls = false;
	struct effect e;

	for (; at < last; at += e.len) {
		if (!effect_decode(verify_orig_code(v, at), at, &e))
			return last;
		if (!falls || !is_run_into(v, at))
			start = at;
		falls = verify_falls(v, at, &e);
	}
	return falls && is_run_into(v, last) ? start : last;
}

/* What the block of the instruction at `last` has made of the registers before or, with
 * `behind`, behind that instruction; *start is where it begins. */
static bool follow_to(struct verify *v, vaddr last, bool behind, vaddr *start, struct effect *e,
		      struct origin *out)
{
	*out = (struct origin){ 0 };
	*start = block_start(v, last);
	for (vaddr at = *start; at <= last; at += e->len) {
		if (!effect_decode(verify_orig_code(v, at), at, e))
			return false;
		if (at < last || behind)
			follow(out, e);
	}
	return true;
}

struct dispatch {
	struct verify *v;
	uint8_t reg;
	uint32_t ways;		/* to the block at hand */
};

static bool all_bring(struct dispatch *d, vaddr start, int depth);

/* The way that begins with the instruction at `addr` brings something fetched. */
static bool brings(struct dispatch *d, vaddr addr, int depth)
{
	struct origin o;
	struct effect e;
	vaddr start;

	if (!follow_to(d->v, addr, true, &start, &e, &o))
		return false;
	return has(o.loaded, d->reg) ||
	       (!has(o.written, d->reg) && all_bring(d, start, depth - 1));
}

/* All ways from this range of code to `start` do. */
static bool range_brings(struct dispatch *d, uint32_t fde, vaddr start, int depth)
{
	vaddr at = d->v->ocfi.fde[fde].addr, end = at + d->v->ocfi.fde[fde].len;
	struct effect e;

	for (; at < end; at += e.len) {
		if (!effect_decode(verify_orig_code(d->v, at), at, &e))
			return false;
		if (e.target != start && (at + e.len != start || !verify_falls(d->v, at, &e)))
			continue;
		d->ways++;
		if (!brings(d, at, depth))
			return false;
	}
	return true;
}

static bool all_bring(struct dispatch *d, vaddr start, int depth)
{
	uint32_t fde = vcfi_find(&d->v->ocfi, start), before = d->ways, n;

	if (depth == 0 || fde == NO_FDE || verify_is_held(d->v, start))
		return false;
	const uint32_t *member = verify_members(d->v, verify_group(d->v, fde), &n);
	for (uint32_t i = 0; i < n; i++)
		if (!range_brings(d, member[i], start, depth))
			return false;
	return d->ways > before;
}

enum verify_way verify_way_of(struct verify *v, vaddr jump)
{
	struct origin o;
	struct effect e;
	vaddr start;

	if (!follow_to(v, jump, false, &start, &e, &o))
		return WAY_CALCULATED;
	if (e.op != FX_JUMP)
		return e.fetches ? WAY_FETCHED : WAY_CALCULATED;
	if (has(o.loaded, e.a))
		return WAY_FETCHED;
	if (has(o.summed, e.a))
		return WAY_BY_TABLE;
	struct dispatch d = { .v = v, .reg = e.a };
	return !has(o.written, e.a) && all_bring(&d, start, MAX_DEPTH) ? WAY_FETCHED
								       : WAY_CALCULATED;
}
