/* columns.c - which columns, and rows, people see without --wide; see columns.h
 *
 * Tested by tests/e2e/terminal.sh.
 */
#include "manager/ctl/columns.h"

#include <stddef.h>
#include <string.h>

#include "lib/table.h"

enum { MOST = 8 };

/* In the table's own order. */
static const struct {
	const char *title, *name[MOST + 1];
} usual[] = {
	{ "modules", { "path", "samples", "generation", "state", "speed" } },
	{ "saved", { "path", "cpu_s", "times_as_fast", "saved_s", "low_s", "high_s" } },
	{ "reasons", { "reason", "functions", "bytes" } },
	{ "unmeasured", { "path", "generation", "cpu_s", "why" } },
	{ "reoptimized", { "path", "generation", "installed", "samples", "functions",
			   "functions_moved" } },
};

static const char *const *usual_of(const char *title)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(usual[i].title, title) == 0)
			return usual[i].name;
	return NULL;
}

static const struct {
	const char *title, *name[MOST];
} spare[] = {
	{ "modules", { "cumulative_pct" } },	/* where it also has callees */
	{ "procedures", { "entry", "size_bytes", "cumulative_pct", "share_pct" } },
	{ "lines", { "cumulative_pct" } },
	{ "functions", { "cumulative_pct" } },
	{ "callers", { "called_by_module" } },
	{ "blocks", { "per_instruction", "size_bytes" } },
	{ "instructions", { "executions", "best_cycles", "source" } },
	{ "stats", { "min", "max", "range_pct", "share_pct" } },
	{ "diff", { "before_pct", "after_pct" } },
};

const char *const *columns_spare(const char *title)
{
	for (size_t i = 0; i < sizeof(spare) / sizeof(spare[0]); i++)
		if (strcmp(spare[i].title, title) == 0)
			return spare[i].name;
	return NULL;
}

/* What tells people nothing: counters that count nothing, and among the reasons why functions
 * are left as they are those that are not.  Rows of these tables with that in that column. */
static const struct {
	const char *title, *column, *value;
} needless[] = {
	{ "samples", "count", "0" }, { "cpu_time", "samples", "0" },
	{ "reasons", "reason_code", "none" },
};

static void leave_out(struct table **t, const char *column, const char *value)
{
	int by = table_column_of(*t, column), ncol = table_ncol(*t);
	const char *cell[MOST];

	if (by < 0 || ncol > MOST)
		return;			/* another table of this title */
	struct table *out = table_new(table_title(*t), ncol, table_columns(*t));
	for (int row = 0; row < table_nrow(*t); row++) {
		for (int i = 0; i < ncol; i++)
			cell[i] = table_cell(*t, row, i);
		if (strcmp(cell[by], value) != 0)
			table_row_text(out, cell);
	}
	table_free(*t);
	*t = out;
}

bool columns_for_programs(const struct table *t)
{
	return strcmp(table_title(t), "values") == 0;
}

void columns_choose(struct table **t)
{
	const char *const *name = usual_of(table_title(*t));
	struct table_column chosen[MOST];
	const char *cell[MOST];
	int from[MOST], n = 0;

	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (strcmp(table_title(*t), needless[i].title) == 0)
			leave_out(t, needless[i].column, needless[i].value);
	const struct table_column *col = table_columns(*t);
	for (int i = 0; name && i < table_ncol(*t) && name[n]; i++)
		if (strcmp(col[i].name, name[n]) == 0) {
			from[n] = i;
			chosen[n++] = col[i];
		}
	if (!name || name[n])
		return;			/* another table of this title */
	struct table *out = table_new(table_title(*t), n, chosen);
	for (int row = 0; row < table_nrow(*t); row++) {
		for (int i = 0; i < n; i++)
			cell[i] = table_cell(*t, row, from[i]);
		table_row_text(out, cell);
	}
	table_free(*t);
	*t = out;
}
