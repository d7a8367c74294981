/* annotation.c - what an annotate job says of a function, as tables; see annotation.h
 *
 * Tested by tests/unit/manager/work/test_annotation.c and tests/e2e/annotate.sh.
 */
#include "manager/work/annotation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/search.h"
#include "lib/table.h"
#include "lib/utf8.h"

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

void annotation_write_places(const struct annotation *a, struct wr *out)
{
	for (uint32_t i = 0; i < a->line.n; i++)
		wr_text(out, arena_printf(a->arena, "0x%" PRIx64 "\n", a->line.v[i].addr));
}

/* FILE:LINE, as a table shows it; the last part of its path will do. */
static const char *source_of(const struct annotation *a, const char *line, char *file)
{
	const char *slash = strrchr(file, '/');

	utf8_unescape(file);
	return arena_printf(a->arena, "%s:%s", slash ? slash + 1 : file, line);
}

bool annotation_take_source(struct annotation *a, struct bytes answer)
{
	const char *word[ANNOTATION_WORDS] = { NULL }, *source = NULL;
	uint32_t at = 0;
	bool known = false;

	for (char *text = text_of(a, answer), *line; (line = next_line(&text)); ) {
		int n = split(line, word);

		/* the innermost frame comes first */
		if (n == 4 && strcmp(word[0], "frame") == 0 && !source)
			source = strcmp(word[1], "0") == 0
					 ? ""
					 : source_of(a, word[1],
						     arena_printf(a->arena, "%s", word[2]));
		if (n != 4 || strcmp(word[0], "place") != 0 || at == a->line.n)
			continue;
		a->line.v[at++].source = source ? source : "";
		known = known || (source && *source);
		source = NULL;
	}
	return known;
}

uint32_t annotation_range(const struct annotation *a, uint32_t from)
{
	enum { GAP = 64 };
	uint32_t to = from + 1;

	while (to < a->line.n && a->line.v[to].addr - a->line.v[to - 1].addr < GAP)
		to++;
	return to;
}

/* --- in a generation --- */

static vaddr block_at(const struct annotation *a, int row)
{
	return strtoull(table_cell(a->blocks, row, 0), NULL, 16);
}

void annotation_write_blocks(const struct annotation *a, struct wr *out)
{
	for (int i = 0; i < table_nrow(a->blocks); i++)
		wr_text(out, arena_printf(a->arena, "0x%" PRIx64 " %s\n", block_at(a, i),
					  table_cell(a->blocks, i, 1)));
}

static int by_addr(const void *x, const void *y)
{
	const struct annotation_key *a = x, *b = y;

	return a->addr != b->addr ? (a->addr > b->addr) - (a->addr < b->addr)
				  : (a->at > b->at) - (a->at < b->at);
}

/* The first one of that address; UINT32_MAX: there is none. */
static uint32_t find(const struct annotation_index *index, vaddr addr)
{
	uint32_t k = search_first(i, 0, index->n, index->key[i].addr < addr);

	return k < index->n && index->key[k].addr == addr ? index->key[k].at : UINT32_MAX;
}

/* What was added has no original. */
static struct annotation_index index_placed(const struct annotation *a, bool insn)
{
	struct annotation_index index = {
		.key = arena_array(a->arena, a->placed.n, sizeof(*index.key)) };

	for (uint32_t i = 0; i < a->placed.n; i++)
		if (a->placed.v[i].insn == insn && a->placed.v[i].original)
			index.key[index.n++] =
				(struct annotation_key){ a->placed.v[i].original, i };
	if (index.n)
		qsort(index.key, index.n, sizeof(*index.key), by_addr);
	return index;
}

static struct annotation_index index_rows(const struct annotation *a)
{
	struct annotation_index index = { .n = (uint32_t)table_nrow(a->blocks) };

	index.key = arena_array(a->arena, index.n, sizeof(*index.key));
	for (uint32_t i = 0; i < index.n; i++)
		index.key[i] = (struct annotation_key){ block_at(a, (int)i), i };
	if (index.n)
		qsort(index.key, index.n, sizeof(*index.key), by_addr);
	return index;
}

static void put_block(const struct annotation *a, int row, const char *addr, struct table *t)
{
	enum { COLUMNS = 9 };
	const char *cell[COLUMNS];

	cell[0] = addr;
	for (int c = 1; c < COLUMNS - 1; c++)
		cell[c] = table_cell(a->blocks, row, c);
	cell[COLUMNS - 1] = table_cell(a->blocks, row, 0);
	table_row_text(t, cell);
}

static struct table *placed_blocks(const struct annotation *a)
{
	struct table_column col[9];
	int n = table_ncol(a->blocks);

	memcpy(col, table_columns(a->blocks), (size_t)n * sizeof(*col));
	col[n] = (struct table_column){ "original", TABLE_HEX };
	const struct annotation_index row = index_rows(a);
	struct table *t = table_new("blocks", n + 1, col);
	for (uint32_t i = 0; i < a->placed.n; i++) {
		const struct placed_line *p = &a->placed.v[i];
		uint32_t r = p->insn ? UINT32_MAX : find(&row, p->original);

		if (r != UINT32_MAX)
			put_block(a, (int)r, arena_printf(a->arena, "0x%" PRIx64, p->addr), t);
	}
	for (int i = 0; i < table_nrow(a->blocks); i++)	/* they run in the original's place */
		if (strtod(table_cell(a->blocks, i, 3), NULL) > 0 &&
		    find(&a->block, block_at(a, i)) == UINT32_MAX)
			put_block(a, i, table_cell(a->blocks, i, 0), t);
	return t;
}

uint32_t annotation_take_placed(struct annotation *a, struct bytes answer, uint32_t *nplaced)
{
	char *text = text_of(a, answer);
	uint32_t number = placed_generation(&text);
	struct placed_line line;

	while (placed_next(&text, &line))
		vec_push(a->arena, &a->placed, line);
	*nplaced = a->placed.n;
	a->insn = index_placed(a, true);
	a->block = index_placed(a, false);
	if (a->placed.n) {
		struct table *t = placed_blocks(a);

		table_free(a->blocks);
		a->blocks = t;
	}
	return number;
}

/* An address of the original, in hexadecimal digits, as it is in the generation. */
static const char *image_of(const struct annotation *a, const char *original)
{
	uint32_t i = find(&a->insn, strtoull(original, NULL, 16));

	return i == UINT32_MAX ? original
			       : arena_printf(a->arena, "0x%" PRIx64, a->placed.v[i].addr);
}

static void put_placed(const struct annotation *a, const struct placed_line *p,
		       struct table *t)
{
	const struct annotation_line *l = p->original ? line_at(a, p->original) : NULL;
	const char *addr = arena_printf(a->arena, "0x%" PRIx64, p->addr);

	if (l) {
		const char *cell[] = { addr, l->word[2], l->word[3], l->word[4], l->word[5],
				       p->text, image_of(a, l->word[6]), l->word[7],
				       l->source, l->word[1] };

		table_row_text(t, cell);
	} else {		/* it was added */
		const char *cell[] = { addr, "0", "", "", "", p->text, "-", "", "", "" };

		table_row_text(t, cell);
	}
}

/* What has samples and no image runs in the original's place. */
static void put_all_placed(const struct annotation *a, struct table *t)
{
	for (uint32_t i = 0; i < a->placed.n; i++)
		if (a->placed.v[i].insn)
			put_placed(a, &a->placed.v[i], t);
	for (uint32_t i = 0; i < a->line.n; i++) {
		const struct annotation_line *l = &a->line.v[i];
		const struct placed_line stays = { true, l->addr, l->addr, 0, l->text };

		if (strtod(l->word[2], NULL) > 0 && image_of(a, l->word[1]) == l->word[1])
			put_placed(a, &stays, t);
	}
}

struct table *annotation_insns_table(bool placed)
{
	enum { COLUMNS = 10 };
	static const struct table_column col[COLUMNS] = {
		{ "address", TABLE_HEX }, { "samples", TABLE_REAL },
		{ "executions", TABLE_REAL }, { "cycles", TABLE_REAL },
		{ "best_cycles", TABLE_REAL }, { "instruction", TABLE_TEXT },
		{ "culprit", TABLE_TEXT }, { "why", TABLE_TEXT }, { "source", TABLE_TEXT },
		{ "original", TABLE_HEX },
	};

	return table_new("instructions", placed ? COLUMNS : COLUMNS - 1, col);
}

struct table *annotation_insns(const struct annotation *a)
{
	struct table *t = annotation_insns_table(a->placed.n > 0);

	if (a->placed.n)
		put_all_placed(a, t);
	for (uint32_t i = 0; !a->placed.n && i < a->line.n; i++) {
		const struct annotation_line *l = &a->line.v[i];
		const char *cell[] = { l->word[1], l->word[2], l->word[3], l->word[4],
				       l->word[5], l->text, l->word[6], l->word[7],
				       l->source };

		table_row_text(t, cell);
	}
	return t;
}

struct hot {
	int row;
	double samples;
};

static int by_samples(const void *x, const void *y)
{
	const struct hot *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return a->row - b->row;
}

struct table *annotation_hottest(const struct table *blocks, uint32_t limit)
{
	enum { SAMPLES = 3 };
	struct table *t = table_new(table_title(blocks), table_ncol(blocks),
				    table_columns(blocks));
	int n = table_nrow(blocks), ncol = table_ncol(blocks);
	struct hot *hot = memory_new((size_t)n, sizeof(*hot));
	const char *cell[16];

	for (int i = 0; i < n; i++)
		hot[i] = (struct hot){ i, strtod(table_cell(blocks, i, SAMPLES), NULL) };
	if (n)
		qsort(hot, (size_t)n, sizeof(*hot), by_samples);
	for (int i = 0; i < n && (uint32_t)i < limit && hot[i].samples > 0; i++) {
		for (int c = 0; c < ncol; c++)
			cell[c] = table_cell(blocks, hot[i].row, c);
		table_row_text(t, cell);
	}
	free(hot);
	return t;
}
