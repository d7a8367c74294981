/* dynsyms.c - added dynamic symbols name parts of functions, and no lookup by name finds one
 *
 * Where .dynsym has grown (front.c), and so lookups by address find more:
 *
 *   D1  All tables that dynamic entries lead to have grown by the same number of symbols:
 *       .dynsym, .gnu.version, .hash and .gnu.hash.  The original's symbols and their versions
 *       come first (front.c).
 *   D2  An added symbol is like a function symbol of the original: type, binding, visibility
 *       and the name's place are the same.  It covers either a run of images of that function,
 *       in their section, or what that symbol covers in the original.  Its version is that
 *       symbol's, and hidden where the file defines versions: linkers refuse others.
 *   D3  No chain of .hash leads to an added symbol: all words but the number of symbols are the
 *       original's, and the new ones are 0.
 *   D4  .gnu.hash has the original's words, but the last chain goes on with the added symbols.
 *       The hash there is 0, which is not that of the symbol's name.
 *
 * By D3 and D4 a lookup by any name and version looks at the original's symbols in the order
 * in which it did.  It rejects every added one: by its hash, or else by its name, because two
 * names with different hashes differ.
 *
 * Tested by tests/unit/verify/test_dynsyms.c and tests/programs/names.sh.
 */
#include <stdlib.h>

#include "binary/loadtables.h"
#include "lib/search.h"
#include "verify/lookup.h"

enum { VERSION_HIDDEN = 0x8000, LAST = 1, NO_HASH = 0 };

struct table {			/* of dynamic symbols, in both files */
	struct bytes old, now;
};

struct name {			/* of a symbol of the original */
	uint32_t name, index;
};

struct dynsyms {
	struct verify *v;
	struct table symbols, versions, gnu, sysv;
	struct bytes names;
	uint16_t hidden;	/* what versions of added symbols have besides */
	uint64_t nold, nadded;
	struct name *by_name;	/* [nold] ascending */
};

static struct bytes content(const struct image *img, uint32_t i)
{
	return bytes_at(img->file, img->sh[i].h.sh_offset, img->sh[i].h.sh_size);
}

/* The section that the dynamic entry leads to has grown by `nadded` entries, if there is one;
 * *ngrown counts it. */
static int find_table(struct dynsyms *s, int64_t tag, uint32_t type, uint64_t size,
		      struct table *out, uint32_t *ngrown)
{
	struct verify *v = s->v;
	uint64_t at;

	if (!image_dynamic(&v->orig, tag, &at))
		return 0;
	for (uint32_t i = 1; i < v->orig.nsh; i++)
		if (v->orig.sh[i].h.sh_type == type && v->orig.sh[i].h.sh_addr == at &&
		    verify_has_grown(v, i)) {
			*out = (struct table){ content(&v->orig, i), content(&v->gen, i) };
			++*ngrown;
			if (type == SHT_DYNSYM)
				s->nadded = (out->now.n - out->old.n) / size;
			if (out->now.n - out->old.n == s->nadded * size)
				return 0;
		}
	return refuse(v, "the dynamic symbols have grown, and the table at 0x%llx not as much",
		      ULL(at));
}

/* D1 */
static int find_tables(struct dynsyms *s, uint32_t symbols)
{
	struct verify *v = s->v;
	uint32_t ngrown = 0, nall = 0, link = v->orig.sh[symbols].h.sh_link;

	if (find_table(s, DT_SYMTAB, SHT_DYNSYM, sizeof(Elf64_Sym), &s->symbols, &ngrown) < 0 ||
	    find_table(s, DT_VERSYM, SHT_GNU_versym, 2, &s->versions, &ngrown) < 0 ||
	    find_table(s, DT_GNU_HASH, SHT_GNU_HASH, 4, &s->gnu, &ngrown) < 0 ||
	    find_table(s, DT_HASH, SHT_HASH, 4, &s->sysv, &ngrown) < 0)
		return -1;
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		nall += verify_has_grown(v, i);
	s->nold = s->symbols.old.n / sizeof(Elf64_Sym);
	if (nall != ngrown || !s->symbols.now.p || s->symbols.old.n % sizeof(Elf64_Sym) ||
	    s->symbols.now.n % sizeof(Elf64_Sym) ||
	    (s->versions.now.p && s->versions.old.n != s->nold * 2) ||
	    link >= v->orig.nsh || v->orig.sh[link].h.sh_type != SHT_STRTAB)
		return refuse(v, "a table of dynamic symbols has grown that nothing leads to");
	s->names = content(&v->orig, link);
	return 0;
}

static uint32_t word_at(struct bytes b, uint64_t i)
{
	struct rd r = rd_of(bytes_at(b, i * 4, 4));

	return rd_u32(&r);
}

static uint16_t version_at(struct bytes b, uint64_t i)
{
	struct rd r = rd_of(bytes_at(b, i * 2, 2));

	return rd_u16(&r);
}

static Elf64_Sym symbol_at(struct bytes b, uint64_t i)
{
	Elf64_Sym s;

	memcpy(&s, b.p + i * sizeof(s), sizeof(s));
	return s;
}

static const char *name_of(const struct dynsyms *s, const Elf64_Sym *sym)
{
	struct rd r = rd_of(s->names);

	(void)rd_skip(&r, sym->st_name);	/* a bad offset shows in rd_str() */
	return rd_str(&r);
}

/* D2, of symbol `sym` and the original's `like` */
static bool is_like(const struct dynsyms *s, const Elf64_Sym *sym, const Elf64_Sym *like)
{
	const struct verify *v = s->v;
	uint32_t fde = vcfi_find(&v->ocfi, like->st_value);

	if (sym->st_name != like->st_name || sym->st_info != like->st_info ||
	    sym->st_other != like->st_other || ELF64_ST_TYPE(like->st_info) != STT_FUNC ||
	    like->st_shndx == SHN_UNDEF || fde == NO_FDE)
		return false;
	if (sym->st_shndx == like->st_shndx)
		return sym->st_value == like->st_value && sym->st_size == like->st_size;
	uint32_t piece = vcfi_find(&v->gcfi, sym->st_value);

	return verify_new_text_of(v, sym) && piece != NO_FDE &&
	       v->gcfi.fde[piece].addr == sym->st_value &&
	       verify_is_text_of(v, fde, sym->st_value, sym->st_size);
}

static int name_cmp(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	return (a->name > b->name) - (a->name < b->name);
}

static void sort_names(struct dynsyms *s)
{
	s->by_name = arena_array(s->v->a, s->nold, sizeof(*s->by_name));
	for (uint32_t i = 0; i < s->nold; i++)
		s->by_name[i] = (struct name){ symbol_at(s->symbols.old, i).st_name, i };
	qsort(s->by_name, s->nold, sizeof(*s->by_name), name_cmp);
}

static int check_symbol(struct dynsyms *s, uint64_t i)
{
	struct verify *v = s->v;
	Elf64_Sym sym = symbol_at(s->symbols.now, i);

	uint64_t first = search_first(k, 0, s->nold, s->by_name[k].name < sym.st_name);

	for (uint64_t k = first; k < s->nold && s->by_name[k].name == sym.st_name; k++) {
		uint32_t old = s->by_name[k].index;
		Elf64_Sym like = symbol_at(s->symbols.old, old);

		if (is_like(s, &sym, &like) &&
		    (!s->versions.now.p ||
		     version_at(s->versions.now, i) ==
			     (version_at(s->versions.old, old) | s->hidden)))
			return 0;
	}
	return refuse(v,
		      "added dynamic symbol %llu at 0x%llx is not a part of the function that "
		      "it names", ULL(i), ULL(sym.st_value));
}

/* D3 */
static int check_sysv(struct dynsyms *s)
{
	const struct table *t = &s->sysv;
	uint64_t n = t->now.n / 4, nold = t->old.n / 4;

	if (!t->now.p)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t want = i >= nold ? 0 :
				i == 1 ? (uint32_t)(s->nold + s->nadded) : word_at(t->old, i);

		if (word_at(t->now, i) != want)
			return refuse(s->v, "word %llu of the hash table was changed", ULL(i));
	}
	/* of buckets and chains, which together are the rest */
	if (t->old.n % 4 || nold < 2 || word_at(t->old, 1) != s->nold ||
	    word_at(t->old, 0) + s->nold != nold - 2)
		return refuse(s->v, "the hash table is not that of the dynamic symbols");
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = (h << 5) + h + (unsigned char)*name++;
	return h;
}

/* D4, of one added symbol */
static int check_word(struct dynsyms *s, uint64_t i, uint32_t word)
{
	Elf64_Sym sym = symbol_at(s->symbols.now, s->nold + i);
	const char *name = name_of(s, &sym);

	if (!name || (gnu_hash(name) | LAST) == (NO_HASH | LAST))
		return refuse(s->v, "lookups of '%s' find added dynamic symbol %llu",
			      name ? name : "", ULL(s->nold + i));
	if (word != (NO_HASH | (uint32_t)(i + 1 == s->nadded ? LAST : 0)))
		return refuse(s->v, "the last chain of the GNU hash table goes on otherwise "
			      "than with new symbols");
	return 0;
}

static int check_gnu(struct dynsyms *s)
{
	const struct table *t = &s->gnu;
	uint64_t nold = t->old.n / 4;

	if (!t->now.p)
		return 0;
	uint64_t nbucket = word_at(t->old, 0), first = word_at(t->old, 1);
	uint64_t nbloom = word_at(t->old, 2);

	if (t->old.n % 4 || s->nold <= first ||
	    nold != 4 + 2 * nbloom + nbucket + (s->nold - first))
		return refuse(s->v, "the GNU hash table is not that of the dynamic symbols");
	for (uint64_t i = 0; i < nold; i++)
		if (word_at(t->now, i) !=
		    (word_at(t->old, i) & ~(uint32_t)(i + 1 == nold ? LAST : 0)))
			return refuse(s->v, "word %llu of the GNU hash table was changed",
				      ULL(i));
	if (!(word_at(t->old, nold - 1) & LAST))
		return refuse(s->v, "the last chain of the GNU hash table has no end");
	for (uint64_t i = 0; i < s->nadded; i++)
		if (check_word(s, i, word_at(t->now, nold + i)) < 0)
			return -1;
	return 0;
}

int verify_dynsyms(struct verify *v)
{
	struct dynsyms s = { .v = v };
	uint64_t at;
	uint32_t i = 0;

	s.hidden = image_dynamic(&v->orig, DT_VERDEF, &at) ? VERSION_HIDDEN : 0;
	while (i < v->orig.nsh && !verify_has_grown(v, i))
		i++;
	if (i == v->orig.nsh)
		return 0;
	for (i = 0; i < v->orig.nsh && v->orig.sh[i].h.sh_type != SHT_DYNSYM; )
		i++;
	if (i == v->orig.nsh)
		return refuse(v, "there are no dynamic symbols to have more of");
	if (find_tables(&s, i) < 0 || check_sysv(&s) < 0 || check_gnu(&s) < 0)
		return -1;
	sort_names(&s);
	for (uint64_t k = s.nold; k < s.nold + s.nadded; k++)
		if (check_symbol(&s, k) < 0)
			return -1;
	struct err err = { 0 };
	if (loadtables_check(&v->gen, &err) < 0)
		return refuse(v, "%s", err.text);
	return 0;
}
