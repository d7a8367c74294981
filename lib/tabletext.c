/* tabletext.c - a table for people: aligned columns with units, made to fit a terminal
 *
 * Where the terminal is narrower than the table, columns that can be spared go first, which is
 * said; then columns of text give way, the widest first.  A path that is too long loses its
 * middle, since its end tells most; all other text goes on in further lines of its row, so
 * nothing else is lost.  What cannot fit even so is printed as lines "COLUMN  VALUE", row by
 * row, with all columns.
 *
 * Tested by tests/unit/lib/test_table_fit.c and test_table_forms.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/memory.h"
#include "lib/table_parts.h"
#include "lib/utf8.h"

enum { GAP = 2, LEAST_TEXT = 12, LEAST_PATH = 18, LEAST_VALUE = 10 };
/* Columns are spared for text to have so much room; chosen. */
enum { FAIR_TEXT = 24 };

void table_human_bytes(unsigned long long bytes, char *out, size_t n)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	int u = 0;

	while (v >= 1024 && u < 4) {
		v /= 1024;
		u++;
	}
	(void)snprintf(out, n, u ? "%.1f %s" : "%.0f %s", v, unit[u]);
}

void table_human_time(unsigned long long s, char *out, size_t n)
{
	static const struct { unsigned long long s; const char *unit; } step[] = {
		{ 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" },
	};
	size_t i = 0;

	while (i < 3 && s < step[i].s)
		i++;
	unsigned long long rest = i < 3 ? s % step[i].s / step[i + 1].s : 0;
	if (rest)
		(void)snprintf(out, n, "%llu %s %llu %s", s / step[i].s, step[i].unit, rest,
			       step[i + 1].unit);
	else
		(void)snprintf(out, n, "%llu %s", s / step[i].s, step[i].unit);
}

struct printing {
	const struct table *t;
	const struct table_look *look;
	FILE *f;
	/* of each column */
	size_t *width;
	int *decimals;			/* of real numbers */
	bool *path;			/* it has paths */
	bool *spared;			/* it is left out */
	bool tall;			/* it does not fit: rows become lines */
};

/* So many decimals that a number has some four digits. */
static int decimals_for(double d)
{
	return d >= 1000 ? 0 : d >= 100 ? 1 : 3;
}

static bool is_whole(const char *raw)
{
	const char *point = strchr(raw, '.');

	return !strpbrk(raw, "eE") && (!point || !point[1 + strspn(point + 1, "0")]);
}

char *table_text_cell(const char *raw, enum table_type type, int decimals)
{
	char out[64];
	uint64_t u = 0;
	double d = 0;
	struct tm tm;

	if (type == TABLE_TIME && !*raw)
		return memory_need(strdup("-"));	/* never */
	if (type == TABLE_TEXT || !table_number_of(raw, type, &u, &d))
		return utf8_escaped(raw);
	time_t s = (time_t)(u / 1000000000);
	switch (type) {
	case TABLE_FIGURE:
		decimals = is_whole(raw) ? 0 : decimals_for(d < 0 ? -d : d);
		(void)snprintf(out, sizeof(out), "%.*f", decimals, d);
		break;
	case TABLE_REAL:
		(void)snprintf(out, sizeof(out), "%.*f", decimals, d);	/* cut, if it is huge */
		break;
	case TABLE_HEX:
		(void)snprintf(out, sizeof(out), "0x%" PRIx64, u);
		break;
	case TABLE_BYTES:
		table_human_bytes(u, out, sizeof(out));
		break;
	case TABLE_TIME:
		if (!localtime_r(&s, &tm) ||
		    !strftime(out, sizeof(out), "%Y-%m-%d %H:%M:%S", &tm))
			(void)snprintf(out, sizeof(out), "-");
		break;
	case TABLE_BOOL:
		(void)snprintf(out, sizeof(out), "%s", u ? "yes" : "no");
		break;
	default:
		return utf8_escaped(raw);
	}
	return utf8_escaped(out);
}

int table_decimals(const struct table *t, int col)
{
	double most = 0, d;
	bool whole = true;
	uint64_t u;

	for (int r = 0; r < table_nrow(t) && table_columns(t)[col].type == TABLE_REAL; r++) {
		const char *raw = table_cell(t, r, col);

		if (!table_number_of(raw, TABLE_REAL, &u, &d))
			continue;
		whole = whole && is_whole(raw);
		most = fmax(most, fabs(d));
	}
	return whole ? 0 : decimals_for(most);
}

/* The text of a cell, or of a heading (row -1). */
static char *shown_cell(const struct printing *p, int row, int col)
{
	const struct table_column *c = &table_columns(p->t)[col];

	return row < 0 ? utf8_escaped(c->name)
		       : table_text_cell(table_cell(p->t, row, col), c->type, p->decimals[col]);
}

/* --- characters --- */

/* The n-th character of the text. */
static const char *at_character(const char *text, size_t n)
{
	uint32_t c;

	while (n-- && *text)
		text += utf8_next(text, &c);
	return text;
}

/* Puts the ellipsis in the middle, so that `width` characters stay; malloc'd. */
static char *without_middle(const char *text, size_t width, const char *ellipsis)
{
	size_t n = utf8_length(text), dots = utf8_length(ellipsis);
	size_t keep = width > dots ? width - dots : 0, head = keep / 3;
	const char *end = at_character(text, head), *tail = at_character(text, n - keep + head);
	char *out;

	if (asprintf(&out, "%.*s%s%s", (int)(end - text), text, ellipsis, tail) < 0)
		memory_exhausted();
	return out;
}

/* How many bytes of the text go into a line of `width` characters: whole words, if there are
 * any.  *next is where the rest begins. */
static size_t line_length(const char *text, size_t width, const char **next)
{
	const char *end = at_character(text, width ? width : 1), *cut = end;

	if (!*end) {
		*next = end;
		return (size_t)(end - text);
	}
	while (cut > text && *cut != ' ')
		cut--;
	if (cut == text)
		cut = end;		/* one long word */
	*next = cut + strspn(cut, " ");
	return (size_t)(cut - text);
}

/* --- widths --- */

static bool is_text(const struct table *t, int col)
{
	return table_columns(t)[col].type == TABLE_TEXT;
}

static bool is_path(const struct table *t, int row, int col)
{
	const char *text = is_text(t, col) ? table_cell(t, row, col) : "";

	return text[0] == '/' && !strchr(text, ' ');
}

static bool has_paths(const struct table *t, int col)
{
	bool any = false;

	for (int r = 0; r < table_nrow(t); r++)
		any = any || is_path(t, r, col);
	return any;
}

static size_t least_width(const struct printing *p, int col)
{
	size_t least = p->path[col] ? LEAST_PATH : LEAST_TEXT;
	char *heading = shown_cell(p, -1, col);
	size_t n = utf8_length(heading);

	free(heading);
	return n > least ? n : least;
}

/* Makes the widest column of text one narrower; false: none can be. */
static bool narrow(struct printing *p)
{
	int widest = -1;

	for (int i = 0; i < table_ncol(p->t); i++)
		if (is_text(p->t, i) && p->width[i] > least_width(p, i) &&
		    (widest < 0 || p->width[i] >= p->width[widest]))
			widest = i;
	if (widest < 0)
		return false;
	p->width[widest]--;
	return true;
}

/* With no more than so much of each column of text. */
static size_t total_width(const struct printing *p, size_t text)
{
	size_t n = 0;

	for (int i = 0; i < table_ncol(p->t); i++) {
		bool cut = is_text(p->t, i) && p->width[i] > text;

		if (!p->spared[i])
			n += (n ? GAP : 0) + (cut ? text : p->width[i]);
	}
	return n;
}

static void spare_columns(struct printing *p)
{
	const char *const *name = p->look->spare ? p->look->spare(table_title(p->t)) : NULL;

	for (; name && *name && total_width(p, FAIR_TEXT) > p->look->width; name++) {
		int col = table_column_of(p->t, *name);

		if (col >= 0) {
			p->spared[col] = true;
			p->width[col] = 0;
		}
	}
}

static void fit_columns(struct printing *p)
{
	size_t n = (size_t)table_ncol(p->t);

	p->width = memory_new(n, sizeof(*p->width));
	p->decimals = memory_new(n, sizeof(*p->decimals));
	p->path = memory_new(n, sizeof(*p->path));
	p->spared = memory_new(n, sizeof(*p->spared));
	for (int i = 0; i < table_ncol(p->t); i++) {
		p->decimals[i] = table_decimals(p->t, i);
		p->path[i] = has_paths(p->t, i);
		for (int r = -1; r < table_nrow(p->t); r++) {
			char *text = shown_cell(p, r, i);
			size_t k = utf8_length(text);

			p->width[i] = k > p->width[i] ? k : p->width[i];
			free(text);
		}
	}
	if (!p->look->width)
		return;
	spare_columns(p);
	while (!p->tall && total_width(p, SIZE_MAX) > p->look->width)
		p->tall = !narrow(p);
}

/* --- lines --- */

static void put(const struct printing *p, const char *colour, const char *text, size_t n)
{
	bool painted = p->look->colour && colour && n;

	(void)fprintf(p->f, "%s%s%s%.*s%s", painted ? "\033[" : "", painted ? colour : "",
		      painted ? "m" : "", (int)n, text, painted ? "\033[0m" : "");
}

static void put_spaces(const struct printing *p, size_t n)
{
	(void)fprintf(p->f, "%*s", (int)n, "");
}

static const char *colour_of(const struct printing *p, int row, int col)
{
	if (row < 0)
		return TABLE_BOLD;
	return p->look->paint ? p->look->paint(table_title(p->t),
					       table_columns(p->t)[col].name,
					       table_cell(p->t, row, col)) : NULL;
}

/* Of each cell of a row as much as goes into one line; rest[] moves on.  False: there is no
 * more of it. */
static bool print_line(const struct printing *p, int row, const char **rest)
{
	size_t owed = 0;		/* blanks, if something follows */
	bool more = false;

	for (int i = 0; i < table_ncol(p->t); i++) {
		if (p->spared[i])
			continue;
		const char *text = rest[i];
		size_t bytes = line_length(text, p->width[i], &rest[i]);
		size_t n = utf8_length(text) - utf8_length(text + bytes);
		size_t pad = p->width[i] > n ? p->width[i] - n : 0;
		bool left = is_text(p->t, i);

		more = more || *rest[i];
		if (bytes) {
			put_spaces(p, owed + (left ? 0 : pad));
			put(p, colour_of(p, row, i), text, bytes);
			owed = 0;
		}
		owed += GAP + (left || !bytes ? pad : 0);
	}
	(void)fputc('\n', p->f);
	return more;
}

static void print_row(const struct printing *p, int row)
{
	size_t n = (size_t)table_ncol(p->t);
	char **cell = memory_new(n, sizeof(*cell));
	const char **rest = memory_new(n, sizeof(*rest));

	for (size_t i = 0; i < n; i++) {
		cell[i] = shown_cell(p, row, (int)i);
		if (row >= 0 && is_path(p->t, row, (int)i) &&
		    utf8_length(cell[i]) > p->width[i]) {
			char *cut = without_middle(cell[i], p->width[i],
						   p->look->ellipsis ? p->look->ellipsis
								     : "...");
			free(cell[i]);
			cell[i] = cut;
		}
		rest[i] = cell[i];
	}
	while (print_line(p, row, rest))
		;
	for (size_t i = 0; i < n; i++)
		free(cell[i]);
	free(cell);
	free(rest);
}

/* A row as lines "COLUMN  VALUE". */
static void print_tall(const struct printing *p, int row, size_t names)
{
	size_t room = p->look->width > names + GAP + LEAST_VALUE ? p->look->width - names - GAP
								: LEAST_VALUE;

	for (int i = 0; i < table_ncol(p->t); i++) {
		char *name = shown_cell(p, -1, i), *value = shown_cell(p, row, i);
		const char *rest = value;

		put(p, TABLE_BOLD, name, strlen(name));
		for (size_t at = utf8_length(name); *rest; at = 0) {
			const char *text = rest;
			size_t bytes = line_length(text, room, &rest);

			put_spaces(p, names + GAP - at);
			put(p, colour_of(p, row, i), text, bytes);
			(void)fputs(*rest ? "\n" : "", p->f);
		}
		(void)fputc('\n', p->f);
		free(name);
		free(value);
	}
}

static void print_spared(const struct printing *p)
{
	const char *before = "(no room for ";

	for (int i = 0; i < table_ncol(p->t); i++) {
		if (!p->spared[i])
			continue;
		(void)fprintf(p->f, "%s%s", before, table_columns(p->t)[i].name);
		before = ", ";
	}
	(void)fputs(*before == ',' ? ")\n" : "", p->f);
}

void table_text_print(const struct table *t, FILE *f, const struct table_look *look)
{
	struct printing p = { .t = t, .look = look, .f = f };
	size_t names = 0;

	fit_columns(&p);
	for (int i = 0; i < table_ncol(t); i++) {
		char *name = shown_cell(&p, -1, i);

		names = utf8_length(name) > names ? utf8_length(name) : names;
		free(name);
	}
	for (int r = p.tall ? 0 : -1; r < table_nrow(t); r++)
		if (p.tall) {
			(void)fputs(r ? "\n" : "", f);
			print_tall(&p, r, names);
		} else {
			print_row(&p, r);
		}
	if (!p.tall)
		print_spared(&p);
	free(p.width);
	free(p.decimals);
	free(p.path);
	free(p.spared);
}
