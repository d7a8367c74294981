/* tableopen.c - is it certain where a table of addresses ends whose index nothing bounds?
 *
 * The first word that leads to no code is not always the end.  Arrays of labels have unused
 * entries, code may form the address of an array's middle, and of a place in front of a table
 * whose lowest index is not 0.  In each of these cases there are words near the new table's
 * entries that lead into the same function.  If there are, the end is in doubt; but words count
 * that are in a table which comparisons bound as a part of that one: all of it is one object.
 *
 * Tested by tests/programs/openswitch.sh.
 */
#include "verify/flow.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { NEAR = 4096, SIZE = 8 };		/* words on either side; chosen */

/* Into the function, and not where it begins. */
static bool leads_inside(const struct verify *v, uint32_t group, vaddr at)
{
	vaddr to;
	uint32_t fde;

	if (!verify_table_entry(&v->orig, at, BLOCKMAP_TABLE_ABS64, 0, &to))
		return false;
	fde = vcfi_find(&v->ocfi, to);
	return fde != NO_FDE && verify_group(v, fde) == group && verify_is_start(v, to) &&
	       (v->ocfi.fde[fde].addr != to || v->ocfi.fragment[fde]);
}

enum { BITS = 32 };		/* of indexes that are compared; the others are 0 */

/* Entries that comparisons and constants let the load read; 0: these alone do not bound it. */
static uint32_t compared_by(struct flow *f, uint32_t load, uint8_t base, uint32_t nentry)
{
	struct vbound b = vbound_of(&f->graph, load, base, nentry, BITS);
	uint32_t lo = 1, hi = nentry;

	if (b.kind != BOUND_PROVEN || b.typed)
		return 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (vbound_of(&f->graph, load, base, mid, BITS).kind == BOUND_PROVEN)
			hi = mid;
		else
			lo = mid + 1;
	}
	return hi;
}

/* Of all loads of the table. */
static uint32_t compared_entries(struct flow *f, const struct vtable *t)
{
	const struct blockmap_table m = { .orig_addr = t->addr, .kind = t->kind };
	uint32_t most = 0;
	uint8_t base;

	for (uint32_t r = 0; r < f->ranges.n; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++) {
			const struct range *range = &f->ranges.v[r];

			if (!range->node[i].in.seen ||
			    !verify_reads_entry(f, &range->node[i], &m, &base))
				continue;
			uint32_t n = compared_by(f, range->first + i, base, t->nentry);
			if (!n)
				return 0;
			most = n > most ? n : most;
		}
	return most;
}

static void compare_all(struct flow *f)
{
	const uint64_t left = f->graph.budget;

	f->compared = arena_array(f->a, f->tables.all.n, sizeof(*f->compared));
	f->graph.budget = vgraph_budget(&f->graph);	/* and not others' */
	for (uint32_t i = 0; i < f->tables.all.n; i++)
		if (f->tables.all.v[i].kind == BLOCKMAP_TABLE_ABS64)
			f->compared[i] = compared_entries(f, &f->tables.all.v[i]);
	f->graph.budget = left;
}

static bool is_other_tables(struct flow *f, vaddr at)
{
	if (!f->compared)
		compare_all(f);
	for (uint32_t i = 0; i < f->tables.all.n; i++)
		if (at - f->tables.all.v[i].addr < SIZE * (vaddr)f->compared[i])
			return true;
	return false;
}

bool verify_ends_in_doubt(struct flow *f, const struct blockmap_table *m)
{
	const struct section *s = image_section_at(&f->v->orig, m->orig_addr);
	vaddr end = m->orig_addr + SIZE * (vaddr)m->nentry;

	if (m->kind != BLOCKMAP_TABLE_ABS64)
		return false;
	for (vaddr at = m->orig_addr - SIZE * NEAR; at < end + SIZE * NEAR; at += SIZE) {
		if (at == m->orig_addr)
			at = end;
		if ((!s || at - s->h.sh_addr < s->h.sh_size) &&
		    leads_inside(f->v, f->tables.group, at) && !is_other_tables(f, at))
			return true;
	}
	return false;
}
