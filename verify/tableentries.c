/* tableentries.c - what the bytes of a jump table say
 *
 * Here are the rules by which casetables.c, entries.c and dataflow.c tell what an entry is: it
 * leads to an instruction of the function that uses the table, or to the end of one of its
 * ranges.  How long a table is, they do not tell: that bounds.c proves from the code.
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
