/* work_figures.c - the figures of a new generation, as the Editor told them, for people
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/work/answer.h"
#include "manager/work/work.h"

/* Columns after path, generation and installed: the Editor's own figures, by name. */
static const struct table_column stat_column[] = {
	{ "samples", TABLE_REAL },
	{ "functions", TABLE_UINT },
	{ "functions_moved", TABLE_UINT },
	{ "hot_bytes", TABLE_BYTES },
	{ "fluff_bytes", TABLE_BYTES },
	{ "original_bytes", TABLE_BYTES },
	{ "exttsp_before", TABLE_REAL },
	{ "exttsp_after", TABLE_REAL },
	{ "file_bytes_before", TABLE_BYTES },
	{ "file_bytes_after", TABLE_BYTES },
	{ "jump_tables", TABLE_UINT },
	{ "jump_tables_new", TABLE_UINT },
	{ "calls_left_out", TABLE_UINT },
	{ "layout", TABLE_TEXT },
};
enum { NSTAT = sizeof(stat_column) / sizeof(stat_column[0]) };

/* What no figure is would be nothing that the store can give back. */
static double plain(double v)
{
	return isfinite(v) && v >= 0 ? v : -1;
}

double work_figure(const char *stats, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = stats; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == ' ')
			return plain(strtod(at + n, NULL));
	}
	return -1;
}

int work_open_share(const char *stats, double *out, struct err *err)
{
	*out = work_figure(stats, "open");
	return *out >= 0 && *out <= 1 ? 0 :
	       err_set(err, ERR_INPUT, "how much is left open is told wrongly");
}

/* The value of line "name value", "" when there is none. */
static void stat_value(const char *stats, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	out[0] = '\0';
	for (const char *at = stats; *at; ) {
		size_t line = strcspn(at, "\n");

		if (line > n + 1 && strncmp(at, name, n) == 0 && at[n] == ' ') {
			(void)snprintf(out, size, "%.*s", (int)(line - n - 1), at + n + 1);
			return;
		}
		at += line + (at[line] == '\n');
	}
}

void work_show_generation(struct answer *to, const char *path, const struct store_generation *g,
			  bool dry_run)
{
	struct table_column col[3 + NSTAT] = { { "path", TABLE_TEXT },
					       { "generation", TABLE_UINT },
					       { "installed", TABLE_BOOL } };
	char value[NSTAT][64], number[16];
	const char *cell[3 + NSTAT] = { path, number, dry_run ? "0" : "1" };

	memcpy(col + 3, stat_column, sizeof(stat_column));
	(void)snprintf(number, sizeof(number), "%" PRIu32, g->number);
	for (int i = 0; i < NSTAT; i++) {
		stat_value(g->stats, stat_column[i].name, value[i], sizeof(value[i]));
		cell[3 + i] = value[i];
	}
	struct table *t = table_new("reoptimized", 3 + NSTAT, col);
	table_row_text(t, cell);
	answer_table(to, t);
	table_free(t);
}
