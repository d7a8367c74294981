/* symbols.c - added symbols name images by the names of their functions
 *
 * Nothing that runs reads .symtab, but wrong names in it would mislead a debugger.
 *
 *   N1  The original's symbols are all there in their order, unchanged but for the addresses
 *       of those in sections that gave way to program headers, and of functions with an entry
 *       jump: these may lead to the image, and then cover it to the end of a piece of the
 *       function.  The original's strings are all there, too.
 *   N2  Added symbols stand behind the original's local symbols, ascending by address.  Each is
 *       a local function and has the name that the original gives a function.  It covers a run
 *       of images of that in its section, and has `.cold` at its end in the fluff; or it covers
 *       the original of that, which has an entry jump, and has `.cold` at its end.  The names
 *       stand behind the original's strings, one after the other.
 *   N3  Nothing refers to symbols by number: the numbers of global symbols have grown.
 *
 * Tested by tests/unit/verify/test_sections.c.
 */
#include <stdlib.h>

#include "verify/lookup.h"

struct name {			/* that the original has for a function */
	uint32_t group;		/* of FDEs */
	const char *text;
};

struct symbols {
	struct verify *v;
	VEC(struct name) name;	/* ascending by group */
	struct bytes old, now, strings;
	uint64_t string;	/* where the next added name begins */
	new_vaddr end;		/* of the added symbol in front */
};

static struct bytes content(const struct image *img, const Elf64_Shdr *h)
{
	return bytes_at(img->file, h->sh_offset, h->sh_size);
}

static Elf64_Sym symbol_at(struct bytes table, uint64_t i)
{
	Elf64_Sym s;

	memcpy(&s, table.p + i * sizeof(s), sizeof(s));
	return s;
}

static const char *string_at(struct bytes strings, uint64_t at)
{
	struct rd r = rd_of(strings);

	(void)rd_skip(&r, at);		/* a bad offset shows in rd_str() */
	return rd_str(&r);
}

static int name_cmp(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	return (a->group > b->group) - (a->group < b->group);
}

static void collect_names(struct symbols *s, const Elf64_Shdr *h)
{
	const struct image *img = &s->v->orig;
	struct bytes table = content(img, h);

	for (uint64_t i = 0; i < table.n / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym = symbol_at(table, i);
		uint8_t type = ELF64_ST_TYPE(sym.st_info);
		uint32_t fde = vcfi_find(&s->v->ocfi, sym.st_value);

		if (sym.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    fde == NO_FDE || h->sh_link >= img->nsh)
			continue;
		const char *text = string_at(content(img, &img->sh[h->sh_link].h), sym.st_name);
		if (text)
			vec_push(s->v->a, &s->name,
				 ((struct name){ verify_group(s->v, fde), text }));
	}
}

/* NAME, or that of a fragment of it: NAME.cold, NAME.cold.N, NAME.part.N.cold */
static bool is_part(const char *text, const char *name, size_t n)
{
	if (strlen(text) < n || memcmp(text, name, n) != 0)
		return false;
	return text[n] == '\0' || (text[n] == '.' && strstr(text + n, ".cold"));
}

/* The original has such a name for the function, of which the first n bytes are to be looked
 * at. */
static bool is_called(const struct symbols *s, uint32_t group, const char *name, size_t n)
{
	uint32_t lo = 0, hi = s->name.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->name.v[mid].group < group)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->name.n && s->name.v[lo].group == group; lo++)
		if (is_part(s->name.v[lo].text, name, n))
			return true;
	return false;
}

/* Pieces have FDEs of their own. */
static bool is_described(const struct vcfi *cfi, new_vaddr from, new_vaddr end)
{
	uint32_t first = vcfi_find(cfi, from), last = vcfi_find(cfi, end - 1);

	return first != NO_FDE && last != NO_FDE && cfi->fde[first].addr == from &&
	       cfi->fde[last].addr + cfi->fde[last].len == end;
}

/* [from, from + size) is, from the start of one to the end of one, images of a function
 * called so. */
static bool is_piece(const struct symbols *s, new_vaddr from, uint64_t size, const char *name,
		     size_t n)
{
	const struct verify *v = s->v;
	const struct blockmap_block *b = blockmap_find_gen(&v->map, from);
	const struct blockmap_block *end = v->map.block + v->map.nblock;
	uint32_t last = NO_FDE;
	new_vaddr at = from;

	if (!b || v->map.gen_base + b->gen != from ||
	    !is_described(&v->gcfi, from, from + size))
		return false;
	for (; b < end && v->map.gen_base + b->gen - from < size; b++) {
		uint32_t fde = vcfi_find(&v->ocfi, v->map.orig_base + b->orig);

		if (fde == NO_FDE ||
		    (fde != last && !is_called(s, verify_group(v, fde), name, n)))
			return false;
		last = fde;
		at = v->map.gen_base + b->gen + b->gen_size;
	}
	return at - from == size;
}

/* The text without its end, which it has to have. */
static bool strip(const char *text, const char *end, size_t *n)
{
	*n = strlen(text);
	if (*n <= strlen(end) || strcmp(text + *n - strlen(end), end) != 0)
		return false;
	*n -= strlen(end);
	return true;
}

/* [value, value + size) is the original of a function with an entry jump. */
static bool is_original(const struct symbols *s, const Elf64_Sym *sym, const char *name,
			size_t n)
{
	const struct verify *v = s->v;
	uint32_t fde = vcfi_find(&v->ocfi, sym->st_value);
	const Elf64_Shdr *h = &v->orig.sh[sym->st_shndx].h;

	return fde != NO_FDE && v->ocfi.fde[fde].addr == sym->st_value &&
	       v->ocfi.fde[fde].len == sym->st_size && verify_has_entry(v, sym->st_value) &&
	       (h->sh_flags & SHF_EXECINSTR) && sym->st_value - h->sh_addr < h->sh_size &&
	       is_called(s, verify_group(v, fde), name, n);
}

/* N2, of the name */
static bool names_part(const struct symbols *s, const Elf64_Sym *sym, const char *text)
{
	size_t n;

	if (sym->st_shndx < s->v->orig.nsh)
		return strip(text, ".cold", &n) && is_original(s, sym, text, n);
	const struct section *in = verify_new_text_of(s->v, sym);

	return in && strip(text, strcmp(in->name, ".morph.text") == 0 ? "" : ".cold", &n) &&
	       is_piece(s, sym->st_value, sym->st_size, text, n);
}

/* N2 */
static int check_added(struct symbols *s, uint64_t i)
{
	struct verify *v = s->v;
	Elf64_Sym sym = symbol_at(s->now, i);
	const char *text = string_at(s->strings, sym.st_name);

	if (sym.st_info != ELF64_ST_INFO(STB_LOCAL, STT_FUNC) || sym.st_other != 0 ||
	    sym.st_value < s->end)
		return refuse(v, "added symbol %llu is no local function", ULL(i));
	if (!text || sym.st_name != s->string || !names_part(s, &sym, text))
		return refuse(
			v,
			"added symbol %llu at 0x%llx is not a part of the function that it "
			"names",
			ULL(i), ULL(sym.st_value));
	s->string += strlen(text) + 1;
	s->end = sym.st_value + sym.st_size;
	return 0;
}

/* A function symbol of the original leads to the image. */
static bool leads_to_image(const struct verify *v, Elf64_Sym want, const Elf64_Sym *g)
{
	uint32_t fde = vcfi_find(&v->ocfi, want.st_value);
	vaddr entry = want.st_value;

	want.st_value = g->st_value;
	want.st_size = g->st_size;
	want.st_shndx = g->st_shndx;
	return ELF64_ST_TYPE(want.st_info) == STT_FUNC && fde != NO_FDE &&
	       memcmp(&want, g, sizeof(want)) == 0 && verify_has_entry(v, entry) &&
	       verify_new_text_of(v, g) && verify_may_lead(v, entry, g->st_value) &&
	       verify_is_text_of(v, fde, g->st_value, g->st_size);
}

/* N1 */
static int check_kept(struct symbols *s, uint64_t old, uint64_t now)
{
	struct verify *v = s->v;
	Elf64_Sym o = symbol_at(s->old, old), g = symbol_at(s->now, now);

	if (o.st_shndx != SHN_UNDEF && o.st_shndx < v->orig.nsh &&
	    verify_has_moved(v, o.st_shndx)) {
		vaddr was = v->orig.sh[o.st_shndx].h.sh_addr;

		if (o.st_value - was <= v->orig.sh[o.st_shndx].h.sh_size)
			o.st_value += v->gen.sh[o.st_shndx].h.sh_addr - was;
	}
	return memcmp(&o, &g, sizeof(o)) == 0 || leads_to_image(v, o, &g) ? 0 :
	       refuse(v, "symbol %llu was changed", ULL(old));
}

/* N3 */
static bool refers_by_number(const struct verify *v, const Elf64_Shdr *h)
{
	struct bytes b = content(&v->orig, h);

	if (h->sh_link != v->sections.symbols || h->sh_type == SHT_NULL ||
	    h->sh_type == SHT_NOBITS)
		return false;
	if (h->sh_type != SHT_RELA)
		return h->sh_type == SHT_REL || h->sh_type == SHT_GROUP ||
		       h->sh_type == SHT_SYMTAB_SHNDX;
	for (uint64_t i = 0; i < b.n / sizeof(Elf64_Rela); i++) {
		Elf64_Rela r;

		memcpy(&r, b.p + i * sizeof(r), sizeof(r));
		if (ELF64_R_SYM(r.r_info))
			return true;
	}
	return false;
}

static int check_tables(struct symbols *s)
{
	struct verify *v = s->v;
	const Elf64_Shdr *o = &v->orig.sh[v->sections.symbols].h;
	const Elf64_Shdr *g = &v->gen.sh[v->sections.symbols].h;
	uint64_t nold = s->old.n / sizeof(Elf64_Sym), nnow = s->now.n / sizeof(Elf64_Sym);

	if (nnow < nold || s->now.n % sizeof(Elf64_Sym) || s->old.n % sizeof(Elf64_Sym) ||
	    o->sh_info > nold || g->sh_info != o->sh_info + (nnow - nold))
		return refuse(v, "the new symbol table has fewer symbols, or other local ones");
	for (uint64_t i = 0; i < o->sh_info; i++)
		if (check_kept(s, i, i) < 0)
			return -1;
	for (uint64_t i = o->sh_info; i < g->sh_info; i++)
		if (check_added(s, i) < 0)
			return -1;
	for (uint64_t i = o->sh_info; i < nold; i++)
		if (check_kept(s, i, i + (nnow - nold)) < 0)
			return -1;
	return s->string == s->strings.n ? 0 : refuse(v, "there are strings of no symbol");
}

int verify_symbols(struct verify *v)
{
	struct symbols s = { .v = v };

	if (!v->sections.symbols)
		return 0;
	uint32_t link = v->orig.sh[v->sections.symbols].h.sh_link;
	if (link >= v->orig.nsh || v->orig.sh[link].h.sh_type != SHT_STRTAB)
		return refuse(v, "the original's symbol table has no strings");
	struct bytes strings = content(&v->orig, &v->orig.sh[link].h);
	s.old = content(&v->orig, &v->orig.sh[v->sections.symbols].h);
	s.now = content(&v->gen, &v->gen.sh[v->sections.symbols].h);
	s.strings = content(&v->gen, &v->gen.sh[link].h);
	s.string = strings.n;
	if (s.strings.n < strings.n || memcmp(s.strings.p, strings.p, strings.n) != 0)
		return refuse(v, "the strings of symbols were changed");
	for (uint32_t i = 1; i < v->orig.nsh; i++)
		if (refers_by_number(v, &v->orig.sh[i].h))
			return refuse(v,
				      "section %u (%s) refers to symbols by numbers that have "
				      "changed",
				      i, v->orig.sh[i].name);
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		if (v->orig.sh[i].h.sh_type == SHT_SYMTAB ||
		    v->orig.sh[i].h.sh_type == SHT_DYNSYM)
			collect_names(&s, &v->orig.sh[i].h);
	if (s.name.n)
		qsort(s.name.v, s.name.n, sizeof(*s.name.v), name_cmp);
	return check_tables(&s);
}
