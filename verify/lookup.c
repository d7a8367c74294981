/* lookup.c - questions about the two files that several parts ask
 *
 * Where code is, which bytes entry jumps have overwritten, where a block's image is, and
 * whether being at one address of the generation is being at one of the original.  It shows
 * nothing, and every part may ask it; it asks only frametable.c.
 *
 * Tested by all of tests/unit/verify/ and by tests/e2e/mutate.sh: each part asks it.
 */
#include "verify/lookup.h"

#include <stdlib.h>
#include <string.h>

bool verify_is_fresh(const struct verify *v, vaddr addr)
{
	for (uint32_t i = 0; i < v->file.nfresh; i++)
		if (addr >= v->file.fresh[i]->p_vaddr &&
		    addr - v->file.fresh[i]->p_vaddr < v->file.fresh[i]->p_memsz)
			return true;
	return false;
}

struct bytes verify_orig_code_anywhere(const struct verify *v, vaddr addr)
{
	const Elf64_Phdr *ph = image_segment(&v->orig, addr);

	if (!ph || !(ph->p_flags & PF_X) || addr - ph->p_vaddr >= ph->p_filesz)
		return (struct bytes){ NULL, 0 };
	uint64_t skip = addr - ph->p_vaddr;
	return bytes_at(v->orig.file, ph->p_offset + skip, ph->p_filesz - skip);
}

static bool test_bit(const struct verify *v, const uint8_t *map, vaddr addr)
{
	struct bytes b = verify_orig_code(v, addr);

	if (!b.p)
		return false;
	uint64_t off = (uint64_t)(b.p - v->orig.file.p);
	return map[off / 8] & 1 << off % 8;
}

bool verify_is_cut(const struct verify *v, vaddr addr)
{
	return test_bit(v, v->walk.cut, addr);
}

bool verify_is_start(const struct verify *v, vaddr addr)
{
	return test_bit(v, v->walk.start, addr);
}

bool verify_is_met(const struct verify *v, vaddr addr)
{
	return test_bit(v, v->walk.met, addr);
}

void verify_note_met(const struct verify *v, vaddr addr)
{
	struct bytes b = verify_orig_code(v, addr);

	if (!b.p)
		return;
	uint64_t off = (uint64_t)(b.p - v->orig.file.p);
	v->walk.met[off / 8] |= (uint8_t)(1 << off % 8);
}

static bool is_entry(const struct verify *v, vaddr addr)
{
	uint32_t lo = 0, hi = v->map.nentry;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->map.orig_base + v->map.entry[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < v->map.nentry && v->map.orig_base + v->map.entry[lo] == addr;
}

bool verify_has_entry(const struct verify *v, vaddr addr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct bytes code = verify_orig_code(v, addr);

	if (is_entry(v, addr))
		return true;
	/* without one, behind four bytes another function begins */
	return code.n >= sizeof(endbr64) && memcmp(code.p, endbr64, sizeof(endbr64)) == 0 &&
	       is_entry(v, addr + sizeof(endbr64));
}

const struct blockmap_block *verify_image_of(const struct verify *v, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&v->map, addr);

	return b && v->map.orig_base + b->orig == addr && b->gen_size ? b : NULL;
}

bool verify_is_function(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return fde != NO_FDE && v->ocfi.fde[fde].addr == addr && !v->ocfi.fragment[fde];
}

void verify_note_inner(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	if (fde != NO_FDE && (addr != v->ocfi.fde[fde].addr || v->ocfi.fragment[fde]))
		v->pointers.open[fde] = true;
}

bool verify_leads(const struct verify *v, vaddr addr, new_vaddr to)
{
	if (!verify_may_lead(v, addr, to))
		return false;
	verify_note_inner(v, to);
	return true;
}

bool verify_may_lead(const struct verify *v, vaddr addr, new_vaddr to)
{
	enum { MAX_STEPS = 80 };	/* more than any padding between two blocks has NOPs */
	struct insn insn;
	vaddr target;

	for (int i = 0; i < MAX_STEPS; i++) {
		const struct blockmap_block *b = verify_image_of(v, addr);

		if (addr == to)
			return !verify_is_cut(v, addr) && !verify_is_fresh(v, addr);
		if (b && v->map.gen_base + b->gen == to)
			return true;
		struct bytes code = verify_orig_code(v, addr);
		if (!code.p || !insn_decode(code, addr, &insn, &target))
			return false;
		if (insn.kind == INSN_NOP)
			addr += insn.len;
		else if (insn.kind == INSN_JMP && vcfi_find(&v->ocfi, addr) != NO_FDE)
			addr = target;	/* known to entries.c */
		else
			return false;
	}
	return false;
}

enum { INT3 = 0xcc, INT1 = 0xf1 };

bool verify_is_trap(const struct insn *insn, const uint8_t *code)
{
	return insn->kind == INSN_TRAP || *code == INT3 || *code == INT1;
}

bool verify_is_padding(uint8_t kind, const uint8_t *code)
{
	return kind == INSN_NOP || *code == INT3;
}

bool verify_goes_on(const struct verify *v, uint32_t fde, vaddr addr)
{
	const struct vfde *f = &v->ocfi.fde[fde];
	struct insn insn;
	vaddr target;

	while (addr - f->addr < f->len &&
	       insn_decode(verify_orig_code(v, addr), addr, &insn, &target) &&
	       insn.kind == INSN_NOP)
		addr += insn.len;
	return addr - f->addr < f->len;
}

uint32_t verify_group(const struct verify *v, uint32_t fde)
{
	while (v->walk.group[fde] != fde) {
		v->walk.group[fde] = v->walk.group[v->walk.group[fde]];
		fde = v->walk.group[fde];
	}
	return fde;
}

const uint32_t *verify_members(const struct verify *v, uint32_t group, uint32_t *n)
{
	*n = v->walk.nmember[group];
	return v->walk.member + v->walk.first_member[group];
}

bool verify_same_bytes(struct bytes x, struct bytes y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);
}

static int addr_cmp(const void *x, const void *y)
{
	const vaddr *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void verify_sort_addrs(vaddr *addr, uint32_t n)
{
	if (n)
		qsort(addr, n, sizeof(*addr), addr_cmp);
}

bool verify_has_addr(const vaddr *addr, uint32_t n, vaddr x)
{
	return n && bsearch(&x, addr, n, sizeof(x), addr_cmp);
}

bool verify_is_text_of(const struct verify *v, uint32_t fde, new_vaddr from, uint64_t size)
{
	const struct blockmap_block *b = blockmap_find_gen(&v->map, from);
	const struct blockmap_block *end = v->map.block + v->map.nblock;
	new_vaddr at = from;

	if (size == 0 || size > (uint64_t)v->map.hot_size + v->map.fluff_size)
		return false;
	uint32_t last = vcfi_find(&v->gcfi, from + size - 1);
	if (last == NO_FDE || v->gcfi.fde[last].addr + v->gcfi.fde[last].len != from + size)
		return false;
	for (; b && b < end && v->map.gen_base + b->gen < from + size; b++) {
		uint32_t of = vcfi_find(&v->ocfi, v->map.orig_base + b->orig);

		if (of == NO_FDE || (verify_group(v, of) != verify_group(v, fde) &&
				     verify_has_entry(v, v->ocfi.fde[of].addr)))
			return false;
		at = v->map.gen_base + b->gen + b->gen_size;
	}
	return at == from + size;
}

const struct section *verify_new_text_of(const struct verify *v, const Elf64_Sym *sym)
{
	if (sym->st_shndx < v->orig.nsh || sym->st_shndx >= v->gen.nsh)
		return NULL;
	const struct section *in = &v->gen.sh[sym->st_shndx];

	if ((strcmp(in->name, ".morph.text") != 0 && strcmp(in->name, ".morph.fluff") != 0) ||
	    sym->st_value < in->h.sh_addr || sym->st_size > in->h.sh_size ||
	    sym->st_value - in->h.sh_addr > in->h.sh_size - sym->st_size)
		return NULL;
	return in;
}

bool verify_is_end(const struct verify *v, vaddr addr)
{
	return addr == v->walk.end_of_code || addr == v->walk.end_of_exec ||
	       addr == v->walk.end;
}

bool verify_holds_words(const struct section *s)
{
	static const char except[] = ".gcc_except_table";
	bool by_linker = (s->h.sh_type != SHT_PROGBITS && s->h.sh_type != SHT_NOTE &&
			  s->h.sh_type < SHT_LOOS) ||
			 (s->h.sh_type >= SHT_GNU_ATTRIBUTES && s->h.sh_type <= SHT_HIOS);

	return !by_linker && (s->h.sh_flags & SHF_ALLOC) && strcmp(s->name, ".eh_frame") != 0 &&
	       strcmp(s->name, ".eh_frame_hdr") != 0 &&
	       strncmp(s->name, except, sizeof(except) - 1) != 0;
}

bool verify_is_mixed(const struct section *s)
{
	static const char *const mixed[] = { ".rodata", ".data", ".lrodata", ".ldata", ".tdata",
					     ".interp" };

	for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++)
		if (strncmp(s->name, mixed[i], strlen(mixed[i])) == 0)
			return true;
	return s->name[0] == '.' && (s->h.sh_flags & SHF_WRITE);
}
