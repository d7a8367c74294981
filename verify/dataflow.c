/* dataflow.c - nothing but the dispatch sees the address of a new jump table
 *
 * NEW       One run of the data flow (flow.c) for each function that refers to new tables: they
 *           are used for their jumps only, and each load from one reads an entry that was
 *           followed (tablelengths.c).
 * CASES     Other parts ask where a function may go by its tables that stay.  They are
 *           followed as if nothing differed: for each load comparisons must bound the index,
 *           else nothing is shown of any of them.
 *
 * Tested by tests/unit/verify/test_dataflow.c, test_casetables.c and test_behindtraps.c.
 */
#include <stdlib.h>

#include "verify/flow.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

static void end_run(struct flow *f)
{
	for (uint32_t i = 0; i < f->fdes.n; i++)
		f->v->flow.range_of[f->fdes.v[i]] = 0;
	arena_reset(f->a);
}

static int check_lengths(struct flow *f)
{
	for (bool more = true; more; ) {
		more = false;
		if (vflow_ways(f) < 0 || verify_check_lengths(f, &more) < 0 ||
		    (more && vflow_again(f) < 0))
			return -1;
	}
	return 0;
}

/* uses.formers[former[0 .. n)], ascending, are in the group of FDEs member[], as are some loads
 * of uses.shifted[], perhaps. */
static int follow_group(struct verify *v, const uint32_t *former, uint32_t n,
			const uint32_t *member, uint32_t nmember)
{
	const struct vformer *all = v->uses.formers.v;
	struct flow f = { .v = v, .a = v->run };

	f.tables = (struct vtables){ .v = v, .a = f.a, .group = verify_group(v, member[0]) };
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || all[former[i]].table != all[former[i - 1]].table)
			vtables_claim(&f.tables, &v->map.table[all[former[i]].table]);
	int rc = vflow_all(&f, former, n, member, nmember);
	if (rc == 0 && f.ranges.n > 0)
		rc = check_lengths(&f);
	v->flow.followed[f.tables.group] = true;
	if (f.unknown || f.stays)
		vec_push(v->a, &v->flow.stays, member[0]);
	end_run(&f);
	return rc;
}

struct by_group {
	uint32_t group, item;
};

static int by_group_cmp(const void *x, const void *y)
{
	const struct by_group *a = x, *b = y;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* What refers to new tables: formers, and behind them shifted loads; those of a group
 * together. */
static struct by_group *sort_users(struct verify *v, uint32_t *n)
{
	const struct vtableuses *uses = &v->uses;
	struct by_group *order;
	uint32_t first = uses->formers.n;

	*n = first + uses->shifted.n;
	order = arena_array(v->a, *n, sizeof(*order));
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t fde = i < first ? uses->formers.v[i].fde :
					   vcfi_find(&v->ocfi, uses->shifted.v[i - first].addr);

		order[i] = (struct by_group){ verify_group(v, fde), i };
	}
	if (*n)
		qsort(order, *n, sizeof(*order), by_group_cmp);
	return order;
}

/* Who is in the image of block i - 1 gets to that of block i; who is in its original, to the
 * original of that. */
static bool runs_on(const struct verify *v, uint32_t i)
{
	const struct blockmap_block *b = &v->map.block[i], *before = b - 1;

	return v->uses.falls[i - 1] && before->orig + before->orig_size == b->orig &&
	       before->gen + before->gen_size == b->gen &&
	       !verify_has_entry(v, v->map.orig_base + b->orig);
}

static void find_stretches(struct verify *v)
{
	uint32_t *first = arena_array(v->a, v->map.nblock, sizeof(*first));

	for (uint32_t i = 0; i < v->map.nblock; i++)
		first[i] = i && runs_on(v, i) ? first[i - 1] : i;
	v->flow.stretch = first;
}

/* One run of the data flow per function that refers to new tables. */
int verify_dataflow(struct verify *v)
{
	uint32_t n, nmember;
	const struct by_group *order = sort_users(v, &n);
	uint32_t *former = arena_array(v->a, v->uses.formers.n, sizeof(*former));

	find_stretches(v);
	v->flow.followed = arena_array(v->a, v->ocfi.nfde, sizeof(*v->flow.followed));
	v->flow.range_of = arena_array(v->a, v->ocfi.nfde, sizeof(*v->flow.range_of));
	for (uint32_t i = 0, k; i < n; i = k) {
		uint32_t nformer = 0;
		const uint32_t *member = verify_members(v, order[i].group, &nmember);

		for (k = i; k < n && order[k].group == order[i].group; k++)
			if (order[k].item < v->uses.formers.n)
				former[nformer++] = order[k].item;
		if (follow_group(v, former, nformer, member, nmember) < 0)
			return -1;
	}
	return 0;
}

/* Gives each table the entries that are shown, until no way is new: 1.  0: not all are. */
static int show_all(struct flow *f)
{
	for (bool grown = true; grown; ) {
		if (f->ranges.n == 0 || f->unknown)
			return 0;
		if (vflow_ways(f) < 0)
			return -1;
		grown = false;
		for (uint32_t i = 0; i < f->tables.all.n; i++) {
			struct vtable *t = &f->tables.all.v[i];
			uint32_t n = verify_shown_entries(f, t);

			if (n < t->nentry)
				return 0;
			grown |= n > t->nentry;
			t->shown |= n > t->nentry;
			t->nentry = n;
		}
		if (vflow_again(f) < 0)
			return -1;
	}
	return 1;
}

static int note_cases(struct verify *v, const struct vtable *t, uint32_t fde)
{
	vaddr end = t->addr + (uint64_t)t->nentry * blockmap_entry_size(t->kind), to;

	if (!t->shown)			/* they were known to entries.c */
		return 0;
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (!verify_table_entry(&v->orig, t->addr, t->kind, i, &to))
			continue;
		if (verify_is_cut(v, to))
			return refuse(v,
				      "entry %u of the jump table at 0x%llx leads to 0x%llx, "
				      "inside an entry jump", i, ULL(t->addr), ULL(to));
		verify_note_met(v, to);
	}
	vec_push(v->a, &v->walk.extents, ((struct vextent){ t->addr, end, t->kind, fde }));
	return 0;
}

int verify_show_cases(struct verify *v, uint32_t fde)
{
	struct flow f = { .v = v, .a = v->run };
	uint32_t n;

	f.tables = (struct vtables){ .v = v, .a = f.a, .group = verify_group(v, fde) };
	const uint32_t *member = verify_members(v, f.tables.group, &n);
	int rc = vflow_all(&f, NULL, 0, member, n);
	int shown = rc == 0 ? show_all(&f) : 0;
	for (uint32_t i = 0; rc == 0 && shown > 0 && i < f.tables.all.n; i++)
		rc = note_cases(v, &f.tables.all.v[i], fde);
	end_run(&f);
	return rc < 0 || shown < 0 ? -1 : 0;
}
