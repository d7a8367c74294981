/* table.c - columns, and cells as text
 *
 * A cell is kept as raw text, whatever its type: so a table can be sent to another process and
 * printed there.  Types matter only for printing: tableprint.c, tabletext.c.
 *
 * Tested by tests/unit/lib/test_table.c.
 */
#include "lib/table_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void real(double d, char *out, size_t n)
{
	if (isnan(d))
		out[0] = 0;
	else
		(void)snprintf(out, n, "%.6f", d);
}

void table_row(struct table *t, ...)
{
	char **row = new_row(t), buf[64];
	uint64_t number;
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
		case TABLE_FIGURE:
			real(va_arg(ap, double), buf, sizeof(buf));
			break;
		case TABLE_BOOL:
			(void)snprintf(buf, sizeof(buf), "%d", va_arg(ap, int) != 0);
			break;
		default:
			number = va_arg(ap, uint64_t);
			(void)snprintf(buf, sizeof(buf), "%" PRIu64, number);
			if (t->col[i].type == TABLE_TIME && !number)
				buf[0] = '\0';	/* never */
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

int table_column_of(const struct table *t, const char *name)
{
	for (int i = 0; i < t->ncol; i++)
		if (strcmp(t->col[i].name, name) == 0)
			return i;
	return -1;
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

bool table_number_of(const char *raw, enum table_type type, uint64_t *u, double *d)
{
	char *end;

	if (!is_number(raw))
		return false;
	bool real = type == TABLE_REAL || type == TABLE_FIGURE;

	errno = 0;
	if (real)
		*d = strtod(raw, &end);
	else
		*u = type == TABLE_INT ? (uint64_t)strtoll(raw, &end, 10)
				       : strtoull(raw, &end, 10);
	return *end == '\0' && !errno && (real || type == TABLE_INT || *raw != '-');
}
