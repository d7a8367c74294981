/* verify_pointers.c - no address that the original keeps as data lands inside an entry jump */
#include "editor/verify_parts.h"

static int arrive(struct verify *v, vaddr to, const char *what, uint64_t n)
{
	if (!verify_is_cut(v, to))
		return 0;
	return refuse(v, "%s %llu leads to 0x%llx, inside an entry jump", what, ULL(n), ULL(to));
}

static vaddr symbol_value(const struct verify *v, vaddr table, uint32_t index)
{
	struct rd r = rd_of(image_at(&v->orig, table + (uint64_t)index * sizeof(Elf64_Sym),
				     sizeof(Elf64_Sym)));

	(void)rd_u64(&r);		/* name, info, other, section */
	return rd_u64(&r);
}

static int check_rela(struct verify *v, vaddr addr, uint64_t size, const char *what)
{
	uint64_t symtab = 0;
	struct rd r = rd_of(image_at(&v->orig, addr, size));
	bool symbols = image_dynamic(&v->orig, DT_SYMTAB, &symtab);

	for (uint64_t i = 0; rd_left(&r) >= sizeof(Elf64_Rela); i++) {
		(void)rd_u64(&r);
		uint64_t info = rd_u64(&r);
		vaddr value = rd_u64(&r);

		if (ELF64_R_SYM(info) && symbols)
			value += symbol_value(v, symtab, (uint32_t)ELF64_R_SYM(info));
		if (arrive(v, value, what, i) < 0)
			return -1;
	}
	return 0;
}

static int check_word(struct verify *v, vaddr where)
{
	struct rd r = rd_of(image_at(&v->orig, where, 8));

	return arrive(v, rd_u64(&r), "the word in data at", where);
}

static int check_relr(struct verify *v, vaddr addr, uint64_t size)
{
	struct rd r = rd_of(image_at(&v->orig, addr, size));
	vaddr where = 0;

	while (rd_left(&r) >= 8) {
		uint64_t word = rd_u64(&r);

		if (!(word & 1)) {
			if (check_word(v, word) < 0)
				return -1;
			where = word + 8;
			continue;
		}
		for (unsigned bit = 1; bit < 64; bit++)
			if ((word >> bit & 1) && check_word(v, where + 8 * (bit - 1)) < 0)
				return -1;
		where += 63 * 8;
	}
	return 0;
}

static int check_dynamic(struct verify *v)
{
	static const struct {
		int64_t addr, size;
		const char *what;
	} table[] = {
		{ DT_RELA, DT_RELASZ, "relocation" },
		{ DT_JMPREL, DT_PLTRELSZ, "PLT relocation" },
	};
	static const int64_t code[] = { DT_INIT, DT_FINI };
	uint64_t addr, size;

	for (int i = 0; i < 2; i++) {
		if (image_dynamic(&v->orig, code[i], &addr) &&
		    arrive(v, addr, "the dynamic entry", (uint64_t)code[i]) < 0)
			return -1;
		if (image_dynamic(&v->orig, table[i].addr, &addr) &&
		    image_dynamic(&v->orig, table[i].size, &size) &&
		    check_rela(v, addr, size, table[i].what) < 0)
			return -1;
	}
	if (image_dynamic(&v->orig, DT_RELR, &addr) && image_dynamic(&v->orig, DT_RELRSZ, &size))
		return check_relr(v, addr, size);
	return 0;
}

static int check_sections(struct verify *v)
{
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->orig.sh[i].h;
		struct rd r = rd_of(bytes_at(v->orig.file, h->sh_offset, h->sh_size));

		if (h->sh_type == SHT_RELA && (h->sh_flags & SHF_ALLOC) &&
		    check_rela(v, h->sh_addr, h->sh_size, "relocation") < 0)
			return -1;
		if (h->sh_type != SHT_SYMTAB && h->sh_type != SHT_DYNSYM)
			continue;
		for (uint64_t n = 0; rd_left(&r) >= sizeof(Elf64_Sym); n++) {
			(void)rd_u64(&r);	/* name, info, other, section */
			vaddr value = rd_u64(&r);

			(void)rd_u64(&r);	/* size */
			if (arrive(v, value, "symbol", n) < 0)
				return -1;
		}
	}
	return 0;
}

/* Only programs linked to a fixed address have code addresses without relocations. */
static int check_words(struct verify *v)
{
	if (v->orig.eh.e_type != ET_EXEC)
		return 0;
	for (const Elf64_Phdr *p = v->orig.ph; p < v->orig.ph + v->orig.nph; p++) {
		if (p->p_type != PT_LOAD || (p->p_flags & PF_X))
			continue;
		vaddr at = (p->p_vaddr + 7) & ~(vaddr)7;

		for (; at + 8 <= p->p_vaddr + p->p_filesz; at += 8)
			if (check_word(v, at) < 0)
				return -1;
	}
	return 0;
}

int verify_pointers(struct verify *v)
{
	if (arrive(v, v->orig.eh.e_entry, "the program's entry point", 0) < 0 ||
	    check_dynamic(v) < 0 || check_sections(v) < 0)
		return -1;
	return check_words(v);
}
