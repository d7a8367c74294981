/* tableentries.c - what the bytes of a jump table say
 *
 * Here are the rules by which casetables.c, entries.c and dataflow.c tell what an entry is: it
 * leads to an instruction of the function that uses the table, or to the end of one of its
 * ranges.  How long a table is, bounds.c proves from the code.  Where the code shows no bound,
 * a table ends where its section does, or with a word that leads to no instruction at all: an
 * index beyond that would have had the original run what is no code.  A word that leads into
 * another function ends it where something begins whose address some instruction forms.
 *
 * Tested by tests/unit/verify/test_casetables.c and test_bounds.c.
 */
#include "verify/lookup.h"
#include "verify/tableentries.h"

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

vaddr verify_table_before(const struct vwalk *walk, vaddr addr)
{
	uint32_t lo = 0, hi = walk->tables.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (walk->tables.v[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? walk->tables.v[lo - 1] : 0;
}

vaddr verify_next_table(const struct vwalk *walk, vaddr addr)
{
	uint32_t lo = 0, hi = walk->tables.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (walk->tables.v[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < walk->tables.n ? walk->tables.v[lo] : UINT64_MAX;
}

/* Outside of the section that the table is in. */
static bool is_outside(const struct image *img, vaddr table, vaddr addr)
{
	const struct section *s = image_section_at(img, table);

	return s && addr - s->h.sh_addr >= s->h.sh_size;
}

/* The words from `from` to `to` are all entries of a table that begins at `from`: each leads to
 * an instruction, or stands for a case that cannot be. */
static bool is_filled(const struct verify *v, vaddr from, vaddr to, uint32_t kind,
		      uint32_t group)
{
	uint64_t size = blockmap_entry_size(kind);
	vaddr target;

	for (uint64_t i = 0; from + size * i < to; i++)
		if (!verify_table_entry(&v->orig, from, kind, i, &target) ||
		    (!verify_is_start(v, target) && !verify_is_case(v, group, target)))
			return false;
	return true;
}

/* The word in front of the table would be an entry, and no other table ends with it: an index
 * of which nothing is known may be negative. */
static bool is_preceded(const struct verify *v, const struct blockmap_table *t, uint32_t group)
{
	vaddr to, other = verify_table_before(&v->walk, t->orig_addr);

	if (!verify_table_entry(&v->orig, t->orig_addr, t->kind, UINT64_MAX, &to) ||
	    is_outside(&v->orig, t->orig_addr, t->orig_addr - blockmap_entry_size(t->kind)) ||
	    !verify_is_case(v, group, to))
		return false;
	return !other || !is_filled(v, other, t->orig_addr,
				    t->kind == BLOCKMAP_TABLE_ABS64 ? BLOCKMAP_TABLE_ABS64 :
								      BLOCKMAP_TABLE_REL32,
				    group);
}

/* A table begins there, or in front of it, that leads into another function at once: an address
 * that this one forms may be in the middle of the table, or of an array in front of it. */
static bool is_others_table(const struct verify *v, vaddr table, vaddr behind, uint32_t kind,
			    uint32_t group)
{
	vaddr to;

	if (behind < table || !verify_table_entry(&v->orig, table, kind, 0, &to))
		return false;
	uint32_t fde = vcfi_find(&v->ocfi, to);
	return fde != NO_FDE && verify_group(v, fde) != group;
}

bool verify_table_ends(const struct verify *v, const struct blockmap_table *t, uint32_t group,
		       bool negative, vaddr next)
{
	vaddr behind = t->orig_addr + t->nentry * (uint64_t)blockmap_entry_size(t->kind), to;

	if (negative && is_preceded(v, t, group))
		return false;
	if (is_outside(&v->orig, t->orig_addr, behind) ||
	    !verify_table_entry(&v->orig, t->orig_addr, t->kind, t->nentry, &to))
		return true;
	if (verify_is_case(v, group, to))
		return behind >= next ||
		       is_others_table(v, verify_next_table(&v->walk, t->orig_addr), behind,
				       t->kind, group);
	return !verify_is_start(v, to) || verify_is_referred(v, behind) ||
	       behind >= verify_next_table(&v->walk, t->orig_addr);
}

const struct blockmap_table *verify_find_table(const struct blockmap *map, vaddr orig,
					       new_vaddr gen, uint32_t kind)
{
	uint32_t lo = 0, hi = map->ntable;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (map->table[mid].new_addr < gen)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == map->ntable)
		return NULL;
	const struct blockmap_table *t = &map->table[lo];
	return t->new_addr == gen && t->orig_addr == orig && t->kind == kind ? t : NULL;
}

bool verify_is_beside(const struct vtableuses *uses, vaddr table)
{
	return verify_has_addr(uses->beside.v, uses->beside.n, table);
}
