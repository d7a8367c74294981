/* symbols.c - added symbols name images by the names of their functions
 *
 * Nothing that runs reads .symtab, but wrong names in it would mislead a debugger.
 *
 *   N1  The original's symbols are all there in their order, unchanged but for the addresses of
 *       those in sections that gave way to program headers; so are the original's strings.
 *   N2  Added symbols stand behind the original's local symbols, ascending by address.  Each is
 *       a local function, a run of images of one function in its section, and has the name that
 *       the original gives that function, with `.cold` at its end in the fluff.  The names
 *       stand behind the original's strings, one after the other.
 *   N3  Nothing refers to symbols by number: the numbers of global symbols have grown.
 *
 * Tested by tests/unit/verify/test_sections.c.
 */
#include <stdlib.h>

#include "lib/search.h"
#include "verify/lookup.h"
#include "verify/symbols.h"

struct symbols {
	struct verify *v;
	struct vnames names;
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
	const struct vname *a = x, *b = y;

	return (a->group > b->group) - (a->group < b->group);
}

static void take_names(struct verify *v, const Elf64_Shdr *h, struct vnames *out)
{
	const struct image *img = &v->orig;
	struct bytes table = content(img, h);

	for (uint64_t i = 0; i < table.n / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym = symbol_at(table, i);
		uint8_t type = ELF64_ST_TYPE(sym.st_info);
		uint32_t fde = vcfi_find(&v->ocfi, sym.st_value);

		if (sym.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    fde == NO_FDE || h->sh_link >= img->nsh)
			continue;
		const char *text = string_at(content(img, &img->sh[h->sh_link].h), sym.st_name);
		if (text)
			vec_push(v->a, &out->all,
				 ((struct vname){ verify_group(v, fde), text }));
	}
}

void verify_find_names(struct verify *v, struct vnames *out)
{
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		if (v->orig.sh[i].h.sh_type == SHT_SYMTAB ||
		    v->orig.sh[i].h.sh_type == SHT_DYNSYM)
			take_names(v, &v->orig.sh[i].h, out);
	if (out->all.n)
		qsort(out->all.v, out->all.n, sizeof(*out->all.v), name_cmp);
}

/* NAME.cold, NAME.cold.N, NAME.part.N.cold; or NAME itself, if `whole` */
static bool is_part(const char *text, const char *name, size_t n, bool whole)
{
	if (strlen(text) < n || memcmp(text, name, n) != 0)
		return false;
	return text[n] == '\0' ? whole : text[n] == '.' && strstr(text + n, ".cold");
}

bool verify_is_called(const struct vnames *names, uint32_t group, const char *name, size_t n,
		      bool whole)
{
	const struct vname *all = names->all.v;
	uint32_t i = search_first(k, 0, names->all.n, all[k].group < group);

	for (; i < names->all.n && all[i].group == group; i++)
		if (is_part(all[i].text, name, n, whole))
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

bool verify_is_piece(const struct verify *v, new_vaddr from, uint64_t size,
		     bool (*is_of)(const void *ctx, uint32_t group), const void *ctx)
{
	const struct blockmap_block *b = blockmap_find_gen(&v->map, from);
	const struct blockmap_block *end = v->map.block + v->map.nblock;
	uint32_t last = NO_FDE;
	new_vaddr at = from;

	if (!b || v->map.gen_base + b->gen != from ||
	    !is_described(&v->gcfi, from, from + size))
		return false;
	for (; b < end && v->map.gen_base + b->gen - from < size; b++) {
		uint32_t fde = vcfi_find(&v->ocfi, v->map.orig_base + b->orig);

		if (fde == NO_FDE || (fde != last && !is_of(ctx, verify_group(v, fde))))
			return false;
		last = fde;
		at = v->map.gen_base + b->gen + b->gen_size;
	}
	return at - from == size;
}

bool verify_in_new_text(const struct verify *v, const Elf64_Sym *sym, bool *hot)
{
	if (sym->st_shndx < v->orig.nsh || sym->st_shndx >= v->gen.nsh)
		return false;
	const struct section *in = &v->gen.sh[sym->st_shndx];

	*hot = strcmp(in->name, ".morph.text") == 0;
	return (*hot || strcmp(in->name, ".morph.fluff") == 0) &&
	       sym->st_value >= in->h.sh_addr && sym->st_size <= in->h.sh_size &&
	       sym->st_value - in->h.sh_addr <= in->h.sh_size - sym->st_size;
}

struct called {			/* verify_is_called() for verify_is_piece() */
	const struct symbols *s;
	const char *name;
	size_t n;
};

static bool is_called_so(const void *ctx, uint32_t group)
{
	const struct called *c = ctx;

	return verify_is_called(&c->s->names, group, c->name, c->n, true);
}

/* The text without `.cold`, when it has to have that. */
static bool strip(const char *text, bool hot, size_t *n)
{
	size_t cold = hot ? 0 : strlen(".cold");

	*n = strlen(text);
	if (*n <= cold || (!hot && strcmp(text + *n - cold, ".cold") != 0))
		return false;
	*n -= cold;
	return true;
}

/* N2 */
static int check_added(struct symbols *s, uint64_t i)
{
	struct verify *v = s->v;
	Elf64_Sym sym = symbol_at(s->now, i);
	const char *text = string_at(s->strings, sym.st_name);
	size_t n;

	bool hot;

	if (sym.st_info != ELF64_ST_INFO(STB_LOCAL, STT_FUNC) || sym.st_other != 0 ||
	    sym.st_value < s->end)
		return refuse(v, "added symbol %llu is no local function", ULL(i));
	if (!verify_in_new_text(v, &sym, &hot))
		return refuse(v, "added symbol %llu is not in new text", ULL(i));
	if (!text || sym.st_name != s->string || !strip(text, hot, &n) ||
	    !verify_is_piece(v, sym.st_value, sym.st_size, is_called_so,
			     &(struct called){ s, text, n }))
		return refuse(
			v,
			"added symbol %llu at 0x%llx is not a part of the function that it "
			"names",
			ULL(i), ULL(sym.st_value));
	s->string += strlen(text) + 1;
	s->end = sym.st_value + sym.st_size;
	return 0;
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
	return memcmp(&o, &g, sizeof(o)) == 0 ? 0 :
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
	verify_find_names(v, &s.names);
	return check_tables(&s);
}
