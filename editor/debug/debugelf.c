/* debugelf.c - writes a separate debug file, of the form that `objcopy --only-keep-debug` gives
 *
 * FILE     ELF header | program headers | notes | new sections | names | section headers
 *
 * Unwind data is there as well: gdb, told to take symbols from this file, takes it from here.
 * Program headers say where segments are in memory, and that the file has nothing of them but
 * notes and unwind data.  gdb moves a section that has content with a segment of which it is a
 * part in the file, too, and leaves others at the address in the file: then it unwinds nothing.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debugelf.h"

#include <string.h>

struct writer {
	const struct image *gen;
	const struct debugelf_section *section;
	uint32_t n;
	struct wr *out, headers, names;
	uint64_t start;			/* of the file in `out` */
	bool *taken;			/* [n]: it has a header already */
	uint32_t strtab;		/* index of .strtab; 0: none */
};

static file_off offset(const struct writer *w)
{
	return w->out->n - w->start;
}

/* Appends content of the generation's file; its place in the new one. */
static file_off copy(struct writer *w, uint64_t off, uint64_t n, uint64_t align)
{
	struct bytes b = bytes_at(w->gen->file, off, n);

	wr_align(w->out, align == 8 ? 8 : 4);	/* the file begins at a multiple of 8 */
	file_off at = offset(w);
	wr_raw(w->out, b.p, b.n);
	return at;
}

static void write_phdrs(struct writer *w)
{
	size_t at = w->out->n;

	(void)wr_reserve(w->out, w->gen->nph * sizeof(Elf64_Phdr));
	for (uint32_t i = 0; i < w->gen->nph; i++) {
		Elf64_Phdr ph = w->gen->ph[i];

		if (ph.p_type == PT_NOTE) {
			ph.p_offset = copy(w, ph.p_offset, ph.p_filesz, ph.p_align);
		} else {
			if (ph.p_type == PT_PHDR || ph.p_type == PT_INTERP)
				ph.p_type = PT_NULL;	/* what they lead to is not there */
			ph.p_offset = ph.p_type == PT_LOAD && ph.p_align ?
					      ph.p_vaddr % ph.p_align : 0;
			ph.p_filesz = 0;
		}
		memcpy(w->out->p + at + i * sizeof(ph), &ph, sizeof(ph));
	}
}

/* The segment in memory that a copied section is in has it in the file, too. */
static void extend_segment(struct writer *w, const Elf64_Shdr *h)
{
	for (uint32_t i = 0; i < w->gen->nph; i++) {
		Elf64_Phdr ph;
		uint8_t *at = w->out->p + w->start + sizeof(Elf64_Ehdr) + i * sizeof(ph);

		memcpy(&ph, at, sizeof(ph));
		if (ph.p_type != PT_LOAD || h->sh_addr < ph.p_vaddr ||
		    h->sh_addr - ph.p_vaddr >= ph.p_memsz)
			continue;
		if (ph.p_filesz == 0)
			ph.p_offset = h->sh_offset;
		ph.p_filesz = h->sh_offset + h->sh_size - ph.p_offset;
		memcpy(at, &ph, sizeof(ph));
	}
}

static void add_header(struct writer *w, const char *name, Elf64_Shdr h)
{
	h.sh_name = (uint32_t)w->names.n;
	wr_str(&w->names, name);
	wr_raw(&w->headers, &h, sizeof(h));
}

static Elf64_Shdr new_header(struct writer *w, uint32_t i)
{
	const struct debugelf_section *s = &w->section[i];

	wr_align(w->out, 8);
	Elf64_Shdr h = {
		.sh_type = s->type, .sh_flags = s->flags, .sh_offset = offset(w),
		.sh_size = s->content.n, .sh_info = s->info, .sh_addralign = s->align,
		.sh_entsize = s->entsize,
		.sh_link = s->type == SHT_SYMTAB ? w->strtab : 0,
	};

	wr_raw(w->out, s->content.p, s->content.n);
	w->taken[i] = true;
	return h;
}

/* The new section of that name which has no header yet; w->n if there is none. */
static uint32_t find_new(const struct writer *w, const char *name)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!w->taken[i] && strcmp(w->section[i].name, name) == 0)
			return i;
	return w->n;
}

/* Section `i` of the generation in the debug file. */
static Elf64_Shdr old_header(struct writer *w, uint32_t i)
{
	Elf64_Shdr h = w->gen->sh[i].h;

	if (!(h.sh_flags & SHF_ALLOC))
		return (Elf64_Shdr){ 0 };	/* only its number is left */
	if (h.sh_type == SHT_NOTE ||
	    (h.sh_type != SHT_NOBITS && strcmp(w->gen->sh[i].name, ".eh_frame") == 0)) {
		h.sh_offset = copy(w, h.sh_offset, h.sh_size, h.sh_addralign);
		extend_segment(w, &h);
		return h;
	}
	h.sh_type = SHT_NOBITS;
	h.sh_offset = offset(w);
	return h;
}

static void write_sections(struct writer *w)
{
	for (uint32_t i = 0; i < w->gen->nsh; i++) {
		const struct section *s = &w->gen->sh[i];
		uint32_t now = s->h.sh_flags & SHF_ALLOC ? w->n : find_new(w, s->name);

		add_header(w, s->name, now < w->n ? new_header(w, now) : old_header(w, i));
	}
	for (uint32_t i = 0; i < w->n; i++)
		if (!w->taken[i])
			add_header(w, w->section[i].name, new_header(w, i));
}

/* The index that .strtab will have. */
static uint32_t find_strtab(const struct writer *w)
{
	uint32_t index = w->gen->nsh;

	for (uint32_t i = 0; i < w->gen->nsh; i++)
		if (strcmp(w->gen->sh[i].name, ".strtab") == 0)
			return i;
	for (uint32_t i = 0; i < w->n; i++) {
		bool follows = true;

		if (strcmp(w->section[i].name, ".strtab") == 0)
			return index;
		for (uint32_t k = 0; k < w->gen->nsh; k++)
			follows &= (w->gen->sh[k].h.sh_flags & SHF_ALLOC) ||
				   strcmp(w->gen->sh[k].name, w->section[i].name) != 0;
		index += follows;
	}
	return 0;
}

void debugelf_write(const struct image *gen, const struct debugelf_section *section,
		    uint32_t n, struct wr *out)
{
	struct writer w = { .gen = gen, .section = section, .n = n, .out = out,
			    .start = out->n };
	struct wr taken = { 0 };
	Elf64_Ehdr eh = gen->eh;

	w.taken = (bool *)wr_reserve(&taken, n + 1);
	w.strtab = find_strtab(&w);
	(void)wr_reserve(out, sizeof(eh));
	write_phdrs(&w);
	write_sections(&w);
	eh.e_shstrndx = (uint16_t)(w.headers.n / sizeof(Elf64_Shdr));
	Elf64_Shdr h = { .sh_type = SHT_STRTAB, .sh_addralign = 1, .sh_offset = offset(&w) };

	h.sh_name = (uint32_t)w.names.n;
	wr_str(&w.names, ".shstrtab");
	h.sh_size = w.names.n;
	wr_raw(out, w.names.p, w.names.n);
	wr_raw(&w.headers, &h, sizeof(h));
	wr_align(out, 8);
	eh.e_phoff = sizeof(eh);
	eh.e_phnum = (uint16_t)gen->nph;
	eh.e_phentsize = sizeof(Elf64_Phdr);
	eh.e_shoff = offset(&w);
	eh.e_shnum = (uint16_t)(w.headers.n / sizeof(h));
	eh.e_shentsize = sizeof(h);
	wr_raw(out, w.headers.p, w.headers.n);
	memcpy(out->p + w.start, &eh, sizeof(eh));
	wr_free(&w.headers);
	wr_free(&w.names);
	wr_free(&taken);
}
