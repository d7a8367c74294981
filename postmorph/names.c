/* names.c - what symbols say: names of functions, and which pieces are `.cold` fragments */
#include <string.h>

#include "postmorph/analyze.h"
#include "postmorph/dynamic.h"

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
	if (i != UINT32_MAX && t->piece[i].addr == s->value && t->piece[i].skip == SKIP_NONE)
		t->piece[i].fragment = true;
}

static void name_function(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;
	uint32_t f = is_function(s) ? prog_find_fn(t->prog, s->value) : NO_FN;

	(void)index;
	if (f != NO_FN && t->prog->fn[f].entry == s->value && !t->prog->fn[f].name && *s->name)
		t->prog->fn[f].name = s->name;
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
