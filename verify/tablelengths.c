/* tablelengths.c - how many entries of a jump table the loads of one can read
 *
 * flow.c has followed a function and put down all its ways.  bounds.c goes back on them
 * from each load of an entry, and shows that the index is below a number, or that comparisons
 * admit up to another one.
 *
 * NEW       A new table must have all entries that are read, by the code or by what the load's
 *           image compares (guards.c).  What the words around it look like shows nothing:
 *           arrays of labels have gaps, and addresses are formed in the middle of others, or in
 *           front of them.
 * ORIGINAL  Of a table that stays, the entries are those that comparisons admit: for every load
 *           there has to be a bound, no other table begins among them, and those that did not
 *           look like entries lead to instructions.
 *
 * Tested by tests/unit/verify/test_bounds.c, test_casetables.c and test_behindtraps.c.
 */
#include "verify/flow.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

/* The instruction reads an entry of a new table that stands for `m`'s: *base is the register
 * with the address, none if it is a constant. */
static bool reads_entry(struct flow *f, const struct node *n, const struct blockmap_table *m,
			uint8_t *base)
{
	const struct effect *e = &n->e;

	if (e->op == FX_TABLE || e->op == FX_JUMP_TABLE) {
		*base = NGPR;
		return m->kind == BLOCKMAP_TABLE_ABS64 && e->value == m->orig_addr;
	}
	if (e->op != FX_LOAD && e->op != FX_WORD && e->op != FX_WORD_SUM)
		return false;
	*base = e->op == FX_WORD_SUM && n->in.r[e->c].kind == BASE ? e->c : e->b;
	struct value x = n->in.r[*base];
	return x.kind == BASE && f->tables.all.v[x.table].addr == m->orig_addr &&
	       (m->kind == BLOCKMAP_TABLE_BESIDE32) == (n->shift != 0);
}

/* Entries that are right whatever they are used for: up to where another table seems to begin,
 * and behind that as long as none was left out (casetables.c). */
static uint32_t right_entries(struct verify *v, const struct blockmap_table *m)
{
	vaddr end = verify_next_table(&v->walk, m->orig_addr), to;
	uint64_t size = blockmap_entry_size(m->kind);

	for (uint32_t i = 0; i < m->nentry; i++)
		if (m->orig_addr + i * size >= end &&
		    verify_table_entry(&v->orig, m->orig_addr, m->kind, i, &to) &&
		    verify_is_cut(v, to))
			return i;
	return m->nentry;
}

/* By so many of a new table's entries the flow has followed control. */
static uint32_t *followed(struct flow *f, const struct blockmap_table *m)
{
	uint32_t number;

	return vtables_find(&f->tables, m->orig_addr, m->kind, &number) ?
	       &f->tables.all.v[number].nentry : NULL;
}

/* The load's image compares the index. */
static int check_guard(struct flow *f, const struct blockmap_table *m, vaddr addr,
		       uint32_t guard, bool *more)
{
	uint32_t n = right_entries(f->v, m), *seen = followed(f, m);

	if (guard > n)
		return refuse(f->v,
			      "the image of the load at 0x%llx reads up to %u entries of the "
			      "new jump table for that at 0x%llx, which has %u", ULL(addr),
			      guard, ULL(m->orig_addr), n);
	if (seen && *seen < guard) {
		*seen = guard;
		*more = true;
	}
	return 0;
}

/* *more: there are ways through the table that were not followed. */
static int check_load(struct flow *f, const struct blockmap_table *m, uint32_t load,
		      uint8_t base, bool *more)
{
	uint32_t n = right_entries(f->v, m), *seen = followed(f, m);
	vaddr addr = f->graph.addr[load];

	if (seen && *seen < n &&
	    vbound_of(&f->graph, load, base, *seen).kind == BOUND_PROVEN)
		return 0;
	struct vbound b = vbound_of(&f->graph, load, base, n);
	if (b.kind == BOUND_PROVEN) {
		if (seen && *seen < n) {
			*seen = n;
			*more = true;
		}
		return 0;
	}
	if (b.kind == BOUND_BEYOND)
		return refuse(f->v,
			      "the instruction at 0x%llx uses up to %llu entries of the jump "
			      "table at 0x%llx, of which %u have new ones",
			      ULL(addr), ULL(b.most + 1), ULL(m->orig_addr), n);
	return refuse(f->v,
		      "nothing shows that the instruction at 0x%llx uses no more than %u "
		      "entries of the jump table at 0x%llx", ULL(addr), n, ULL(m->orig_addr));
}

int verify_check_lengths(struct flow *f, bool *more)
{
	uint8_t base;

	for (uint32_t r = 0; r < f->ranges.n; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++)
			for (uint32_t k = 0; k < f->tables.claims.n; k++) {
				const struct range *range = &f->ranges.v[r];
				const struct blockmap_table *m = f->tables.claims.v[k];

				const struct node *node = &range->node[i];

				if (!node->in.seen || !reads_entry(f, node, m, &base))
					continue;
				if ((node->guard ?
				     check_guard(f, m, range->node_addr[i], node->guard, more) :
				     check_load(f, m, range->first + i, base, more)) < 0)
					return -1;
			}
	return 0;
}

uint32_t verify_shown_entries(struct flow *f, const struct vtable *t)
{
	const struct blockmap_table m = { .orig_addr = t->addr, .kind = t->kind };
	uint64_t n = t->nentry, size = blockmap_entry_size(t->kind);
	uint8_t base;
	vaddr to;

	for (uint32_t r = 0; r < f->ranges.n; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++) {
			const struct range *range = &f->ranges.v[r];

			if (!range->node[i].in.seen ||
			    !reads_entry(f, &range->node[i], &m, &base))
				continue;
			struct vbound b = vbound_of(&f->graph, range->first + i, base,
						    t->nentry);
			if (b.kind == BOUND_UNKNOWN)
				return 0;
			if (b.kind == BOUND_BEYOND && b.most >= n)
				n = b.most + 1;
		}
	if (n > (verify_next_table(&f->v->walk, t->addr) - t->addr) / size)
		return 0;
	for (uint64_t i = t->nentry; i < n; i++)
		if (!verify_table_entry(&f->v->orig, t->addr, t->kind, i, &to) ||
		    !verify_is_start(f->v, to))
			return 0;
	return (uint32_t)n;
}
