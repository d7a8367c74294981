/* table.c - cells as text, and their two printed forms
 *
 * A cell is kept as raw text, whatever its type: so a table can be sent to another process and
 * printed there.  Types matter only for printing.
 */
#include "lib/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/memory.h"

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

static bool number_of(const char *raw, enum table_type type, uint64_t *u, double *d)
{
	char *end;

	if (!*raw)
		return false;
	if (type == TABLE_REAL)
		*d = strtod(raw, &end);
	else
		*u = type == TABLE_INT ? (uint64_t)strtoll(raw, &end, 10)
				       : strtoull(raw, &end, 10);
	return *end == '\0';
}

/* What people see of a cell.  Control characters become '?': a path is somebody else's text. */
static void human(const char *raw, enum table_type type, char *out, size_t n)
{
	uint64_t u = 0;
	double d = 0;
	struct tm tm;

	if (type == TABLE_TEXT || !number_of(raw, type, &u, &d)) {
		(void)snprintf(out, n, "%s", raw);	/* a cut cell still tells */
		for (char *c = out; *c; c++)
			if ((unsigned char)*c < 0x20 || *c == 0x7f)
				*c = '?';
		return;
	}
	time_t s = (time_t)(u / 1000000000);
	switch (type) {
	case TABLE_REAL:
		(void)snprintf(out, n, "%.3f", d);
		break;
	case TABLE_HEX:
		(void)snprintf(out, n, "0x%" PRIx64, u);
		break;
	case TABLE_BYTES:
		table_human_bytes(u, out, n);
		break;
	case TABLE_TIME:
		if (!u || !localtime_r(&s, &tm) || !strftime(out, n, "%Y-%m-%d %H:%M:%S", &tm))
			(void)snprintf(out, n, "-");
		break;
	case TABLE_BOOL:
		(void)snprintf(out, n, "%s", u ? "yes" : "no");
		break;
	default:
		(void)snprintf(out, n, "%s", raw);
	}
}

static void print_text(const struct table *t, FILE *f)
{
	int *width = memory_new((size_t)t->ncol, sizeof(*width));
	char buf[4200];

	for (int i = 0; i < t->ncol; i++)
		width[i] = (int)strlen(t->col[i].name);
	for (int r = 0; r < t->nrow; r++)
		for (int i = 0; i < t->ncol; i++) {
			human(table_cell(t, r, i), t->col[i].type, buf, sizeof(buf));
			if ((int)strlen(buf) > width[i])
				width[i] = (int)strlen(buf);
		}
	for (int r = -1; r < t->nrow; r++)
		for (int i = 0; i < t->ncol; i++) {
			bool left = t->col[i].type == TABLE_TEXT, last = i == t->ncol - 1;

			if (r < 0)
				(void)snprintf(buf, sizeof(buf), "%s", t->col[i].name);
			else
				human(table_cell(t, r, i), t->col[i].type, buf, sizeof(buf));
			(void)fprintf(f, "%*s%s", left ? (last ? 0 : -width[i]) : width[i], buf,
				      last ? "\n" : "  ");
		}
	free(width);
}

static void json_string(FILE *f, const char *s)
{
	(void)fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			(void)fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(f, "\\u%04x", c);
		else
			(void)fputc(c, f);
	}
	(void)fputc('"', f);
}

static void json_cell(FILE *f, const char *raw, enum table_type type)
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
		(void)fputs(raw, f);
}

static void print_json_member(const struct table *t, FILE *f)
{
	json_string(f, t->title);
	(void)fputs(": [", f);
	for (int r = 0; r < t->nrow; r++) {
		(void)fputs(r ? ",\n  {" : "\n  {", f);
		for (int i = 0; i < t->ncol; i++) {
			(void)fputs(i ? ", " : "", f);
			json_string(f, t->col[i].name);
			(void)fputs(": ", f);
			json_cell(f, table_cell(t, r, i), t->col[i].type);
		}
		(void)fputc('}', f);
	}
	(void)fputs(t->nrow ? "\n]" : "]", f);
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
				(void)fprintf(f, "%s%s\n", i ? "\n" : "", t[i]->title);
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
