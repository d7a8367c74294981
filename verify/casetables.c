/* casetables.c - a new jump table leads where the old one leads
 *
 * ENTRIES   Each entry of the new table leads to the image of what the original's entry leads
 *           to, or to that address itself.
 * LENGTH    No bound of the index is proved. An index that the original can use picks an entry
 *           that leads to code of this function; compilers lay a table out without gaps. So the
 *           new table must not end while the original's bytes still look like further entries:
 *           the start of an instruction of the same function or its fragments, or exactly the
 *           end of one of their ranges (Clang's filler), and no other table begins. Every entry
 *           up to there is shown to be right, whatever the index. Behind where another table
 *           begins entries are not used, and may be inside an entry jump.
 * PLACE     The original's entries are constant (not in a writable segment), and so are the
 *           new.
 * USE       dataflow.c, for every function in which an instruction forms a new table's
 *           address, or a load reads at another displacement.
 */
#include <stdlib.h>

#include "verify/parts.h"

bool verify_table_entry(const struct image *img, vaddr table, uint32_t kind, uint64_t i,
			vaddr *target)
{
	uint64_t size = blockmap_entry_size(kind);
	vaddr at = table + i * size;
	const Elf64_Phdr *p = image_segment(img, at);

	if (!p || (p->p_flags & PF_W))
		return false;
	struct rd r = rd_of(image_at(img, at, size));
	*target = size == 4 ? table + (vaddr)(int64_t)rd_s32(&r) : rd_u64(&r);
	return !r.bad;
}

/* Where entry i of the new table leads. */
static bool new_entry(const struct verify *v, const struct blockmap_table *t, uint64_t i,
		      new_vaddr *to)
{
	if (!verify_table_entry(&v->gen, t->new_addr, t->kind, i, to))
		return false;
	if (t->kind == BLOCKMAP_TABLE_BESIDE32)		/* distances from another place */
		*to += t->orig_addr - t->new_addr;
	return true;
}

static int check_entries(struct verify *v, const struct blockmap_table *t)
{
	vaddr end = verify_next_table(v, t->orig_addr);
	uint64_t size = blockmap_entry_size(t->kind);

	for (uint32_t i = 0; i < t->nentry; i++) {
		bool used = t->orig_addr + i * size < end;
		vaddr want;
		new_vaddr have;

		if (!verify_table_entry(&v->orig, t->orig_addr, t->kind, i, &want))
			return refuse(v, "entry %u of the jump table at 0x%llx is not constant",
				      i, ULL(t->orig_addr));
		if (!verify_is_fresh(v, t->new_addr) ||
		    !new_entry(v, t, i, &have))
			return refuse(v, "the new jump table at 0x%llx is not in a new segment",
				      ULL(t->new_addr));
		if (!used && verify_is_cut(v, want))
			continue;
		if (!(used ? verify_leads : verify_may_lead)(v, want, have))
			return refuse(
				v,
				"entry %u of the jump table at 0x%llx leads to 0x%llx, in the "
				"new table at 0x%llx to 0x%llx",
				i, ULL(t->orig_addr), ULL(want), ULL(t->new_addr), ULL(have));
	}
	return 0;
}

bool verify_is_case(const struct verify *v, uint32_t group, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	if (fde != NO_FDE && verify_group(v, fde) == group && verify_is_start(v, addr))
		return true;
	fde = vcfi_find(&v->ocfi, addr - 1);
	return fde != NO_FDE && verify_group(v, fde) == group &&
	       addr == v->ocfi.fde[fde].addr + v->ocfi.fde[fde].len;
}

bool verify_may_be_case(const struct verify *v, uint32_t group, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return (fde != NO_FDE && v->ocfi.fde[fde].addr == addr) ||
	       verify_is_case(v, group, addr);
}

int verify_table_length(struct verify *v, const struct blockmap_table *t, uint32_t group,
			vaddr addr)
{
	vaddr to;

	uint64_t size = blockmap_entry_size(t->kind);
	vaddr end = verify_next_table(v, t->orig_addr);

	for (uint64_t i = 0; i <= t->nentry; i++)
		if (t->orig_addr + i * size >= end ||
		    !verify_table_entry(&v->orig, t->orig_addr, t->kind, i, &to) ||
		    !verify_is_case(v, group, to))
			return 0;
	return refuse(v,
		      "the jump table at 0x%llx used at 0x%llx goes on behind its %u entries",
		      ULL(t->orig_addr), ULL(addr), t->nentry);
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

/* All FDEs, those of a group together. */
static struct by_group *sort_members(struct verify *v)
{
	struct by_group *m = arena_array(v->a, v->ocfi.nfde, sizeof(*m));

	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		m[i] = (struct by_group){ verify_group(v, i), i };
	qsort(m, v->ocfi.nfde, sizeof(*m), by_group_cmp);
	return m;
}

/* What refers to new tables: formers, and behind them shifted loads; those of a group
 * together. */
static struct by_group *sort_users(struct verify *v, uint32_t *n)
{
	struct by_group *order;
	uint32_t first = v->formers.n;

	*n = first + v->shifted.n;
	order = arena_array(v->a, *n, sizeof(*order));
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t fde = i < first ? v->formers.v[i].fde :
					   vcfi_find(&v->ocfi, v->shifted.v[i - first].addr);

		order[i] = (struct by_group){ verify_group(v, fde), i };
	}
	if (*n)
		qsort(order, *n, sizeof(*order), by_group_cmp);
	return order;
}

/* One run of the data flow per function that refers to new tables. */
static int check_uses(struct verify *v)
{
	uint32_t n, at = 0;
	const struct by_group *order = sort_users(v, &n), *members = sort_members(v);
	uint32_t *former = arena_array(v->a, v->formers.n, sizeof(*former));
	uint32_t *member = arena_array(v->a, v->ocfi.nfde, sizeof(*member));

	v->range_of = arena_array(v->a, v->ocfi.nfde, sizeof(*v->range_of));
	for (uint32_t i = 0, k; i < n; i = k) {
		uint32_t nmember = 0, nformer = 0;

		for (k = i; k < n && order[k].group == order[i].group; k++)
			if (order[k].item < v->formers.n)
				former[nformer++] = order[k].item;
		while (members[at].group < order[i].group)
			at++;
		while (at < v->ocfi.nfde && members[at].group == order[i].group)
			member[nmember++] = members[at++].item;
		if (verify_flow(v, former, nformer, member, nmember) < 0)
			return -1;
	}
	return 0;
}

int verify_tables(struct verify *v)
{
	for (uint32_t i = 0; i < v->map.ntable; i++)
		if (check_entries(v, &v->map.table[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < v->formers.n; i++) {
		const struct vformer *f = &v->formers.v[i];

		if (i && f[-1].table == f->table && f[-1].fde == f->fde)
			continue;
		if (verify_table_length(v, &v->map.table[f->table], verify_group(v, f->fde),
					f->addr) < 0)
			return -1;
	}
	return check_uses(v);
}
