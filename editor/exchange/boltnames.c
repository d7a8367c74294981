/* boltnames.c - the names by which llvm-bolt knows pieces of code
 *
 * Tested by tests/e2e/bolt.sh, where llvm-bolt says how much of what it reads it knows.
 */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "editor/exchange/bfdfile.h"
#include "editor/exchange/boltnames.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/search.h"

/* What bolt calls code that only an FDE tells of, in front of its address. */
static const char fde_name[] = "__BOLT_FDE_FUNCat";

struct one {
	const char *name;
	vaddr addr;
	bool local, function;
	uint32_t order, number;
};

static int by_addr(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->local != y->local)
		return x->local ? 1 : -1;	/* global ones come first */
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_name_and_addr(const void *a, const void *b)
{
	const struct one *x = *(struct one *const *)a, *y = *(struct one *const *)b;
	int c = strcmp(x->name, y->name);

	return c ? c : by_addr(x, y);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct boltname *)a)->name, ((const struct boltname *)b)->name);
}

/* Numbers of local symbols among those of their name. */
static void number_locals(struct one *one, uint32_t n, struct arena *a)
{
	struct one **sorted = arena_array(a, n, sizeof(struct one *));
	uint32_t local = 0;

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &one[i];
	if (n)
		qsort(sorted, n, sizeof(struct one *), by_name_and_addr);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || strcmp(sorted[i]->name, sorted[i - 1]->name) != 0)
			local = 0;
		if (sorted[i]->local)
			sorted[i]->number = ++local;
	}
}

static uint32_t gather(struct bfd *abfd, struct arena *a, struct one **out)
{
	VEC(struct one) one = { 0 };

	long nsym;
	asymbol **sym = bfdfile_symbols(abfd, false, &nsym);

	for (long i = 0; i < nsym; i++) {
		const asymbol *s = sym[i];
		struct one new = {
			.addr = bfd_asymbol_value(s), .order = one.n,
			.local = s->flags & BSF_LOCAL,
			.function = s->flags & (BSF_FUNCTION | BSF_GNU_INDIRECT_FUNCTION),
		};

		if (bfd_is_und_section(s->section) || !s->name || !*s->name ||
		    (s->flags & (BSF_FILE | BSF_SECTION_SYM)))
			continue;
		new.name = arena_printf(a, "%.*s", (int)strcspn(s->name, "@"), s->name);
		vec_push(a, &one, new);
	}
	free(sym);
	*out = one.v;
	return one.n;
}

int boltnames_read(struct bytes *file, struct arena *a, struct boltnames *out, struct err *err)
{
	struct bfd *abfd = bfdfile_open(file, "program", err);
	struct one *one;

	if (!abfd)
		return -1;
	uint32_t n = gather(abfd, a, &one);
	bfdfile_close(abfd);
	number_locals(one, n, a);
	if (n)
		qsort(one, n, sizeof(*one), by_addr);
	*out = (struct boltnames){ .arena = a,
				   .by_addr = arena_array(a, n, sizeof(*out->by_addr)),
				   .by_name = arena_array(a, n, sizeof(*out->by_name)) };
	for (uint32_t i = 0; i < n; i++) {
		struct boltname name = { one[i].name, one[i].addr };

		if (!one[i].function)
			continue;
		if (one[i].local)
			name.name = arena_printf(a, "%s/%u", one[i].name, one[i].number);
		out->by_addr[out->n] = out->by_name[out->n] = name;
		out->n++;
	}
	if (out->n)
		qsort(out->by_name, out->n, sizeof(*out->by_name), by_name);
	return 0;
}

static const char *escaped(struct arena *a, const char *name)
{
	char *copy = arena_alloc(a, 2 * strlen(name) + 1), *to = copy;

	for (; *name; name++) {
		if (*name == ' ' || *name == '\\')
			*to++ = '\\';
		*to++ = *name;
	}
	return copy;
}

const char *boltnames_plain(const struct boltnames *b, vaddr addr)
{
	uint32_t k = search_first(i, 0, b->n, b->by_addr[i].addr < addr);

	if (k < b->n && b->by_addr[k].addr == addr)
		return b->by_addr[k].name;
	return arena_printf(b->arena, "%s%" PRIx64, fde_name, addr);
}

const char *boltnames_at(const struct boltnames *b, vaddr addr)
{
	return escaped(b->arena, boltnames_plain(b, addr));
}

bool boltnames_find(const struct boltnames *b, const char *name, vaddr *out)
{
	uint32_t k = search_first(i, 0, b->n, strcmp(b->by_name[i].name, name) < 0);
	char *end;

	if (k < b->n && strcmp(b->by_name[k].name, name) == 0) {
		*out = b->by_name[k].addr;
		return true;
	}
	if (strncmp(name, fde_name, sizeof(fde_name) - 1) != 0)
		return false;
	*out = strtoull(name + sizeof(fde_name) - 1, &end, 16);
	return !*end && end != name + sizeof(fde_name) - 1;
}
