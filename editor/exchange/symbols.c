/* symbols.c - the functions that the symbols of a file, and of its debug file, name */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <stdlib.h>
#include <string.h>

#include "editor/exchange/bfdfile.h"
#include "editor/exchange/symbols.h"
#include "lib/arena.h"
#include "lib/search.h"

struct gather {
	struct arena *arena;
	VEC(struct symbols_one) one;
};

/* A symbol's version is cut off, but what the linkage table leads to keeps its "@plt". */
static const char *copy_name(struct arena *a, const char *name)
{
	const char *version = strchr(name, '@');
	size_t n = version && version != name && strcmp(version, "@plt") != 0
			   ? (size_t)(version - name)
			   : strlen(name);
	char *copy = arena_alloc(a, n + 1);

	memcpy(copy, name, n);
	return copy;
}

static void take(struct gather *g, const asymbol *s, bool synthetic)
{
	if (!synthetic && !(s->flags & (BSF_FUNCTION | BSF_GNU_INDIRECT_FUNCTION)))
		return;
	if (bfd_is_und_section(s->section) || !s->name || !*s->name)
		return;
	struct symbols_one one = { bfd_asymbol_value(s), g->one.n,
				   copy_name(g->arena, s->name) };
	vec_push(g->arena, &g->one, one);
}

static void take_file(struct gather *g, struct bfd *abfd)
{
	long nsym, ndyn;
	asymbol **sym = bfdfile_symbols(abfd, false, &nsym);
	asymbol **dyn = bfdfile_symbols(abfd, true, &ndyn);
	asymbol *synthetic = NULL;
	long n = bfd_get_synthetic_symtab(abfd, nsym, sym, ndyn, dyn, &synthetic);

	for (long i = 0; i < nsym; i++)
		take(g, sym[i], false);
	for (long i = 0; i < ndyn; i++)
		take(g, dyn[i], false);
	for (long i = 0; i < n; i++)
		take(g, &synthetic[i], true);
	free(synthetic);
	free(sym);
	free(dyn);
}

static int by_addr(const void *a, const void *b)
{
	const struct symbols_one *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void symbols_read(struct bfd *file, struct bfd *debug, struct arena *a, struct symbols *out)
{
	struct gather g = { .arena = a };
	uint32_t n = 0;

	take_file(&g, file);
	if (debug)
		take_file(&g, debug);
	if (g.one.n)
		qsort(g.one.v, g.one.n, sizeof(*g.one.v), by_addr);
	for (uint32_t i = 0; i < g.one.n; i++)
		if (!n || g.one.v[n - 1].addr != g.one.v[i].addr)
			g.one.v[n++] = g.one.v[i];
	*out = (struct symbols){ g.one.v, n };
}

const struct symbols_one *symbols_before(const struct symbols *s, vaddr addr)
{
	uint32_t k = search_first(i, 0, s->n, s->at[i].addr <= addr);

	return k ? &s->at[k - 1] : NULL;
}

const char *symbols_at(const struct symbols *s, vaddr addr)
{
	const struct symbols_one *one = symbols_before(s, addr);

	return one && one->addr == addr ? one->name : NULL;
}
