/* elfout_dynsyms.c - dynamic symbols that name moved parts of exported functions
 *
 * WHY      dladdr() and backtrace_symbols() know the program's .dynsym only.  So do profilers
 *          and debuggers where .symtab was stripped.  A symbol that leads to the image of its
 *          function (emit_redirect.c) names the part that it begins.  Each other part gets a
 *          symbol here, with the function's own name.
 *
 * LOOKUPS  must find what they found.  The new symbols stand behind the original's, whose
 *          indices relocations have.  No lookup by name accepts one:
 *            .hash      no chain leads to it; the number of symbols grows, for who walks over
 *                       all of them (musl's dladdr(), glibc's if this is the only table);
 *            .gnu.hash  glibc's dladdr() walks over the chains.  So the last chain goes on
 *                       with the new symbols, but with a hash that is not that of their name:
 *                       who looks for the name looks for another hash, and who looks for that
 *                       hash has another name.
 *          Their versions are hidden ones, which are for those only who ask for the version.
 *          In a file that defines no versions they are their functions': GNU ld refuses a
 *          library with a hidden version that it does not define.
 *
 * BINDING  is that of the function's symbol: local symbols must not follow global ones
 *          (linkers refuse such a library), and musl's dladdr() passes them by.  Debuggers that
 *          are to stop at NAME also stop where it goes on in another part.
 *
 * The four tables move to the new read-only segment, where they are longer.  All other symbols
 * and the names stay what they were.  A file whose tables are not as linkers make them gets no
 * symbols.
 *
 * Tested by tests/programs/names.sh and tests/unit/verify/test_dynsyms.c.
 */
#include "editor/emit/elfout.h"

enum { VERSION_HIDDEN = 0x8000, GNU_HEADER = 4 * sizeof(uint32_t), LAST_IN_CHAIN = 1 };

static struct bytes content(const struct image *img, uint32_t section)
{
	const Elf64_Shdr *h = &img->sh[section].h;

	return bytes_at(img->file, h->sh_offset, h->sh_size);
}

/* Sets *section to the one that the dynamic entry leads to, 0 if there is no such entry; false
 * if it cannot move. */
static bool find(const struct image *img, int64_t tag, uint32_t type, uint32_t *section)
{
	uint64_t at;

	*section = 0;
	if (!image_dynamic(img, tag, &at))
		return true;
	for (uint32_t i = 1; i < img->nsh; i++)
		if (img->sh[i].h.sh_type == type && img->sh[i].h.sh_addr == at &&
		    elfout_can_move(img, i)) {
			*section = i;
			return true;
		}
	return false;
}

/* The last chain ends with the last symbol, and with the section. */
static bool can_grow_gnu(const struct image *img, const struct elfout_dynsyms *d)
{
	struct bytes b = content(img, d->gnu);
	struct rd r = rd_of(b);
	uint64_t nbucket = rd_u32(&r), first = rd_u32(&r), nword = rd_u32(&r);

	return !r.bad && d->n > first && nbucket > 0 &&
	       b.n == GNU_HEADER + nword * sizeof(uint64_t) +
			      (nbucket + (d->n - first)) * sizeof(uint32_t) &&
	       (b.p[b.n - sizeof(uint32_t)] & LAST_IN_CHAIN);
}

static bool can_grow_sysv(const struct image *img, const struct elfout_dynsyms *d)
{
	struct bytes b = content(img, d->sysv);
	struct rd r = rd_of(b);
	uint64_t nbucket = rd_u32(&r), nchain = rd_u32(&r);

	return !r.bad && nchain == d->n && b.n == (2 + nbucket + nchain) * sizeof(uint32_t);
}

void elfout_find_dynsyms(const struct image *img, struct elfout_dynsyms *out)
{
	struct elfout_dynsyms d = { 0 };

	*out = d;
	if (!find(img, DT_SYMTAB, SHT_DYNSYM, &d.symbols) ||
	    !find(img, DT_VERSYM, SHT_GNU_versym, &d.versions) ||
	    !find(img, DT_GNU_HASH, SHT_GNU_HASH, &d.gnu) ||
	    !find(img, DT_HASH, SHT_HASH, &d.sysv) || !d.symbols || !(d.gnu || d.sysv))
		return;
	d.n = content(img, d.symbols).n / sizeof(Elf64_Sym);
	uint32_t names = img->sh[d.symbols].h.sh_link;
	if (d.n == 0 || names >= img->nsh || img->sh[names].h.sh_type != SHT_STRTAB ||
	    content(img, d.symbols).n % sizeof(Elf64_Sym) ||
	    (d.versions && content(img, d.versions).n != d.n * sizeof(uint16_t)) ||
	    (d.gnu && !can_grow_gnu(img, &d)) || (d.sysv && !can_grow_sysv(img, &d)))
		return;
	*out = d;
}

static void grow(struct elfout *eo, uint32_t section, uint64_t more)
{
	uint32_t i = 0;

	if (!section)
		return;
	while (i < eo->nfar && eo->far[i].section != section)
		i++;
	if (i == eo->nfar)
		eo->far[eo->nfar++] = (struct elfout_far){ .section = section };
	eo->far[i].more = more;
}

uint32_t elfout_make_dynsym_room(struct elfout *eo, uint32_t nsymbol)
{
	enum { NTABLE = 4 };

	elfout_find_dynsyms(eo->img, &eo->dynsyms);
	if (nsymbol == 0 || !eo->dynsyms.n || eo->layout != 'F' ||
	    eo->nfar + NTABLE > ELFOUT_MAX_FAR) {
		eo->dynsyms = (struct elfout_dynsyms){ 0 };
		return 0;
	}
	grow(eo, eo->dynsyms.symbols, nsymbol * sizeof(Elf64_Sym));
	grow(eo, eo->dynsyms.versions, nsymbol * sizeof(uint16_t));
	grow(eo, eo->dynsyms.gnu, nsymbol * sizeof(uint32_t));
	grow(eo, eo->dynsyms.sysv, nsymbol * sizeof(uint32_t));
	eo->far_size = 0;
	for (uint32_t i = 0; i < eo->nfar; i++) {
		const Elf64_Shdr *h = &eo->img->sh[eo->far[i].section].h;
		uint64_t align = h->sh_addralign > 1 ? h->sh_addralign : 1;

		eo->far[i].off = (eo->far_size + align - 1) & ~(align - 1);
		eo->far_size = eo->far[i].off + h->sh_size + eo->far[i].more;
	}
	return nsymbol;
}

/* Where the section that has moved is in `out`. */
static uint8_t *now(const struct elfout *eo, const Elf64_Phdr *ro, uint32_t section,
		    struct wr *out)
{
	return out->p + elfout_old_section(eo, ro, section).sh_offset;
}

static void put_u32(uint8_t *table, uint64_t index, uint32_t value)
{
	memcpy(table + index * sizeof(value), &value, sizeof(value));
}

static Elf64_Sym make_symbol(const struct elfout *eo, const struct elfout_parts *parts,
			     const struct elfout_dynsym *from)
{
	Elf64_Sym s;

	memcpy(&s, content(eo->img, eo->dynsyms.symbols).p + from->like * sizeof(s), sizeof(s));
	s.st_value = from->addr;
	s.st_size = from->size;
	if (from->image)
		s.st_shndx = elfout_text_section(eo, parts->hot_size, from->hot);
	return s;
}

void elfout_add_dynsyms(const struct elfout *eo, const struct elfout_parts *parts,
			const Elf64_Phdr *ro, struct wr *out)
{
	const struct elfout_dynsyms *d = &eo->dynsyms;
	uint32_t n = parts->ndynsym;

	if (!d->n)
		return;
	uint8_t *symbols = now(eo, ro, d->symbols, out) + d->n * sizeof(Elf64_Sym);
	for (uint32_t i = 0; i < n; i++) {
		Elf64_Sym s = make_symbol(eo, parts, &parts->dynsym[i]);

		memcpy(symbols + i * sizeof(s), &s, sizeof(s));
	}
	if (d->versions) {
		uint8_t *version = now(eo, ro, d->versions, out);
		uint64_t at;
		uint16_t hidden = image_dynamic(eo->img, DT_VERDEF, &at) ? VERSION_HIDDEN : 0;

		for (uint32_t i = 0; i < n; i++) {
			uint16_t v;

			memcpy(&v, version + parts->dynsym[i].like * sizeof(v), sizeof(v));
			v |= hidden;
			memcpy(version + (d->n + i) * sizeof(v), &v, sizeof(v));
		}
	}
	if (d->gnu) {
		uint8_t *words = now(eo, ro, d->gnu, out) + content(eo->img, d->gnu).n;

		words[-(int)sizeof(uint32_t)] &= (uint8_t)~LAST_IN_CHAIN;
		for (uint32_t i = 0; i < n; i++)
			put_u32(words, i, ELFOUT_NO_HASH | (i + 1 == n ? LAST_IN_CHAIN : 0));
	}
	if (d->sysv)		/* the new chain words are 0: the end of a chain */
		put_u32(now(eo, ro, d->sysv, out), 1, (uint32_t)d->n + n);
}
