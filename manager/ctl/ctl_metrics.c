/* ctl_metrics.c - morphctl metrics: what the daemon knows, as OpenMetrics text
 *
 * The form is that of the OpenMetrics specification, 1.0: families of metrics, each with its
 * kind and a sentence, and `# EOF`; or Prometheus' own of before, in which a counter's family
 * is named with its _total: node_exporter's textfile collector takes that alone.  Figures are
 * those of `status`, `list`, `history` and `saved`, of modules that the caller may see.
 *
 * Tested by tests/e2e/metrics.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"
#include "lib/table.h"
#include "lib/utf8.h"
#include "lib/wr.h"
#include "manager/ctl/ctl.h"

/* A family of metrics: the cells of one column of a table, by the text of another. */
static const struct family {
	const char *table, *column, *by;	/* by NULL: the table has one row */
	const char *name, *kind, *help;
} families[] = {
	{ "samples", "count", "kind", "morph_samples", "counter",
	  "What has become of samples, and what else was counted with them." },
	{ "cpu_time", "samples", "where", "morph_cpu_time_samples", "gauge",
	  "Samples of the last 30 days, by what they are in and whether that can move." },
	{ "cpu_time", "share_pct", "where", "morph_cpu_time_percent", "gauge",
	  "Their shares of all of these samples." },
	{ "monitor", "samples", NULL, "morph_monitor_samples", "counter",
	  "Samples that the monitor has taken since it started." },
	{ "monitor", "events", NULL, "morph_monitor_events", "counter",
	  "Events of processes since the monitor started." },
	{ "monitor", "lost", NULL, "morph_monitor_lost", "counter",
	  "Records that the kernel had no room for since the monitor started." },
	{ "monitor", "throttled", NULL, "morph_monitor_throttled", "counter",
	  "Times that the kernel held sampling down since the monitor started." },
	{ "monitor", "samples_dropped", NULL, "morph_monitor_samples_dropped", "counter",
	  "Samples that were dropped from the spool for space since the monitor started." },
	{ "monitor", "spool_bytes", NULL, "morph_monitor_spool_bytes", "counter",
	  "Bytes that were written to the spool since the monitor started." },
	{ "roles", "resident_bytes", "role", "morph_role_resident_bytes", "gauge",
	  "Memory of the daemon's processes." },
	{ "roles", "starts", "role", "morph_role_starts", "counter",
	  "How often a part of the daemon was started." },
	{ "idle", "idle", "condition", "morph_idle", "gauge",
	  "1 if the machine is idle by that condition." },
	{ "modules", "samples", "path", "morph_module_samples", "gauge",
	  "Samples in the blocks of a module, which fade." },
	{ "modules", "generation", "path", "morph_module_generation", "gauge",
	  "Number of the generation that is at the path, 0: the original." },
	{ "modules", "processes", "path", "morph_module_processes", "gauge",
	  "Running processes that have a generation of the module mapped in." },
	{ "in_all", "cpu_s", "what", "morph_cpu_seconds", "gauge",
	  "CPU time that generations have saved as far as it is measured, that Morph has taken "
	  "(cost), and what is left of the one without the other." },
	{ "saved", "saved_s", "path", "morph_module_saved_seconds", "gauge",
	  "CPU time that generations of a module have saved, where it is measured." },
	{ "cost", "cpu_s", "what", "morph_cost_seconds", "counter",
	  "CPU time that Morph has taken; that of interrupts and counting is estimated." },
};
enum { NFAMILY = sizeof(families) / sizeof(families[0]) };

static bool prometheus;		/* in its older form */

static void put_help(struct wr *out, const char *name, const char *kind, const char *help)
{
	const char *total = prometheus && strcmp(kind, "counter") == 0 ? "_total" : "";
	const char *const word[] = { "# TYPE ", name, total, " ", kind, "\n# HELP ", name,
				     total, " ", help, "\n", NULL };

	for (int i = 0; word[i]; i++)
		wr_text(out, word[i]);
}

/* Within quotes. */
static void put_label(struct wr *out, const char *text)
{
	char *shown = utf8_escaped(text);

	for (const char *s = shown; *s; s++) {
		if (*s == '"' || *s == '\\')
			wr_u8(out, '\\');
		wr_u8(out, (uint8_t)*s);
	}
	free(shown);
}

static void put_sample(struct wr *out, const char *name, const char *kind, const char *by,
		       const char *label, const char *value)
{
	wr_text(out, name);
	if (strcmp(kind, "counter") == 0)
		wr_text(out, "_total");
	if (by) {
		wr_text(out, "{");
		wr_text(out, by);
		wr_text(out, "=\"");
		put_label(out, label);
		wr_text(out, "\"}");
	}
	wr_text(out, " ");
	wr_text(out, value);
	wr_text(out, "\n");
}

/* A plain decimal: what is none is no sample. */
static bool is_number(const char *s)
{
	char *end;

	s += *s == '-';
	if (!*s || strspn(s, "0123456789.") != strlen(s))
		return false;
	(void)strtod(s, &end);
	return !*end;
}

static bool is_repeated(const struct table *t, int row, int by)
{
	for (int i = 0; by >= 0 && i < row; i++)
		if (strcmp(table_cell(t, i, by), table_cell(t, row, by)) == 0)
			return true;
	return by < 0 && row > 0;
}

static void put_family(struct wr *out, const struct family *f, const struct table *t)
{
	int value = table_column_of(t, f->column);
	int by = f->by ? table_column_of(t, f->by) : -1;

	if (value < 0 || (f->by && by < 0))
		return;
	put_help(out, f->name, f->kind, f->help);
	for (int i = 0; i < table_nrow(t); i++)
		if (is_number(table_cell(t, i, value)) && !is_repeated(t, i, by))
			put_sample(out, f->name, f->kind, f->by,
				   by < 0 ? NULL : table_cell(t, i, by),
				   table_cell(t, i, value));
}

/* How many rows have each text in a column. */
static void put_numbers(struct wr *out, const struct table *t, const char *column,
			const char *name, const char *help)
{
	int by = table_column_of(t, column);
	char value[16];

	if (by < 0)
		return;
	put_help(out, name, "gauge", help);
	for (int i = 0; i < table_nrow(t); i++) {
		int n = 0;

		if (is_repeated(t, i, by))
			continue;
		for (int k = i; k < table_nrow(t); k++)
			n += strcmp(table_cell(t, k, by), table_cell(t, i, by)) == 0;
		(void)snprintf(value, sizeof(value), "%d", n);	/* fits */
		put_sample(out, name, "gauge", column, table_cell(t, i, by), value);
	}
}

static void put_tables(struct wr *out, const struct ctl_tables *t)
{
	for (int i = 0; i < t->n; i++) {
		const char *title = table_title(t->at[i]);

		for (int k = 0; k < NFAMILY; k++)
			if (strcmp(families[k].table, title) == 0)
				put_family(out, &families[k], t->at[i]);
		if (strcmp(title, "modules") == 0)
			put_numbers(out, t->at[i], "state", "morph_modules",
				    "Modules that are known, by their state.");
		if (strcmp(title, "history") == 0)
			put_numbers(out, t->at[i], "event", "morph_history_events",
				    "What was done to modules, as far as the history has it.");
	}
}

int ctl_metrics(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const request[] = { "status", "list", "history", "saved" };
	enum { NREQUEST = sizeof(request) / sizeof(request[0]) };
	struct ctl quiet = *ctl;	/* cron would send mail */
	struct wr out = { 0 };
	struct err err = { 0 };
	int code = 0;

	quiet.quiet = true;
	prometheus = argc > 1 && strcmp(argv[1], "--prometheus") == 0;
	for (int i = 0; i < NREQUEST && code == 0; i++) {
		struct ctl_tables t;

		code = ctl_fetch(&quiet, 1, &request[i], &t);
		if (code == 0)
			put_tables(&out, &t);
		ctl_tables_free(&t);
	}
	if (!prometheus)
		wr_text(&out, "# EOF\n");
	if (code == 0 && io_write_all(STDOUT_FILENO, out.p, out.n, &err) < 0) {
		say_line(stderr, "morphctl: standard output: %s", err.text);
		code = 1;
	}
	wr_free(&out);
	return code;
}
