/* kinds_tables.h - damage of headers and tables, for foreign.c: a row is a kind
 *
 * Each function returns false when the generation has no such table.
 */
#ifndef TESTS_VERIFY_KINDS_TABLES_H
#define TESTS_VERIFY_KINDS_TABLES_H

#include "tests/verify/foreign.h"

struct table { /* records of one size, in the file */
	uint64_t off, n;
	uint32_t size;
};

static bool table_of(const struct foreign *t, const char *name, struct table *out)
{
	const Elf64_Shdr *s;

	if (strcmp(name, "ELF header") == 0)
		*out = (struct table){ 0, 1, sizeof(Elf64_Ehdr) };
	else if (strcmp(name, "program header") == 0)
		*out = (struct table){ header(t)->e_phoff, header(t)->e_phnum,
				       sizeof(Elf64_Phdr) };
	else if (strcmp(name, "section header") == 0)
		*out = (struct table){ header(t)->e_shoff, header(t)->e_shnum,
				       sizeof(Elf64_Shdr) };
	else if (!(s = section(t, name)) || s->sh_size == 0)
		return false;
	else if (strcmp(name, ".eh_frame_hdr") == 0)
		*out = (struct table){ s->sh_offset + 12, (s->sh_size - 12) / 8, 8 };
	else
		*out = (struct table){ s->sh_offset, s->sh_size, 1 };
	if (out->size == 1 && s->sh_entsize > 1)
		*out = (struct table){ s->sh_offset, s->sh_size / s->sh_entsize,
				       (uint32_t)s->sh_entsize };
	return out->n > 0;
}

/* A little more or less, nothing, one bit, or what another record has there. */
static void change_field(struct foreign *t, const struct table *of, uint32_t field,
			 uint32_t size)
{
	static const int64_t step[] = { 1, -1, 2, 4, -4, 5, 8, -8, 16, 24, 64, 4096, -4096 };
	uint8_t *at = t->gen + of->off + below(t, of->n) * of->size + field;
	uint64_t value = 0;

	memcpy(&value, at, size);
	switch (below(t, 4)) {
	case 0:
		value += (uint64_t)step[below(t, sizeof(step) / sizeof(step[0]))];
		break;
	case 1:
		value = below(t, 4) ? 0 : below(t, 64);
		break;
	case 2:
		value ^= (uint64_t)1 << below(t, 8 * size);
		break;
	default:
		memcpy(&value, t->gen + of->off + below(t, of->n) * of->size + field, size);
	}
	memcpy(at, &value, size);
}

struct field_kind {
	const char *table, *name;
	uint32_t at, size;
};

#define FIELD(table, type, member)                                                             \
	{ table, #member, offsetof(type, member), sizeof(((type *)0)->member) }

static const struct field_kind fields[] = {
	{ "ELF header", "e_ident", 0, 8 },
	{ "ELF header", "e_ident's end", 8, 8 },
	FIELD("ELF header", Elf64_Ehdr, e_type),
	FIELD("ELF header", Elf64_Ehdr, e_machine),
	FIELD("ELF header", Elf64_Ehdr, e_version),
	FIELD("ELF header", Elf64_Ehdr, e_entry),
	FIELD("ELF header", Elf64_Ehdr, e_phoff),
	FIELD("ELF header", Elf64_Ehdr, e_shoff),
	FIELD("ELF header", Elf64_Ehdr, e_flags),
	FIELD("ELF header", Elf64_Ehdr, e_ehsize),
	FIELD("ELF header", Elf64_Ehdr, e_phentsize),
	FIELD("ELF header", Elf64_Ehdr, e_phnum),
	FIELD("ELF header", Elf64_Ehdr, e_shentsize),
	FIELD("ELF header", Elf64_Ehdr, e_shnum),
	FIELD("ELF header", Elf64_Ehdr, e_shstrndx),
	FIELD("program header", Elf64_Phdr, p_type),
	FIELD("program header", Elf64_Phdr, p_flags),
	FIELD("program header", Elf64_Phdr, p_offset),
	FIELD("program header", Elf64_Phdr, p_vaddr),
	FIELD("program header", Elf64_Phdr, p_paddr),
	FIELD("program header", Elf64_Phdr, p_filesz),
	FIELD("program header", Elf64_Phdr, p_memsz),
	FIELD("program header", Elf64_Phdr, p_align),
	FIELD("section header", Elf64_Shdr, sh_name),
	FIELD("section header", Elf64_Shdr, sh_type),
	FIELD("section header", Elf64_Shdr, sh_flags),
	FIELD("section header", Elf64_Shdr, sh_addr),
	FIELD("section header", Elf64_Shdr, sh_offset),
	FIELD("section header", Elf64_Shdr, sh_size),
	FIELD("section header", Elf64_Shdr, sh_link),
	FIELD("section header", Elf64_Shdr, sh_info),
	FIELD("section header", Elf64_Shdr, sh_addralign),
	FIELD("section header", Elf64_Shdr, sh_entsize),
	FIELD(".dynamic", Elf64_Dyn, d_tag),
	FIELD(".dynamic", Elf64_Dyn, d_un),
	FIELD(".rela.dyn", Elf64_Rela, r_offset),
	FIELD(".rela.dyn", Elf64_Rela, r_info),
	FIELD(".rela.dyn", Elf64_Rela, r_addend),
	FIELD(".rela.plt", Elf64_Rela, r_offset),
	FIELD(".rela.plt", Elf64_Rela, r_info),
	FIELD(".rela.plt", Elf64_Rela, r_addend),
	FIELD(".dynsym", Elf64_Sym, st_name),
	FIELD(".dynsym", Elf64_Sym, st_info),
	FIELD(".dynsym", Elf64_Sym, st_other),
	FIELD(".dynsym", Elf64_Sym, st_shndx),
	FIELD(".dynsym", Elf64_Sym, st_value),
	FIELD(".dynsym", Elf64_Sym, st_size),
	{ ".gnu.version", "version", 0, 2 },
	{ ".eh_frame_hdr", "address", 0, 4 },
	{ ".eh_frame_hdr", "FDE", 4, 4 },
	{ ".gnu.hash", "byte", 0, 1 },
	{ ".gnu.version_r", "byte", 0, 1 },
	{ ".dynstr", "byte", 0, 1 },
	{ ".interp", "byte", 0, 1 },
	{ ".note.gnu.build-id", "byte", 0, 1 },
	{ ".note.gnu.property", "byte", 0, 1 },
	{ ".init_array", "pointer", 0, 8 },
	{ ".fini_array", "pointer", 0, 8 },
	{ ".data.rel.ro", "pointer", 0, 8 },
	{ ".got", "slot", 0, 8 },
	{ ".plt", "byte", 0, 1 },
	{ ".init", "byte", 0, 1 },
	{ ".text", "byte", 0, 1 },
	{ ".data", "byte", 0, 1 },
	{ ".rodata", "byte", 0, 1 },
	{ ".gcc_except_table", "byte", 0, 1 },
	{ ".morph.old_eh_frame", "byte", 0, 1 },
	{ ".morph.rodata", "byte", 0, 1 },
	{ ".morph.map", "byte", 0, 1 },
	{ ".symtab", "byte", 0, 1 },
	{ ".shstrtab", "byte", 0, 1 },
};

static bool damage_field(struct foreign *t, const struct field_kind *k)
{
	struct table of;

	if (!table_of(t, k->table, &of) || of.size < k->size)
		return false;
	change_field(t, &of, k->at, k->size);
	return true;
}

static const char *const tables[] = {
	"program header", "section header", ".dynamic",	     ".rela.dyn",    ".rela.plt",
	".dynsym",	  ".symtab",	    ".eh_frame_hdr", ".gnu.version", ".init_array",
};

static bool damage_order(struct foreign *t, const char *table)
{
	struct table of;
	uint8_t x[256];

	if (!table_of(t, table, &of) || of.size > sizeof(x))
		return false;
	uint8_t *a = t->gen + of.off + below(t, of.n) * of.size;
	uint8_t *b = below(t, 2) ? t->gen + of.off + below(t, of.n) * of.size
		     : a + of.size < t->gen + of.off + of.n * of.size ? a + of.size
								      : a;
	memcpy(x, a, of.size);
	memmove(a, b, of.size);
	memcpy(b, x, of.size);
	return true;
}

/* A record twice, once in the place of another. */
static bool damage_twice(struct foreign *t, const char *table)
{
	struct table of;

	if (!table_of(t, table, &of))
		return false;
	memmove(t->gen + of.off + below(t, of.n) * of.size,
		t->gen + of.off + below(t, of.n) * of.size, of.size);
	return true;
}

static bool damage_gone(struct foreign *t, const char *table)
{
	struct table of;

	if (!table_of(t, table, &of))
		return false;
	memset(t->gen + of.off + below(t, of.n) * of.size, 0, of.size);
	return true;
}

#endif
