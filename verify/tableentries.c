/* HEAD */
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

int verify_table_length(struct verify *v, const struct blockmap_table *t, uint32_t group,
			vaddr addr)
{
	vaddr to;

	uint64_t size = blockmap_entry_size(t->kind);
	vaddr end = verify_next_table(&v->walk, t->orig_addr);

	for (uint64_t i = 0; i <= t->nentry; i++)
		if (t->orig_addr + i * size >= end ||
		    !verify_table_entry(&v->orig, t->orig_addr, t->kind, i, &to) ||
		    !verify_is_case(v, group, to))
			return 0;
	return refuse(v,
		      "the jump table at 0x%llx used at 0x%llx goes on behind its %u entries",
		      ULL(t->orig_addr), ULL(addr), t->nentry);
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
