/* elfout_symbols.c - names for what moved, where the original has names
 *
 * Debuggers and profilers that read .symtab would show new text as code without a name.  So a
 * generation of a file that has one gets a longer copy of it behind everything else: a local
 * function NAME for the hot part of a moved function, NAME.cold for each other part, as
 * compilers name what they split.  The original's symbols keep their values, but for those in
 * sections that gave way to program headers.
 *
 * Local symbols come first in a symbol table, so the numbers of global ones grow: a table that
 * others refer to by number (relocations kept by the linker, section groups) stays as it is.
 */
#include "editor/emit/elfout.h"

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

/* Symbols [from, to) of the original. */
static void copy_symbols(const struct elfout *eo, const Elf64_Phdr *ro, const Elf64_Shdr *h,
			 uint64_t from, uint64_t to, struct wr *out)
{
	const uint8_t *p = eo->img->file.p + h->sh_offset;

	for (uint64_t i = from; i < to; i++) {
		Elf64_Sym s;

		memcpy(&s, p + i * sizeof(s), sizeof(s));
		if (s.st_shndx != SHN_UNDEF && s.st_shndx < eo->img->nsh) {
			vaddr was = eo->img->sh[s.st_shndx].h.sh_addr;

			if (s.st_value - was <= eo->img->sh[s.st_shndx].h.sh_size)
				s.st_value +=
					elfout_old_section(eo, ro, s.st_shndx).sh_addr - was;
		}
		wr_raw(out, &s, sizeof(s));
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
	uint64_t n = h->sh_size / sizeof(Elf64_Sym);
	struct wr strings = { 0 };

	wr_raw(&strings, img->file.p + names->sh_offset, names->sh_size);
	wr_align(out, 8);
	header[index].sh_offset = out->n;
	copy_symbols(eo, ro, h, 0, h->sh_info, out);
	for (uint32_t i = 0; i < parts->nsymbol; i++) {
		const struct elfout_symbol *from = &parts->symbol[i];
		Elf64_Sym s = {
			.st_name = (uint32_t)strings.n, .st_value = from->addr,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_size = from->size,
			.st_shndx = elfout_text_section(eo, parts->hot_size, from->hot),
		};

		wr_raw(&strings, from->name, strlen(from->name));
		wr_str(&strings, from->hot ? "" : ".cold");
		wr_raw(out, &s, sizeof(s));
	}
	copy_symbols(eo, ro, h, h->sh_info, n, out);
	header[index].sh_size = (n + parts->nsymbol) * sizeof(Elf64_Sym);
	header[index].sh_info = h->sh_info + parts->nsymbol;
	header[h->sh_link].sh_offset = out->n;
	header[h->sh_link].sh_size = strings.n;
	wr_raw(out, strings.p, strings.n);
	wr_free(&strings);
}
