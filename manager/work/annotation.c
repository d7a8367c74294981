/* annotation.c - what an annotate job says of a function, as tables; see annotation.h
 *
 * Tested by tests/e2e/annotate.sh.
 */
#include "manager/work/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "lib/table.h"

void annotation_begin(struct annotation *a, struct arena *arena)
{
	static const struct table_column fn[] = {
		{ "entry", TABLE_HEX }, { "samples", TABLE_REAL }, { "entries", TABLE_REAL },
		{ "scale", TABLE_TEXT },
	}, cause[] = {
		{ "cause", TABLE_TEXT }, { "at_least_pct", TABLE_REAL },
		{ "at_most_pct", TABLE_REAL },
	}, block[] = {
		{ "block", TABLE_HEX }, { "size_bytes", TABLE_UINT },
		{ "instructions", TABLE_UINT }, { "samples", TABLE_REAL },
		{ "executions", TABLE_REAL }, { "confidence", TABLE_TEXT },
		{ "cycles", TABLE_REAL }, { "best_cycles", TABLE_REAL },
	};

	*a = (struct annotation){ .arena = arena };
	a->fn = table_new("function", 4, fn);
	a->causes = table_new("causes", 3, cause);
	a->blocks = table_new("blocks", 8, block);
}

/* Cuts a line at its tabs; how many words there are, at most ANNOTATION_WORDS. */
static int split(char *line, const char **word)
{
	int n = 0;

	for (char *s = line; s && n < ANNOTATION_WORDS; ) {
		char *tab = strchr(s, '\t');

		if (tab)
			*tab++ = '\0';
		word[n++] = s;
		s = tab;
	}
	return n;
}

static void take_line(struct annotation *a, const char **word, int n)
{
	if (n == 5 && strcmp(word[0], "function") == 0)
		table_row_text(a->fn, word + 1);
	else if (n == 4 && strcmp(word[0], "cause") == 0)
		table_row_text(a->causes, word + 1);
	else if (n == 9 && strcmp(word[0], "block") == 0)
		table_row_text(a->blocks, word + 1);
	if (n != 8 || strcmp(word[0], "insn") != 0)
		return;
	struct annotation_line line = { .addr = strtoull(word[1], NULL, 16), .text = "",
					.source = "" };
	memcpy(line.word, word, sizeof(line.word));
	if (!a->line.n || line.addr > a->line.v[a->line.n - 1].addr)
		vec_push(a->arena, &a->line, line);
}

static char *next_line(char **text)
{
	char *line = *text, *nl = strchr(line, '\n');

	if (!nl)
		return NULL;
	*nl = '\0';
	*text = nl + 1;
	return line;
}

static char *text_of(const struct annotation *a, struct bytes b)
{
	char *text = arena_alloc(a->arena, b.n + 1);

	if (b.n)
		memcpy(text, b.p, b.n);
	return text;
}

void annotation_take(struct annotation *a, struct bytes answer)
{
	const char *word[ANNOTATION_WORDS] = { NULL };

	for (char *text = text_of(a, answer), *line; (line = next_line(&text)); )
		take_line(a, word, split(line, word));
}

static struct annotation_line *line_at(const struct annotation *a, vaddr addr)
{
	uint32_t k = search_first(i, 0, a->line.n, a->line.v[i].addr < addr);

	return k < a->line.n && a->line.v[k].addr == addr ? &a->line.v[k] : NULL;
}

void annotation_take_text(struct annotation *a, struct bytes answer)
{
	for (char *text = text_of(a, answer), *line; (line = next_line(&text)); ) {
		char *end;
		struct annotation_line *at = line_at(a, strtoull(line, &end, 16));

		if (at && *end == '\t')
			at->text = end + 1;
	}
}

uint32_t annotation_range(const struct annotation *a, uint32_t from)
{
	enum { GAP = 64 };
	uint32_t to = from + 1;

	while (to < a->line.n && a->line.v[to].addr - a->line.v[to - 1].addr < GAP)
		to++;
	return to;
}

struct table *annotation_insns(const struct annotation *a)
{
	static const struct table_column col[] = {
		{ "address", TABLE_HEX }, { "samples", TABLE_REAL },
		{ "executions", TABLE_REAL }, { "cycles", TABLE_REAL },
		{ "best_cycles", TABLE_REAL }, { "instruction", TABLE_TEXT },
		{ "culprit", TABLE_TEXT }, { "why", TABLE_TEXT }, { "source", TABLE_TEXT },
	};
	struct table *t = table_new("instructions", 9, col);

	for (uint32_t i = 0; i < a->line.n; i++) {
		const struct annotation_line *l = &a->line.v[i];
		const char *cell[] = { l->word[1], l->word[2], l->word[3], l->word[4],
				       l->word[5], l->text, l->word[6], l->word[7],
				       l->source };

		table_row_text(t, cell);
	}
	return t;
}
