/* carry.c - carries a profile over to another version of its program
 *
 * A block gets the samples of its partner, for each of its instructions as many; an edge is
 * carried over if both ends have partners, a call if the block with it has and makes as many
 * calls.  What is missing, the inference completes from the flow, as it does where samples are
 * few.
 */
#include "editor/inherit/carry.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/profile.h"
#include "lib/search.h"

struct carry {
	const struct match *m;
	const uint32_t *by_off;		/* blocks of the old version, ascending by off */
	uint32_t *fn_of;		/* [old->nblock] */
};

static int by_off(const void *x, const void *y, void *ctx)
{
	const struct signature_block *block = ctx;
	uint32_t a = block[*(const uint32_t *)x].off, b = block[*(const uint32_t *)y].off;

	return (a > b) - (a < b);
}

/* The last old block that begins at the address or before it; NONE. */
static uint32_t block_before(const struct carry *c, vaddr addr)
{
	const struct signature *old = c->m->old;

	if (addr < old->base || addr - old->base > UINT32_MAX)
		return SIGNATURE_NONE;
	uint32_t off = (uint32_t)(addr - old->base);
	uint32_t k = search_first(i, 0, old->nblock, old->block[c->by_off[i]].off <= off);
	return k ? c->by_off[k - 1] : SIGNATURE_NONE;
}

static uint32_t block_at(const struct carry *c, vaddr addr)
{
	uint32_t b = block_before(c, addr);

	return b != SIGNATURE_NONE && c->m->old->base + c->m->old->block[b].off == addr ?
		       b : SIGNATURE_NONE;
}

/* The partner of the old block that begins there; NONE. */
static uint32_t partner_at(const struct carry *c, vaddr addr)
{
	uint32_t b = block_at(c, addr);

	return b == SIGNATURE_NONE ? b : c->m->block[b];
}

static vaddr now_addr(const struct carry *c, uint32_t block)
{
	return c->m->now->base + c->m->now->block[block].off;
}

static void carry_blocks(const struct carry *c, const struct profile *old, struct arena *a,
			 struct profile *out, struct carried *told)
{
	const struct match *m = c->m;
	bool runs = profile_has_executions(old);
	bool *seen = arena_array(a, m->old->nfn, sizeof(*seen));

	out->block = arena_array(a, old->nblock, sizeof(*out->block));
	for (uint32_t i = 0; i < old->nblock; i++) {
		uint32_t b = block_at(c, old->block[i].addr);
		double samples = old->block[i].samples;
		double before = b == SIGNATURE_NONE ? 1 : m->old->block[b].ninsn;

		told->weight += runs ? samples * before : samples;
		told->blocks += samples > 0;
		if (b == SIGNATURE_NONE || m->block[b] == SIGNATURE_NONE)
			out->outside += samples;
		if (b == SIGNATURE_NONE)
			continue;
		uint32_t f = c->fn_of[b], to = m->block[b];
		told->functions += samples > 0 && !seen[f];
		told->matched += samples > 0 && !seen[f] && m->fn[f] != SIGNATURE_NONE;
		seen[f] |= samples > 0;
		if (to == SIGNATURE_NONE)
			continue;
		double matched = runs ? samples * before : samples;
		told->matched_weight += matched;
		told->how[m->how[f]] += matched;
		told->matched_blocks += samples > 0;
		out->block[out->nblock++] = (struct profile_block){
			now_addr(c, to),
			runs ? samples : samples * m->now->block[to].ninsn / before };
	}
}

static void carry_edges(const struct carry *c, const struct profile *old, struct arena *a,
			struct profile *out)
{
	out->edge = arena_array(a, old->nedge, sizeof(*out->edge));
	for (uint32_t i = 0; i < old->nedge; i++) {
		uint32_t from = partner_at(c, old->edge[i].from);
		uint32_t to = partner_at(c, old->edge[i].to);

		if (from != SIGNATURE_NONE && to != SIGNATURE_NONE)
			out->edge[out->nedge++] = (struct profile_edge){
				now_addr(c, from), now_addr(c, to), old->edge[i].count };
	}
}

/* The address of the new version's call that is the old one's at `insn`; 0: there is none. */
static vaddr call_at(const struct carry *c, vaddr insn)
{
	const struct match *m = c->m;
	uint32_t b = block_before(c, insn), x, y;

	if (b == SIGNATURE_NONE || m->block[b] == SIGNATURE_NONE)
		return 0;
	const struct signature_fn *fn = &m->old->fn[c->fn_of[b]];
	const struct signature_fn *other = &m->now->fn[m->fn[c->fn_of[b]]];
	uint32_t n = signature_calls(m->old, fn, b - fn->block, &x);
	if (signature_calls(m->now, other, m->block[b] - other->block, &y) != n)
		return 0;
	for (uint32_t k = 0; k < n; k++)
		if (m->old->base + m->old->call[x + k].off == insn)
			return m->now->base + m->now->call[y + k].off;
	return 0;
}

/* The entry of the new version's function; 0: there is none. */
static vaddr entry_at(const struct carry *c, vaddr entry)
{
	const struct match *m = c->m;
	uint32_t k = search_first(i, 0, m->old->nfn, m->old->fn[i].entry < entry);

	if (k == m->old->nfn || m->old->fn[k].entry != entry || m->fn[k] == SIGNATURE_NONE)
		return 0;
	return m->now->fn[m->fn[k]].entry;
}

static void carry_calls(const struct carry *c, const struct profile *old, struct arena *a,
			struct profile *out)
{
	out->call = arena_array(a, old->ncall, sizeof(*out->call));
	for (uint32_t i = 0; i < old->ncall; i++) {
		struct profile_call to = { call_at(c, old->call[i].insn),
					   entry_at(c, old->call[i].target),
					   old->call[i].count };

		if (to.insn && to.target)
			out->call[out->ncall++] = to;
	}
}

static struct carry carry_of(const struct match *m, struct arena *a)
{
	const struct signature *old = m->old;
	uint32_t *order = arena_array(a, old->nblock, sizeof(*order));
	struct carry c = { .m = m, .by_off = order,
			   .fn_of = arena_array(a, old->nblock, sizeof(*c.fn_of)) };

	for (uint32_t f = 0; f < old->nfn; f++)
		for (uint32_t i = 0; i < old->fn[f].nblock; i++)
			c.fn_of[old->fn[f].block + i] = f;
	for (uint32_t i = 0; i < old->nblock; i++)
		order[i] = i;
	qsort_r(order, old->nblock, sizeof(*order), by_off, old->block);
	return c;
}

void carry_profile(const struct match *m, const struct profile *old, struct arena *a,
		   struct profile *out, struct carried *told)
{
	struct carry c = carry_of(m, a);
	struct profile p = { .module = old->module, .original = m->now->original,
			     .clock = profile_is_exact(old) ? "branches" : old->clock,
			     .outside = old->outside };

	*told = (struct carried){ 0 };
	carry_blocks(&c, old, a, &p, told);
	carry_edges(&c, old, a, &p);
	carry_calls(&c, old, a, &p);
	profile_sort(&p);
	for (uint32_t i = 0; i < p.nblock; i++)
		p.samples += p.block[i].samples;
	*out = p;
}
