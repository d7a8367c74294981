/* table.c - cells as text, and their two printed forms
 *
 * A cell is kept as raw text, whatever its type: so a table can be sent to another process and
 * printed there.  Types matter only for printing.
 *
 * What is printed is fit for terminals, and as JSON always well formed, whatever bytes the
 * cells, the titles and the names of the columns hold (lib/utf8.h).
 *
 * Tested by tests/unit/lib/test_table.c.
 */
#include "lib/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/memory.h"
#include "lib/utf8.h"

struct table {
	char *title;
	struct table_column *col;
	int ncol, nrow, cap;
	char **cell;			/* [nrow * ncol], raw text */
};

struct table *table_new(const char *title, int ncol, const struct table_column *col)
{
	struct table *t = memory_new(1, sizeof(*t));

	t->title = memory_need(strdup(title));
	t->col = memory_new((size_t)ncol, sizeof(*t->col));
	t->ncol = ncol;
	for (int i = 0; i < ncol; i++) {
		t->col[i].name = memory_need(strdup(col[i].name));
		t->col[i].type = col[i].type;
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (int i = 0; i < t->nrow * t->ncol; i++)
		free(t->cell[i]);
	for (int i = 0; i < t->ncol; i++)
		free((void *)(uintptr_t)t->col[i].name);	/* ours: made by strdup */
	free(t->cell);
	free(t->col);
	free(t->title);
	free(t);
}

static char **new_row(struct table *t)
{
	if (t->nrow == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		size_t n = (size_t)t->cap * (size_t)t->ncol;
		t->cell = memory_grow(t->cell, n, sizeof(*t->cell));
	}
	return t->cell + t->nrow++ * t->ncol;
}

void table_row(struct table *t, ...)
{
	char **row = new_row(t), buf[64];
	va_list ap;

	va_start(ap, t);
	for (int i = 0; i < t->ncol; i++) {
		const char *text = buf;

		switch (t->col[i].type) {
		case TABLE_TEXT:
			text = va_arg(ap, const char *);
			break;
		case TABLE_INT:
			(void)snprintf(buf, sizeof(buf), "%" PRId64, va_arg(ap, int64_t));
			break;
		case TABLE_REAL:
			(void)snprintf(buf, sizeof(buf), "%.6f", va_arg(ap, double));
			break;
		case TABLE_BOOL:
			(void)snprintf(buf, sizeof(buf), "%d", va_arg(ap, int) != 0);
			break;
		default:
			(void)snprintf(buf, sizeof(buf), "%" PRIu64, va_arg(ap, uint64_t));
		}
		row[i] = memory_need(strdup(text ? text : ""));
	}
	va_end(ap);
}

void table_row_text(struct table *t, const char *const *cell)
{
	char **row = new_row(t);

	for (int i = 0; i < t->ncol; i++)
		row[i] = memory_need(strdup(cell[i] ? cell[i] : ""));
}

int table_ncol(const struct table *t)
{
	return t->ncol;
}

const struct table_column *table_columns(const struct table *t)
{
	return t->col;
}

const char *table_title(const struct table *t)
{
	return t->title;
}

int table_nrow(const struct table *t)
{
	return t->nrow;
}

const char *table_cell(const struct table *t, int row, int col)
{
	return t->cell[row * t->ncol + col];
}

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

/* What JSON takes for a number: -12, 0.5, 1e-7; not +1, 012, 0x1, inf. */
static bool is_number(const char *raw)
{
	const char *at = raw + (*raw == '-');
	size_t digits = strspn(at, "0123456789");

	if (!digits || (digits > 1 && *at == '0'))
		return false;
	at += digits;
	if (*at == '.') {
		digits = strspn(++at, "0123456789");
		if (!digits)
			return false;
		at += digits;
	}
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '+' || at[1] == '-');
		digits = strspn(at, "0123456789");
		at += digits;
	}
	return digits && !*at;
}

static bool number_of(const char *raw, enum table_type type, uint64_t *u, double *d)
{
	char *end;

	if (!is_number(raw))
		return false;
	errno = 0;
	if (type == TABLE_REAL)
		*d = strtod(raw, &end);
	else
		*u = type == TABLE_INT ? (uint64_t)strtoll(raw, &end, 10)
				       : strtoull(raw, &end, 10);
	bool may_be_negative = type == TABLE_REAL || type == TABLE_INT;
	return *end == '\0' && !errno && (may_be_negative || *raw != '-');
}

/* What people see of a cell, malloc'd. */
static char *human(const char *raw, enum table_type type)
{
	char out[64];
	uint64_t u = 0;
	double d = 0;
	struct tm tm;

	if (type == TABLE_TEXT || !number_of(raw, type, &u, &d))
		return utf8_escaped(raw);
	time_t s = (time_t)(u / 1000000000);
	switch (type) {
	case TABLE_REAL:
		(void)snprintf(out, sizeof(out), "%.3f", d);	/* a cut number still tells */
		break;
	case TABLE_HEX:
		(void)snprintf(out, sizeof(out), "0x%" PRIx64, u);
		break;
	case TABLE_BYTES:
		table_human_bytes(u, out, sizeof(out));
		break;
	case TABLE_TIME:
		if (!u || !localtime_r(&s, &tm) ||
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

/* The text of a cell, or of a heading (row -1). */
static char *shown_cell(const struct table *t, int row, int col)
{
	return row < 0 ? utf8_escaped(t->col[col].name)
		       : human(table_cell(t, row, col), t->col[col].type);
}

static void print_padded(const char *text, size_t width, bool left, FILE *f)
{
	size_t n = utf8_length(text), pad = width > n ? width - n : 0;

	(void)fprintf(f, "%*s%s%*s", left ? 0 : (int)pad, "", text, left ? (int)pad : 0, "");
}

static void print_text(const struct table *t, FILE *f)
{
	size_t *width = memory_new((size_t)t->ncol, sizeof(*width));

	for (int r = -1; r < t->nrow; r++)
		for (int i = 0; i < t->ncol; i++) {
			char *text = shown_cell(t, r, i);
			size_t n = utf8_length(text);

			width[i] = n > width[i] ? n : width[i];
			free(text);
		}
	for (int r = -1; r < t->nrow; r++)
		for (int i = 0; i < t->ncol; i++) {
			bool left = t->col[i].type == TABLE_TEXT, last = i == t->ncol - 1;
			char *text = shown_cell(t, r, i);

			print_padded(text, left && last ? 0 : width[i], left, f);
			(void)fputs(last ? "\n" : "  ", f);
			free(text);
		}
	free(width);
}

/* A character of a string: as it is, or as an escape that means the same. */
static void json_character(FILE *f, const char *s, unsigned n, uint32_t c)
{
	if (c == '"' || c == '\\')
		(void)fprintf(f, "\\%c", (char)c);
	else if (utf8_is_shown(c))
		(void)fwrite(s, 1, n, f);
	else if (c < 0x10000)
		(void)fprintf(f, "\\u%04x", c);
	else
		(void)fprintf(f, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			      0xdc00 + (c & 0x3ff));
}

/* What is no UTF-8 is given as people see it: json_cell() gives its bytes besides. */
static void json_string(FILE *f, const char *text)
{
	char *escaped = utf8_valid(text) ? NULL : utf8_escaped(text);
	uint32_t c;

	(void)fputc('"', f);
	for (const char *s = escaped ? escaped : text; *s; ) {
		unsigned n = utf8_next(s, &c);

		assert(n);
		json_character(f, s, n, c);
		s += n;
	}
	(void)fputc('"', f);
	free(escaped);
}

static void json_value(FILE *f, const char *raw, enum table_type type)
{
	uint64_t u = 0;
	double d = 0;

	if (type == TABLE_TEXT || !number_of(raw, type, &u, &d))
		json_string(f, raw);
	else if (type == TABLE_HEX)
		(void)fprintf(f, "\"0x%" PRIx64 "\"", u);
	else if (type == TABLE_BOOL)
		(void)fputs(u ? "true" : "false", f);
	else
		(void)fputs(raw, f);		/* is_number() */
}

/* A member and its value.  A value that is no UTF-8 is told apart from a text that looks like
 * it by a member more, with all its bytes. */
static void json_cell(FILE *f, const char *name, const char *raw, enum table_type type)
{
	json_string(f, name);
	(void)fputs(": ", f);
	json_value(f, raw, type);
	if (utf8_valid(raw))
		return;
	char *member;
	if (asprintf(&member, "%s_hex", name) < 0)
		memory_exhausted();
	(void)fputs(", ", f);
	json_string(f, member);
	free(member);
	(void)fputs(": \"", f);
	for (; *raw; raw++)
		(void)fprintf(f, "%02x", (uint8_t)*raw);
	(void)fputc('"', f);
}

static void print_json_member(const struct table *t, FILE *f)
{
	json_string(f, t->title);
	(void)fputs(": [", f);
	for (int r = 0; r < t->nrow; r++) {
		(void)fputs(r ? ",\n  {" : "\n  {", f);
		for (int i = 0; i < t->ncol; i++) {
			(void)fputs(i ? ", " : "", f);
			json_cell(f, t->col[i].name, table_cell(t, r, i), t->col[i].type);
		}
		(void)fputc('}', f);
	}
	(void)fputs(t->nrow ? "\n]" : "]", f);
}

static void print_title(const struct table *t, bool first, FILE *f)
{
	char *title = utf8_escaped(t->title);

	(void)fprintf(f, "%s%s\n", first ? "" : "\n", title);
	free(title);
}

void table_print_all(struct table *const *t, int n, FILE *f, bool json)
{
	if (json)
		(void)fputc('{', f);
	for (int i = 0; i < n; i++) {
		if (json) {
			(void)fputs(i ? ",\n" : "", f);
			print_json_member(t[i], f);
		} else {
			if (n > 1)
				print_title(t[i], i == 0, f);
			print_text(t[i], f);
		}
	}
	if (json)
		(void)fputs("}\n", f);
}

void table_print(const struct table *t, FILE *f, bool json)
{
	struct table *one = (struct table *)(uintptr_t)t;	/* only read */

	table_print_all(&one, 1, f, json);
}
