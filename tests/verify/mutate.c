/* mutate.c - damages a generation in every way that it knows, at many places, and asks the
 * Verifier
 *
 *   mutate ORIGINAL GENERATION PER-KIND SEED
 *
 * PER-KIND `every`: not at random, but every byte of what is new or has moved, once.
 *
 * The generation must be accepted as it is, and refused with each damage.  A damaged one that
 * is accepted must be shown to be harmless here, by other means than the Verifier's: the byte
 * is padding of new text, or the unwind tables give the same row at every instruction (by
 * postmorph/unwind/cfi.h), exceptions go the same ways (postmorph/unwind/lsda.h), or the block
 * map takes every instruction back to the same original.  Anything else fails the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "tests/unit/renewed.h"
#include "tests/verify/mapdamage.h"
#include "verify/verify.h"

struct kind {
	const char *name;
	bool (*damage)(struct target *t);	/* false: nothing of that kind there */
};

static void flip(struct target *t, uint64_t off)
{
	t->gen[off] ^= (uint8_t)(1u << below(t, 8));
}

/* A random instruction of a random image: its file offset. */
static uint64_t pick_insn(struct target *t, struct insn *insn,
			  bool (*want)(const struct insn *))
{
	for (int tries = 0; tries < 10000; tries++) {
		const struct blockmap_block *b = &t->map.block[below(t, t->map.nblock)];
		new_vaddr addr = t->map.gen_base + b->gen;
		struct bytes code = image_at(&t->img, addr, b->gen_size);
		uint64_t stop = below(t, b->gen_size), off = 0;
		vaddr target;

		while (off < code.n && insn_decode(bytes_at(code, off, code.n - off),
						   addr + off, insn, &target)) {
			if (off >= stop && want(insn))
				return offset_of(t, addr + off);
			off += insn->len;
		}
	}
	return 0;
}

static bool any_insn(const struct insn *insn) { return insn->kind != INSN_NOP; }
static bool has_field(const struct insn *insn) { return insn->field != 0; }
static bool is_jcc(const struct insn *insn) { return insn->kind == INSN_JCC; }

static bool damage_opcode(struct target *t)
{
	struct insn insn;
	uint64_t off = pick_insn(t, &insn, any_insn);

	flip(t, off + below(t, insn.field ? insn.field : 1));
	return true;
}

static bool damage_operand(struct target *t)
{
	struct insn insn;
	uint64_t off = pick_insn(t, &insn, any_insn);

	flip(t, off + insn.len - 1 - below(t, insn.len > 2 ? 2 : 1));
	return true;
}

static bool damage_target(struct target *t)
{
	struct insn insn;
	uint64_t off = pick_insn(t, &insn, has_field);

	if (off)
		flip(t, off + insn.field + below(t, insn.field_size));
	return off != 0;
}

static bool is_far_jump(const struct insn *insn)
{
	return (insn->kind == INSN_JMP || insn->kind == INSN_JCC) && insn->field_size == 4;
}

/* A way to the original that arrives one instruction too late. */
static bool damage_way_back(struct target *t)
{
	for (int tries = 0; tries < 1000; tries++) {
		struct insn insn, first;
		vaddr unused;
		int32_t d;
		uint64_t off = pick_insn(t, &insn, is_far_jump);

		if (!off)
			return false;
		memcpy(&d, t->gen + off + insn.field, sizeof(d));
		new_vaddr at = t->map.gen_base + (off - offset_of(t, t->map.gen_base));
		vaddr to = at + insn.len + (vaddr)(int64_t)d;
		struct bytes code = image_rest(&t->img, to);
		if (to >= t->map.gen_base || !code.p ||
		    !insn_decode(code, to, &first, &unused) || first.kind == INSN_NOP ||
		    first.kind == INSN_JMP)
			continue;
		d += first.len;
		memcpy(t->gen + off + insn.field, &d, sizeof(d));
		return true;
	}
	return false;
}

static bool is_through_slot(const struct insn *insn)
{
	return (insn->kind == INSN_ICALL || insn->kind == INSN_IJMP) && insn->field;
}

/* Another slot of the linkage table. */
static bool damage_slot(struct target *t)
{
	struct insn insn;
	uint64_t off = pick_insn(t, &insn, is_through_slot);
	int32_t d;

	if (!off)
		return false;
	memcpy(&d, t->gen + off + insn.field, sizeof(d));
	d += 8 * (1 + (int32_t)below(t, 4)) * (below(t, 2) ? 1 : -1);
	memcpy(t->gen + off + insn.field, &d, sizeof(d));
	return true;
}

static bool damage_condition(struct target *t)
{
	struct insn insn;
	uint64_t off = pick_insn(t, &insn, is_jcc);

	if (off)
		t->gen[off + insn.field - 1] ^= (uint8_t)(1 + below(t, 15));
	return off != 0;
}

static bool damage_table(struct target *t)
{
	if (t->map.ntable == 0)
		return false;
	const struct blockmap_table *m = &t->map.table[below(t, t->map.ntable)];
	uint64_t size = blockmap_entry_size(m->kind);

	flip(t, offset_of(t, m->new_addr) + below(t, size * m->nentry));
	return true;
}

/* The displacement by which an image reads a new table from the address of the old one:
 * changed by a few entries, to that of another table, or anyhow. */
static bool damage_displacement(struct target *t)
{
	enum { LONGEST = 8 };
	const struct blockmap_table *m = t->map.table, *other;
	int32_t shift, to;

	for (int tries = 0; tries < 1000 && t->map.ntable; tries++) {
		const struct blockmap_block *b = &t->map.block[below(t, t->map.nblock)];
		uint64_t end = offset_of(t, t->map.gen_base + b->gen) + b->gen_size;

		m = &t->map.table[below(t, t->map.ntable)];
		shift = (int32_t)(m->new_addr - m->orig_addr);
		if (m->kind != BLOCKMAP_TABLE_BESIDE32 || b->gen_size > LONGEST ||
		    b->gen_size < sizeof(shift) ||
		    memcmp(t->gen + end - sizeof(shift), &shift, sizeof(shift)) != 0)
			continue;
		other = &t->map.table[below(t, t->map.ntable)];
		to = below(t, 2) ? shift + 4 * (1 + (int32_t)below(t, 4)) :
				   (int32_t)(other->new_addr - m->orig_addr);
		memcpy(t->gen + end - sizeof(to), &to, sizeof(to));
		if (below(t, 3) == 0)
			flip(t, end - 1 - below(t, sizeof(to)));
		return true;
	}
	return false;
}

static bool damage_unwind(struct target *t)
{
	flip(t, t->frame->sh_offset + below(t, t->frame->sh_size));
	return true;
}

/* The program of a piece of new text that has rules for other than general registers. */
static bool damage_other_rules(struct target *t)
{
	for (int tries = 0; tries < 10000; tries++) {
		const struct fde *fde = &t->cfi.fde[below(t, t->cfi.nfde)];
		bool other = false;

		for (uint32_t i = fde->row; i < fde->row + fde->nrow; i++)
			other |= t->cfi.state[t->cfi.rows[i].state].nother > 0;
		if (!other || fde->addr < t->map.gen_base)
			continue;
		flip(t, t->frame->sh_offset + fde->off + fde->insn_off +
			below(t, fde->size - fde->insn_off));
		return true;
	}
	return false;
}

static bool damage_exceptions(struct target *t)
{
	uint64_t from, to;

	for (int tries = 0; tries < 10000; tries++) {
		if (!exception_bytes(t, (uint32_t)below(t, t->cfi.nfde), &from, &to))
			continue;
		flip(t, from + below(t, to - from));
		return true;
	}
	return false;
}

static bool damage_section(struct target *t, const char *name)
{
	const struct section *s = image_section(&t->img, name);

	if (!s || s->h.sh_size == 0)
		return false;
	flip(t, s->h.sh_offset + below(t, s->h.sh_size));
	return true;
}

static bool is_entry(const struct target *t, uint32_t orig)
{
	for (uint32_t i = 0; i < t->map.nentry; i++)
		if (t->map.entry[i] == orig)
			return true;
	return false;
}

/* An address that is kept as data leads to an image, but not to that of a function. */
static bool damage_pointer(struct target *t)
{
	const struct section *s = image_section(&t->img, ".rela.dyn");
	const struct blockmap_block *b;

	do
		b = &t->map.block[below(t, t->map.nblock)];
	while (is_entry(t, b->orig) || is_entry(t, b->orig + 4));
	new_vaddr to = t->map.gen_base + b->gen;
	if (!s || s->h.sh_size < sizeof(Elf64_Rela))
		return false;
	memcpy(t->gen + s->h.sh_offset + below(t, s->h.sh_size / sizeof(Elf64_Rela)) *
	       sizeof(Elf64_Rela) + offsetof(Elf64_Rela, r_addend), &to, sizeof(to));
	return true;
}

/* A pointer leads to the image that another should lead to. */
static bool damage_redirected(struct target *t)
{
	const struct section *s = image_section(&t->img, ".rela.dyn");
	uint64_t n = s ? s->h.sh_size / sizeof(Elf64_Rela) : 0;
	uint8_t *at[2];
	int found = 0;

	for (uint64_t tries = 0; n && tries < 8 * n && found < 2; tries++) {
		uint8_t *p = t->gen + s->h.sh_offset + below(t, n) * sizeof(Elf64_Rela) +
			     offsetof(Elf64_Rela, r_addend);
		new_vaddr to;

		memcpy(&to, p, sizeof(to));
		if (blockmap_find_gen(&t->map, to))
			at[found++] = p;
	}
	if (found < 2)
		return false;
	memcpy(at[0], at[1], sizeof(new_vaddr));
	return true;
}

static bool damage_relocation(struct target *t) { return damage_section(t, ".rela.dyn"); }
static bool damage_symbol(struct target *t) { return damage_section(t, ".dynsym"); }
static bool damage_hash(struct target *t) { return damage_section(t, ".gnu.hash"); }
static bool damage_build_id(struct target *t)
{
	return damage_section(t, ".note.gnu.build-id");
}

static bool damage_probe(struct target *t) { return damage_section(t, ".note.stapsdt"); }

static bool damage_missing_probe(struct target *t)
{
	if (!t->notes)
		return false;
	uint64_t size = t->notes->sh_size - 4 - below(t, t->notes->sh_size - 4);

	memcpy(t->gen + t->notes_header + offsetof(Elf64_Shdr, sh_size), &size, sizeof(size));
	return true;
}

static bool damage_search_table(struct target *t)
{
	flip(t, t->hdr->sh_offset + below(t, t->hdr->sh_size));
	return true;
}

static bool damage_map(struct target *t)
{
	flip(t, t->map_section->sh_offset + below(t, t->map_section->sh_size));
	return true;
}

static bool damage_original(struct target *t)
{
	const Elf64_Phdr *p;

	do
		p = &t->img.ph[below(t, t->img.nph)];
	while (p->p_type != PT_LOAD || p->p_vaddr >= t->map.gen_base || p->p_filesz == 0);
	flip(t, p->p_offset + below(t, p->p_filesz));
	return true;
}

static bool damage_entry(struct target *t)
{
	if (t->map.nentry == 0)
		return false;
	flip(t, offset_of(t, t->map.orig_base + t->map.entry[below(t, t->map.nentry)]) +
		below(t, 5));
	return true;
}

static bool damage_program_header(struct target *t)
{
	flip(t, t->img.eh.e_phoff + below(t, t->img.nph * sizeof(Elf64_Phdr)));
	return true;
}

/* A field is what it is in another header, or larger or smaller by a power of two. */
static bool damage_program_header_field(struct target *t)
{
	static const struct {
		uint8_t off, size;
	} field[] = {
		{ offsetof(Elf64_Phdr, p_type), 4 }, { offsetof(Elf64_Phdr, p_flags), 4 },
		{ offsetof(Elf64_Phdr, p_offset), 8 }, { offsetof(Elf64_Phdr, p_vaddr), 8 },
		{ offsetof(Elf64_Phdr, p_paddr), 8 }, { offsetof(Elf64_Phdr, p_filesz), 8 },
		{ offsetof(Elf64_Phdr, p_memsz), 8 }, { offsetof(Elf64_Phdr, p_align), 8 },
	};
	uint64_t i = below(t, sizeof(field) / sizeof(field[0])), n = t->img.nph;
	uint8_t *table = t->gen + t->img.eh.e_phoff + field[i].off;
	uint8_t *at = table + below(t, n) * sizeof(Elf64_Phdr);
	uint64_t value = 0, by = (uint64_t)1 << below(t, 8 * field[i].size);

	memcpy(&value, at, field[i].size);
	value += below(t, 2) ? by : 0 - by;
	memcpy(at, below(t, 2) ? (uint8_t *)&value : table + below(t, n) * sizeof(Elf64_Phdr),
	       field[i].size);
	return true;
}

static bool damage_section_header(struct target *t)
{
	flip(t, t->img.eh.e_shoff + below(t, t->img.nsh * sizeof(Elf64_Shdr)));
	return true;
}

static bool damage_name(struct target *t) { return damage_section(t, ".strtab"); }
static bool damage_symtab(struct target *t) { return damage_section(t, ".symtab"); }

static bool damage_header(struct target *t)
{
	flip(t, below(t, sizeof(Elf64_Ehdr)));
	return true;
}

static bool damage_anything(struct target *t)
{
	flip(t, below(t, t->pristine.n));
	return true;
}

static bool damage_padding(struct target *t)
{
	uint32_t i = (uint32_t)below(t, t->map.nblock), n = 0;

	for (; n < t->map.nblock; n++, i = (i + 1) % t->map.nblock) {
		const struct blockmap_block *b = &t->map.block[i];
		uint32_t end = b->gen + b->gen_size;

		if (i + 1 < t->map.nblock && b[1].gen > end) {
			t->gen[offset_of(t, t->map.gen_base + end)] = (uint8_t)below(t, 256);
			return true;
		}
	}
	return false;
}

static const struct kind kinds[] = {
	{ "opcode byte", damage_opcode },
	{ "operand byte", damage_operand },
	{ "branch target or address", damage_target },
	{ "way to the original", damage_way_back },
	{ "slot of a call", damage_slot },
	{ "condition code", damage_condition },
	{ "jump table entry", damage_table },
	{ "shortened jump table", damage_short_table },
	{ "displacement of a load", damage_displacement },
	{ "unwind table", damage_unwind },
	{ "rules of vectors and masks", damage_other_rules },
	{ "unwind search table", damage_search_table },
	{ "exception table", damage_exceptions },
	{ "relocation", damage_relocation },
	{ "relocated pointer", damage_pointer },
	{ "redirected pointer", damage_redirected },
	{ "dynamic symbol", damage_symbol },
	{ "hash of dynamic symbols", damage_hash },
	{ "build-id", damage_build_id },
	{ "debugger's symbol", damage_symtab },
	{ "debugger's name", damage_name },
	{ "section header", damage_section_header },
	{ "note of a probe", damage_probe },
	{ "missing note of a probe", damage_missing_probe },
	{ "block map", damage_map },
	{ "missing block", damage_missing_block },
	{ "missing entry", damage_missing_entry },
	{ "overlapping block", damage_overlap },
	{ "shortened block", damage_short_block },
	{ "swapped blocks", damage_swapped },
	{ "original byte", damage_original },
	{ "entry jump", damage_entry },
	{ "program header", damage_program_header },
	{ "field of a program header", damage_program_header_field },
	{ "ELF header", damage_header },
	{ "padding of new text", damage_padding },
	{ "any byte", damage_anything },
};

static uint64_t first_difference(const struct target *t)
{
	uint64_t i = 0;

	while (i < t->pristine.n && t->gen[i] == t->pristine.p[i])
		i++;
	return i;
}

struct tally {
	unsigned tried, refused, unharmful, bad;
};

/* Asks the Verifier about t->gen, and here why if it accepts that. */
static void judge(struct target *t, const char *name, struct tally *n)
{
	struct arena *a = arena_new();
	struct verify_stats stats;
	struct err err;
	struct bytes gen = { t->gen, t->pristine.n };
	const char *why = "";

	n->tried++;
	if (verify_generation(t->original, renewed_copy(t->original, t->pristine, gen, a), a,
			      &stats, &err) < 0)
		n->refused++;
	else if ((why = harmless(t, gen, a)))
		n->unharmful++;
	else
		n->bad++;
	if (!why || *why)
		printf("# %s: accepted with file offset %#llx changed: %s\n", name,
		       (unsigned long long)first_difference(t),
		       why ? why : "NOT SHOWN TO BE HARMLESS");
	arena_free(a);
}

static unsigned tell(const char *name, const struct tally *n)
{
	printf("# %-26s %4u tried, %4u refused, %2u harmless, %2u wrongly accepted\n", name,
	       n->tried, n->refused, n->unharmful, n->bad);
	return n->bad;
}

/* Tries one kind `n` times.  Returns how many got through without being shown harmless. */
static unsigned try_kind(struct target *t, const struct kind *k, unsigned n)
{
	struct tally all = { 0 };

	for (unsigned i = 0; i < n; i++) {
		memcpy(t->gen, t->pristine.p, t->pristine.n);
		if (k->damage(t) && memcmp(t->gen, t->pristine.p, t->pristine.n) != 0)
			judge(t, k->name, &all);
	}
	return tell(k->name, &all);
}

/* One bit of every byte there. */
static unsigned try_bytes(struct target *t, const char *name, uint64_t off, uint64_t n)
{
	struct tally all = { 0 };

	memcpy(t->gen, t->pristine.p, t->pristine.n);
	for (uint64_t end = off + n; off < end; off++) {
		flip(t, off);
		judge(t, name, &all);
		t->gen[off] = t->pristine.p[off];
	}
	return tell(name, &all);
}

static unsigned try_everything(struct target *t)
{
	static const char *const name[] = {
		".morph.text", ".morph.fluff", ".morph.rodata", ".eh_frame_hdr", ".eh_frame",
		".morph.map", ".dynamic", ".interp", ".gnu.hash",
	};
	const Elf64_Phdr *first = image_phdr(&t->img, PT_LOAD);
	unsigned bad = try_bytes(t, "first segment", first->p_offset, first->p_filesz);

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		const struct section *s = image_section(&t->img, name[i]);

		if (s)
			bad += try_bytes(t, name[i], s->h.sh_offset, s->h.sh_size);
	}
	return bad;
}

static const Elf64_Shdr *section(const struct target *t, const char *name)
{
	const struct section *s = image_section(&t->img, name);

	if (!s) {
		fprintf(stderr, "mutate: no section %s\n", name);
		exit(1);
	}
	return &s->h;
}

/* Its file offset. */
static uint64_t header_of(const struct target *t, const Elf64_Shdr *h)
{
	for (uint32_t i = 0; i < t->img.nsh; i++)
		if (&t->img.sh[i].h == h)
			return t->img.eh.e_shoff + i * sizeof(Elf64_Shdr);
	return 0;
}

static int open_target(struct target *t, char **argv, struct arena *a, struct err *err)
{
	struct verify_stats stats;
	int o = io_open_read(argv[1], err), g = o < 0 ? -1 : io_open_read(argv[2], err);

	if (o < 0 || g < 0 || io_read_all(o, SIZE_MAX / 4, a, &t->original, err) < 0 ||
	    io_read_all(g, SIZE_MAX / 4, a, &t->pristine, err) < 0 ||
	    verify_generation(t->original, t->pristine, a, &stats, err) < 0 ||
	    image_parse(t->pristine, a, &t->img, err) < 0 ||
	    cfi_parse(&t->img, a, &t->cfi, err) < 0)
		return -1;
	t->map_section = section(t, ".morph.map");
	t->frame = section(t, ".eh_frame");
	t->hdr = section(t, ".eh_frame_hdr");
	const struct section *notes = image_section(&t->img, ".note.stapsdt");
	t->notes = notes ? &notes->h : NULL;
	t->map_section_header = header_of(t, t->map_section);
	t->notes_header = header_of(t, t->notes);
	t->gen = arena_alloc(a, t->pristine.n);
	return blockmap_read(bytes_at(t->pristine, t->map_section->sh_offset,
				      t->map_section->sh_size), &t->map, err);
}

int main(int argc, char **argv)
{
	struct target t = { 0 };
	struct arena *a = arena_new();
	struct err err;
	unsigned bad = 0, n;

	if (argc != 5) {
		fprintf(stderr, "usage: mutate ORIGINAL GENERATION PER-KIND SEED\n");
		return 2;
	}
	if (open_target(&t, argv, a, &err) < 0) {
		fprintf(stderr, "mutate: %s\n", err.text);
		return 1;
	}
	n = (unsigned)strtoul(argv[3], NULL, 10);
	t.seed = strtoull(argv[4], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
	printf("# %s, seed %s\n", argv[1], argv[4]);
	if (strcmp(argv[3], "every") == 0)
		bad = try_everything(&t);
	for (size_t i = 0; n && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		bad += try_kind(&t, &kinds[i], n);
	blockmap_free(&t.map);
	arena_free(a);
	return bad != 0;
}
