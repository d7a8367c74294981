/* debugsymbols.c - symbols of the original that lead to images
 *
 *   NAME        a moved function's symbol leads to the image of its entry, to the end of the
 *               part that this is in;
 *   NAME.cold   a local one for each other part, and for the function's original.
 *
 * Other symbols stay as they are.  Symbols are found in sections of the generation by name.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debugsymbols.h"

#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/search.h"

struct symbols {
	struct addresses *ad;
	struct wr *out, *strings;
	struct bytes table, names;
	uint16_t *section;		/* of the generation, by those of the source */
	const struct debugsource *s;
	uint16_t hot, fluff;		/* sections of new text; 0: none */
	struct err *err;
};

static uint16_t find_section(const struct image *gen, const char *name)
{
	const struct section *s = image_section(gen, name);

	return s ? (uint16_t)(s - gen->sh) : 0;
}

static uint16_t section_of(const struct symbols *y, new_vaddr addr)
{
	return addr - y->ad->map->gen_base < y->ad->map->hot_size ? y->hot : y->fluff;
}

static Elf64_Sym symbol_at(const struct symbols *y, uint64_t i)
{
	Elf64_Sym s;

	memcpy(&s, y->table.p + i * sizeof(s), sizeof(s));
	if (s.st_shndx != SHN_UNDEF && s.st_shndx < y->s->n)
		s.st_shndx = y->section[s.st_shndx] ? y->section[s.st_shndx] : SHN_ABS;
	return s;
}

/* The parts of a moved function, that of its entry first: 1; 0 if it has not moved. */
static int parts_of(const struct symbols *y, const Elf64_Sym *s, addresses_ranges *out)
{
	new_vaddr entry;

	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
	    s->st_size == 0)
		return 0;
	int moved = addresses_start(y->ad, s->st_value, &entry, NULL, y->err);

	if (moved <= 0)
		return moved;
	if (addresses_images(y->ad, s->st_value, s->st_value + s->st_size, out, y->err) < 0)
		return -1;
	addresses_merge(out, entry);
	return out->n > 0 && out->v[0].from == entry;
}

static void add_part(const struct symbols *y, const Elf64_Sym *like, uint16_t section,
		     struct addresses_range r)
{
	struct rd name = rd_of(y->names);
	Elf64_Sym s = { .st_name = (uint32_t)y->strings->n, .st_other = like->st_other,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = section,
			.st_value = r.from, .st_size = r.to - r.from };

	(void)rd_skip(&name, like->st_name);
	const char *text = rd_str(&name);
	if (!text || !*text)
		return;
	wr_text(y->strings, text);
	wr_str(y->strings, ".cold");
	wr_raw(y->out, &s, sizeof(s));
}

/* Symbols [from, to), where functions have moved to. */
static int copy_symbols(const struct symbols *y, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		Elf64_Sym s = symbol_at(y, i);
		addresses_ranges parts = { 0 };
		int moved = parts_of(y, &s, &parts);

		if (moved < 0)
			return -1;
		if (moved) {
			s.st_value = parts.v[0].from;
			s.st_size = parts.v[0].to - parts.v[0].from;
			s.st_shndx = section_of(y, s.st_value);
		}
		wr_raw(y->out, &s, sizeof(s));
	}
	return 0;
}

/* Aliases of a function would give its parts twice. */
static bool is_new(const struct symbols *y, addresses_ranges *seen, vaddr at)
{
	for (uint32_t i = seen->n; i > 0 && seen->n - i < 8; i--)
		if (seen->v[i - 1].from == at)
			return false;
	vec_push(y->ad->a, seen, ((struct addresses_range){ at, at }));
	return true;
}

static int add_parts(const struct symbols *y, uint64_t n)
{
	addresses_ranges seen = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		Elf64_Sym s = symbol_at(y, i);
		addresses_ranges parts = { 0 };
		int moved = parts_of(y, &s, &parts);

		if (moved < 0)
			return -1;
		if (!moved || !is_new(y, &seen, s.st_value))
			continue;
		add_part(y, &s, s.st_shndx,
			 (struct addresses_range){ s.st_value, s.st_value + s.st_size });
		for (uint32_t k = 1; k < parts.n; k++)
			add_part(y, &s, section_of(y, parts.v[k].from), parts.v[k]);
	}
	return 0;
}

int debugsymbols_write(const struct debugsource *s, struct addresses *addresses,
		       struct wr *symbols, struct wr *strings, uint32_t *nlocal,
		       struct err *err)
{
	const struct debugsource_section *table = debugsource_find(s, ".symtab");
	struct symbols y = { .ad = addresses, .out = symbols, .strings = strings, .s = s,
			     .hot = find_section(addresses->gen, ".morph.text"),
			     .fluff = find_section(addresses->gen, ".morph.fluff"),
			     .err = err };

	if (!table || table->h.sh_type != SHT_SYMTAB || table->raw.n == 0 ||
	    table->h.sh_link >= s->n || table->h.sh_entsize != sizeof(Elf64_Sym))
		return 0;
	y.table = table->raw;
	y.names = s->section[table->h.sh_link].raw;
	uint64_t n = y.table.n / sizeof(Elf64_Sym), first = table->h.sh_info;
	if (first > n || !y.names.p || y.names.n > UINT32_MAX / 2)
		return err_set(err, ERR_INPUT, "a bad symbol table in the debug information");
	y.section = arena_array(addresses->a, s->n, sizeof(*y.section));
	for (uint32_t i = 0; i < s->n; i++)
		y.section[i] = s->section[i].name[0] ?
				       find_section(addresses->gen, s->section[i].name) : 0;
	wr_raw(strings, y.names.p, y.names.n);
	if (copy_symbols(&y, 0, first) < 0 || add_parts(&y, n) < 0)
		return -1;
	*nlocal = (uint32_t)(symbols->n / sizeof(Elf64_Sym));
	return copy_symbols(&y, first, n) < 0 ? -1 : 1;
}

static int name_cmp(const void *x, const void *y)
{
	const struct debugsymbols_name *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_name_cmp(const void *x, const void *y)
{
	const struct debugsymbols_name *const *a = x, *const *b = y;
	int cmp = strcmp((*a)->name, (*b)->name);

	return cmp ? cmp : name_cmp(*a, *b);
}

void debugsymbols_names(const struct debugsource *s, struct arena *a,
			struct debugsymbols_names *out)
{
	const struct debugsource_section *table = debugsource_find(s, ".symtab");
	VEC(struct debugsymbols_name) names = { 0 };
	Elf64_Sym sym;

	if (!table || table->raw.n == 0)
		table = debugsource_find(s, ".dynsym");
	*out = (struct debugsymbols_names){ 0 };
	if (!table || table->h.sh_link >= s->n)
		return;
	for (uint64_t off = 0; bytes_at(table->raw, off, sizeof(sym)).p; off += sizeof(sym)) {
		struct rd r = rd_of(s->section[table->h.sh_link].raw);

		memcpy(&sym, table->raw.p + off, sizeof(sym));
		(void)rd_skip(&r, sym.st_name);
		const char *name = rd_str(&r);
		if (ELF64_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx != SHN_UNDEF &&
		    name && *name)
			vec_push(a, &names, ((struct debugsymbols_name){ sym.st_value, name }));
	}
	if (names.n > 1)
		qsort(names.v, names.n, sizeof(*names.v), name_cmp);
	*out = (struct debugsymbols_names){ names.v, names.n,
					    arena_array(a, names.n, sizeof(*out->by_name)) };
	for (uint32_t i = 0; i < names.n; i++)
		out->by_name[i] = &names.v[i];
	if (names.n > 1)
		qsort(out->by_name, names.n, sizeof(*out->by_name), by_name_cmp);
}

const char *debugsymbols_name(const struct debugsymbols_names *names, vaddr at)
{
	uint32_t i = search_first(k, 0, names->n, names->v[k].at < at);

	return i < names->n && names->v[i].at == at ? names->v[i].name : NULL;
}

const char *debugsymbols_unique(const struct debugsymbols_names *names, vaddr at)
{
	enum { ALIASES = 16 };		/* looked at; more than functions have */
	uint32_t first = search_first(k, 0, names->n, names->v[k].at < at);

	for (uint32_t i = first; i < names->n && i < first + ALIASES; i++) {
		const struct debugsymbols_name *name = &names->v[i];
		uint32_t from = search_first(k, 0, names->n,
					     strcmp(names->by_name[k]->name, name->name) < 0);
		uint32_t to = search_first(k, from, names->n,
					   strcmp(names->by_name[k]->name, name->name) <= 0);

		if (name->at != at)
			return NULL;
		/* those of one name ascend by address */
		if (names->by_name[from]->at == at && names->by_name[to - 1]->at == at)
			return name->name;
	}
	return NULL;
}
