/* functionnames.c - takes names of functions, and which pieces are fragments, from symbols
 *
 * A function may have several names, and a fragment (`NAME.cold`) is called after one of them.
 * The new symbols that a generation gets are made of the name that fits all parts (fn->symbol),
 * so that they mislead nobody.
 *
 * Tested by tests/unit/verify/test_accepted.c (names_fit_all_parts).
 */
#include <string.h>

#include "postmorph/functionnames.h"
#include "binary/dynamic.h"

static bool is_function(const struct symbol *s)
{
	return s->defined && (s->type == STT_FUNC || s->type == STT_GNU_IFUNC);
}

/* NAME.cold, NAME.cold.N, NAME.part.N.cold */
static void mark_fragment(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;
	const char *cold = strstr(s->name, ".cold");

	(void)index;
	if (!is_function(s) || !cold || (cold[5] != '\0' && cold[5] != '.'))
		return;
	uint32_t i = text_piece(t, s->value);
	if (i == UINT32_MAX || t->piece[i].addr != s->value || t->piece[i].skip != SKIP_NONE ||
	    t->piece[i].fragment)
		return;
	t->piece[i].fragment = true;
	t->piece[i].name = s->name;
}

/* What is known by its name to be a part of the function is called like it. */
static bool fits(const struct text *t, const struct fn *fn, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t r = 1; r < fn->nrange; r++) {
		const char *part = t->piece[fn->range[r].fde].name;

		if (part && (strncmp(part, name, n) != 0 || part[n] != '.' ||
			     !strstr(part + n, ".cold")))
			return false;
	}
	return true;
}

static void name_function(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;
	uint32_t f = is_function(s) && *s->name ? prog_find_fn(t->prog, s->value) : NO_FN;

	(void)index;
	if (f == NO_FN || t->prog->fn[f].entry != s->value)
		return;
	struct fn *fn = &t->prog->fn[f];
	if (!fn->name)
		fn->name = s->name;
	if (!fn->symbol && fits(t, fn, s->name))
		fn->symbol = s->name;
}

void names_mark_fragments(struct text *t)
{
	symbols_each(&t->prog->img, SHT_SYMTAB, mark_fragment, t);
}

void names_give(struct text *t)
{
	symbols_each(&t->prog->img, SHT_SYMTAB, name_function, t);
	symbols_each(&t->prog->img, SHT_DYNSYM, name_function, t);
}
