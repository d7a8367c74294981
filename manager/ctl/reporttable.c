/* reporttable.c - evidence added up, as the tables of report
 *
 * Tested by tests/e2e/reports.sh.
 */
#include "manager/ctl/reporttable.h"

#include <inttypes.h>
#include <stdlib.h>

#include "manager/report/callers.h"

enum { COLUMNS = 10 };

enum { BY_COUNT, BY_NAME, BY_CALLEES };
const char *const reporttable_sort[] = { "count", "name", "callees", NULL };

bool reporttable_is_by_callees(const struct ctl_evidence *o)
{
	return ctl_evidence_sort(o->sort, reporttable_sort) == BY_CALLEES;
}

static int by_name(const void *a, const void *b)
{
	return rows_compare(a, b);
}

/* Titles are plurals, as those of the daemon's tables. */
static const char *const title[NROWS_BY] = {
	[ROWS_MACHINE] = "machine", [ROWS_PROGRAM] = "programs", [ROWS_MODULE] = "modules",
	[ROWS_PROCEDURE] = "procedures", [ROWS_LINE] = "lines", [ROWS_INLINED] = "functions",
};

struct printer {
	const struct evidence *e;
	const struct ctl_evidence *o;
	struct rows rows;
	double cumulative;
	struct table *t;
};

/* The cells as table_row_text() takes them. */
static void put_row(struct printer *p, const struct row *row)
{
	double pct = ctl_evidence_percent(row->count, p->rows.total);
	const char *cell[COLUMNS];
	struct arena *a = p->e->arena;
	int n = 0;

	p->cumulative += row->count;
	if (p->rows.by >= ROWS_PROCEDURE)
		cell[n++] = row->module;
	cell[n++] = row->what;
	if (p->rows.by == ROWS_LINE || p->rows.by == ROWS_INLINED)
		cell[n++] = row->in;
	cell[n++] = arena_printf(a, "%.6f", row->count);
	cell[n++] = arena_printf(a, "%.6f", pct);
	cell[n++] = arena_printf(a, "%.6f",
				 ctl_evidence_percent(p->cumulative, p->rows.total));
	if (p->rows.callees) {
		cell[n++] = arena_printf(a, "%.6f", row->callees);
		cell[n++] = arena_printf(a, "%.6f",
					 ctl_evidence_percent(row->callees, p->e->total));
	}
	if (p->rows.by == ROWS_PROCEDURE) {	/* 0: not known, as of the kernel's */
		cell[n++] = row->entry ? arena_printf(a, "%" PRIu64, (uint64_t)row->entry) : "";
		cell[n++] = row->entry ? arena_printf(a, "%" PRIu64, row->size) : "";
	}
	table_row_text(p->t, cell);
}

static struct table *new_table(const struct printer *p)
{
	struct table_column col[COLUMNS];
	enum rows_by by = p->rows.by;
	int n = ctl_evidence_columns(by, col);

	col[n++] = (struct table_column){ ctl_evidence_unit(p->e), TABLE_REAL };
	col[n++] = (struct table_column){ "share_pct", TABLE_REAL };
	col[n++] = (struct table_column){ "cumulative_pct", TABLE_REAL };
	if (p->rows.callees) {
		col[n++] = (struct table_column){ "with_callees", TABLE_REAL };
		col[n++] = (struct table_column){ "with_callees_pct", TABLE_REAL };
	}
	if (by == ROWS_PROCEDURE) {
		col[n++] = (struct table_column){ "entry", TABLE_HEX };
		col[n++] = (struct table_column){ "size_bytes", TABLE_UINT };
	}
	return table_new(title[by], n, col);
}

/* Most first; those that are left out together are the last row. */
struct table *reporttable_by(const struct evidence *e, const struct ctl_evidence *o,
			     enum rows_by by)
{
	struct row rest = { .module = "", .what = "[all others]", .in = "" };
	struct printer p = { .e = e, .o = o };

	rows_make(e, by, o->module, &p.rows);
	if (reporttable_is_by_callees(o))
		rows_sort_by_callees(&p.rows);
	uint32_t n = p.rows.n < o->limit ? p.rows.n : o->limit;
	p.t = new_table(&p);
	for (uint32_t i = n; i < p.rows.n; i++)
		rest.count += p.rows.at[i].count;
	if (p.rows.callees)
		rest.callees = rows_callees_of_rest(e, &p.rows, n);
	if (ctl_evidence_sort(o->sort, reporttable_sort) == BY_NAME && n)
		qsort(p.rows.at, n, sizeof(*p.rows.at), by_name);
	for (uint32_t i = 0; i < n; i++)
		put_row(&p, &p.rows.at[i]);
	if (n < p.rows.n)
		put_row(&p, &rest);
	return p.t;
}

struct table *reporttable_callers(const struct evidence *e, const struct ctl_evidence *o)
{
	const struct table_column col[] = {
		{ "module", TABLE_TEXT }, { "procedure", TABLE_TEXT },
		{ "called_by_module", TABLE_TEXT }, { "called_by", TABLE_TEXT },
		{ e->executions ? "calls" : "samples", TABLE_REAL },
		{ "share_pct", TABLE_REAL },
	};
	struct table *t = table_new("callers", 6, col);
	struct callers c;

	callers_make(e, o->module, &c);
	for (uint32_t i = 0; i < c.n && i < o->limit; i++)
		table_row(t, c.at[i].module, c.at[i].procedure, c.at[i].by_module, c.at[i].by,
			  c.at[i].count, ctl_evidence_percent(c.at[i].count, c.whole));
	return t;
}

struct table *reporttable_about(const struct evidence *e)
{
	const struct table_column col[] = {
		{ "clock", TABLE_TEXT }, { ctl_evidence_unit(e), TABLE_REAL },
		{ "period_ms", TABLE_REAL }, { "length_s", TABLE_REAL },
		{ "lost", TABLE_UINT },
	};
	struct table *t = table_new("recording", 5, col);

	table_row(t, e->clock, e->total, (double)e->period_ns / 1e6, (double)e->length_ns / 1e9,
		  e->lost);
	return t;
}
