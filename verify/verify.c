/* verify.c - shows that a generation is the original in another order, or refuses it
 *
 * See parts.h for what is shown where.  This file reads the claim, runs the parts and
 * has the few questions that several of them ask.
 */
#include "verify/parts.h"
#include "binary/loadtables.h"

static int open_files(struct verify *v, struct bytes original, struct bytes generation)
{
	if (image_parse(original, v->a, &v->orig, v->err) < 0 ||
	    loadtables_check(&v->orig, v->err) < 0)
		return err_wrap(v->err, "original");
	if (image_parse(generation, v->a, &v->gen, v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return err_wrap(v->err, "generation");
	}
	if (image_section(&v->gen, ".morph.counters"))
		return refuse(v, "an instrumented program: it counts what it does besides");
	const struct section *map = image_section(&v->gen, ".morph.map");
	if (!map || map->h.sh_type == SHT_NOBITS)
		return refuse(v, "no section .morph.map: not a generation");
	if (blockmap_read(bytes_at(generation, map->h.sh_offset, map->h.sh_size), &v->map,
			  v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return -1;
	}
	struct digest digest = digest_of(original);
	if (!digest_equal(&v->map.original, &digest)) {
		char hex[65];

		digest_hex(&v->map.original, hex);
		return refuse(v, "made from another original, with SHA-256 %s", hex);
	}
	v->stats->generation = v->map.generation;
	v->stats->original = v->map.original;
	return 0;
}

static int run(struct verify *v, struct bytes original, struct bytes generation)
{
	if (open_files(v, original, generation) < 0)
		return -1;
	v->start = arena_alloc(v->a, original.n / 8 + 1);
	v->cut = arena_alloc(v->a, original.n / 8 + 1);
	if (verify_elf(v) < 0 || verify_cfi(v) < 0 || verify_lsdas(v) < 0 ||
	    verify_entries(v) < 0 || verify_code(v) < 0 || verify_tables(v) < 0 ||
	    verify_unwind(v) < 0 || verify_redirects(v) < 0 || verify_watched(v) < 0 ||
	    verify_sections(v) < 0 || verify_symbols(v) < 0 || verify_probes(v) < 0 ||
	    verify_account(v) < 0)
		return -1;
	v->stats->blocks = v->map.nblock;
	v->stats->entries = v->map.nentry;
	v->stats->tables = v->map.ntable;
	return 0;
}

int verify_generation(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err)
{
	struct err unwanted;
	struct verify_stats filled = { 0 };
	struct verify v = { .a = a, .run = arena_new(), .err = err ? err : &unwanted,
		.stats = &filled };

	int rc = run(&v, original, generation);
	blockmap_free(&v.map);
	arena_free(v.run);
	if (rc == 0)
		*stats = filled;
	return rc;
}

bool verify_is_fresh(const struct verify *v, vaddr addr)
{
	for (uint32_t i = 0; i < v->nfresh; i++)
		if (addr >= v->fresh[i]->p_vaddr &&
		    addr - v->fresh[i]->p_vaddr < v->fresh[i]->p_memsz)
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
	return test_bit(v, v->cut, addr);
}

bool verify_is_start(const struct verify *v, vaddr addr)
{
	return test_bit(v, v->start, addr);
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
	enum { ENDBR64 = 4 };

	return is_entry(v, addr) || is_entry(v, addr + ENDBR64);
}

const struct blockmap_block *verify_image_of(const struct verify *v, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&v->map, addr);

	return b && v->map.orig_base + b->orig == addr && b->gen_size ? b : NULL;
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

uint32_t verify_group(const struct verify *v, uint32_t fde)
{
	while (v->group[fde] != fde) {
		v->group[fde] = v->group[v->group[fde]];
		fde = v->group[fde];
	}
	return fde;
}
