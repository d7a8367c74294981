/* elfout_symbols.c - symbols for new text, where the original has a symbol table
 *
 * Debuggers and profilers take .symtab for what there is.  So the generation of a file with a
 * .symtab gets a longer copy of it at the end of the file:
 *
 *   NAME       a function's own symbols lead to the image of its entry, where all that calls
 *              it arrives: a breakpoint or a probe set by name meets every call;
 *   NAME.cold  a local one for each other part and for what the own symbols led to, as
 *              compilers name the parts of a function that they split.
 *
 * All other symbols keep their values, except those in sections that gave way to program
 * headers.
 *
 * Local symbols come first in a symbol table, so the indices of global ones grow.  A table
 * whose symbols others refer to by index (relocations kept by the linker, section groups) stays
 * as it is.
 *
 * Tested by tests/programs/images.sh: gdb names the frames of new text by these symbols, and
 * strip, objcopy and eu-strip rewrite files with them.
 */
#include "editor/emit/elfout.h"

#include "lib/search.h"

static bool uses_numbers(const struct image *img, const Elf64_Shdr *h)
{
	struct rd r = rd_of(bytes_at(img->file, h->sh_offset, h->sh_size));

	if (h->sh_type == SHT_REL || h->sh_type == SHT_GROUP || h->sh_type == SHT_SYMTAB_SHNDX)
		return true;
	while (h->sh_type == SHT_RELA && rd_left(&r) >= sizeof(Elf64_Rela)) {
		(void)rd_u64(&r);		/* place */
		if (ELF64_R_SYM(rd_u64(&r)))
			return true;
		(void)rd_u64(&r);		/* addend */
	}
	return false;
}

/* Index of the symbol table that can be replaced, 0 if none. */
static uint32_t find_table(const struct image *img)
{
	uint32_t index = 0;

	for (uint32_t i = 1; i < img->nsh && !index; i++)
		if (img->sh[i].h.sh_type == SHT_SYMTAB && !(img->sh[i].h.sh_flags & SHF_ALLOC))
			index = i;
	const Elf64_Shdr *h = index ? &img->sh[index].h : NULL;
	if (!h || h->sh_entsize != sizeof(Elf64_Sym) || h->sh_size % sizeof(Elf64_Sym) ||
	    h->sh_link >= img->nsh || h->sh_link == img->eh.e_shstrndx ||
	    h->sh_info > h->sh_size / sizeof(Elf64_Sym) ||
	    img->sh[h->sh_link].h.sh_type != SHT_STRTAB ||
	    (img->sh[h->sh_link].h.sh_flags & SHF_ALLOC) ||
	    img->sh[h->sh_link].h.sh_size > UINT32_MAX / 2)
		return 0;
	for (uint32_t i = 1; i < img->nsh; i++)
		if (img->sh[i].h.sh_link == index && uses_numbers(img, &img->sh[i].h))
			return 0;
	return index;
}

bool elfout_has_symbols(const struct elfout *eo)
{
	return find_table(eo->img) != 0;
}

struct symbols {
	const struct elfout *eo;
	const struct elfout_parts *parts;
	const Elf64_Phdr *ro;
	const Elf64_Shdr *h;		/* of the original's table */
	struct wr strings;
	struct wr *out;
};

/* The moved function that the symbol is of; NULL if none. */
static struct elfout_moved *moved_of(const struct symbols *y, const Elf64_Sym *s)
{
	struct elfout_moved *m = y->parts->moved;
	uint32_t n = y->parts->nmoved;

	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
	    s->st_shndx >= y->eo->img->nsh)
		return NULL;
	uint32_t i = search_first(k, 0, n, m[k].from < s->st_value);
	return i < n && m[i].from == s->st_value ? &m[i] : NULL;
}

static Elf64_Sym symbol_at(const struct symbols *y, uint64_t i)
{
	Elf64_Sym s;

	memcpy(&s, y->eo->img->file.p + y->h->sh_offset + i * sizeof(s), sizeof(s));
	return s;
}

static void mark_named(const struct symbols *y)
{
	for (uint64_t i = 0; i < y->h->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s = symbol_at(y, i);
		struct elfout_moved *m = moved_of(y, &s);

		if (m)
			m->named = true;
	}
}

/* Symbols [from, to) of the original. */
static void copy_symbols(const struct symbols *y, uint64_t from, uint64_t to)
{
	const struct elfout *eo = y->eo;

	for (uint64_t i = from; i < to; i++) {
		Elf64_Sym s = symbol_at(y, i);
		const struct elfout_moved *m = moved_of(y, &s);

		if (m) {
			s.st_value = m->to;
			s.st_size = m->size;
			s.st_shndx = elfout_text_section(eo, y->parts->hot_size, m->hot);
		} else if (s.st_shndx != SHN_UNDEF && s.st_shndx < eo->img->nsh) {
			vaddr was = eo->img->sh[s.st_shndx].h.sh_addr;

			if (s.st_value - was <= eo->img->sh[s.st_shndx].h.sh_size)
				s.st_value +=
					elfout_old_section(eo, y->ro, s.st_shndx).sh_addr - was;
		}
		wr_raw(y->out, &s, sizeof(s));
	}
}

static void add_symbol(struct symbols *y, const char *name, const char *end, Elf64_Sym s)
{
	s.st_name = (uint32_t)y->strings.n;
	s.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	wr_text(&y->strings, name);
	wr_str(&y->strings, end);
	wr_raw(y->out, &s, sizeof(s));
}

static uint16_t section_of(const struct image *img, vaddr addr)
{
	const struct section *s = image_section_at(img, addr);

	return s ? (uint16_t)(s - img->sh) : 0;
}

/* Ascending by address: the originals, then new text. */
static void add_symbols(struct symbols *y)
{
	const struct elfout_parts *parts = y->parts;

	for (uint32_t i = 0; i < parts->nmoved; i++) {
		const struct elfout_moved *m = &parts->moved[i];
		uint16_t section = section_of(y->eo->img, m->from);

		if (m->named && m->name && section)
			add_symbol(y, m->name, ".cold",
				   (Elf64_Sym){ .st_value = m->from, .st_size = m->old_size,
						.st_shndx = section });
	}
	for (uint32_t i = 0; i < parts->nsymbol; i++) {
		const struct elfout_symbol *from = &parts->symbol[i];

		if (from->begins == ELFOUT_INNER || !parts->moved[from->begins].named)
			add_symbol(y, from->name, from->hot ? "" : ".cold",
				   (Elf64_Sym){ .st_value = from->addr, .st_size = from->size,
						.st_shndx = elfout_text_section(
							y->eo, parts->hot_size, from->hot) });
	}
}

void elfout_add_symbols(const struct elfout *eo, const struct elfout_parts *parts,
			const Elf64_Phdr *ro, Elf64_Shdr *header, struct wr *out)
{
	const struct image *img = eo->img;
	uint32_t index = find_table(img);

	if (index == 0 || parts->nsymbol == 0)
		return;
	const Elf64_Shdr *h = &img->sh[index].h, *names = &img->sh[h->sh_link].h;
	struct symbols y = { .eo = eo, .parts = parts, .ro = ro, .h = h, .out = out };

	wr_raw(&y.strings, img->file.p + names->sh_offset, names->sh_size);
	wr_align(out, 8);
	header[index].sh_offset = out->n;
	mark_named(&y);
	copy_symbols(&y, 0, h->sh_info);
	add_symbols(&y);
	header[index].sh_info =
		(uint32_t)((out->n - header[index].sh_offset) / sizeof(Elf64_Sym));
	copy_symbols(&y, h->sh_info, h->sh_size / sizeof(Elf64_Sym));
	header[index].sh_size = out->n - header[index].sh_offset;
	header[h->sh_link].sh_offset = out->n;
	header[h->sh_link].sh_size = y.strings.n;
	wr_raw(out, y.strings.p, y.strings.n);
	wr_free(&y.strings);
}
