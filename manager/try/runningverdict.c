/* runningverdict.c - what came out of a trial of a process: a table, one sentence, what to type
 *
 * Tested by tests/e2e/trypid.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "lib/table.h"
#include "manager/try/running.h"

int running_code(const struct running *t)
{
	return ratio_has_interval(&t->ratio) && t->ratio.low > 1 ? TRY_FASTER : TRY_NOT_FASTER;
}

/* The cells of a module's row, or with NULL of the process's. */
static void print_row(struct table *table, const struct running_module *m, const char *speed)
{
	char share[32], moved[32] = "", functions[32] = "";

	(void)snprintf(share, sizeof(share), "%.1f", m ? 100 * m->share : 100.0);
	if (m && m->why.kind == ERR_NONE) {	/* both fit */
		(void)snprintf(moved, sizeof(moved), "%" PRIu64, m->made.moved);
		(void)snprintf(functions, sizeof(functions), "%" PRIu64, m->made.functions);
	}
	const char *const cell[] = { m ? m->path : "the whole process", share, moved,
				     functions, speed };

	table_row_text(table, cell);
}

static struct table *module_table(const struct running *t)
{
	static const struct table_column col[] = {
		{ "module", TABLE_TEXT },    { "share_pct", TABLE_REAL },
		{ "moved", TABLE_UINT },     { "functions", TABLE_UINT },
		{ "speed", TABLE_TEXT },
	};
	struct table *table = table_new("try", sizeof(col) / sizeof(col[0]), col);
	char speed[64];

	ratio_text(&t->ratio, speed);
	for (unsigned i = 0; i < t->nmodule; i++)
		print_row(table, &t->module[i], "");
	print_row(table, NULL, speed);
	return table;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* *median, *most: milliseconds that it stood still for one swap. */
static void pauses(const struct running *t, double *median, double *most)
{
	uint64_t us[RUNNING_SWAPS];
	unsigned n = t->nswap < RUNNING_SWAPS ? t->nswap : RUNNING_SWAPS;

	memcpy(us, t->pause_us, sizeof(us));
	qsort(us, n, sizeof(us[0]), by_size);
	*median = n ? (double)us[n / 2] / 1000 : 0;
	*most = n ? (double)us[n - 1] / 1000 : 0;
}

static void say_verdict(const struct running *t, char *out, size_t size)
{
	const struct ratio *r = &t->ratio;
	char speed[64];

	ratio_text(r, speed);
	if (!ratio_has_interval(r))
		(void)snprintf(out, size, "pairs of turns: %u, which are too few: --time=%.0f",
			       r->n, ratio_time_needed(t->before_s, t->pair_s));
	else
		(void)snprintf(out, size, "%s, proven%s; %s", speed,
			       ratio_judgement(r),
			       t->in ? "left in" : "taken out again");
}

/* As a table of one row, for programs. */
static struct table *verdict_table(const struct running *t, const char *sentence)
{
	static const struct table_column col[] = {
		{ "ratio", TABLE_REAL },    { "low", TABLE_REAL },
		{ "high", TABLE_REAL },     { "pairs", TABLE_UINT },
		{ "work", TABLE_TEXT },     { "swaps", TABLE_UINT },
		{ "pause_ms", TABLE_REAL }, { "pause_max_ms", TABLE_REAL },
		{ "kept", TABLE_BOOL },     { "faster", TABLE_BOOL },
		{ "text", TABLE_TEXT },
	};
	struct table *table = table_new("verdict", sizeof(col) / sizeof(col[0]), col);
	const struct ratio *r = &t->ratio;
	bool known = ratio_has_interval(r);
	double median, most;

	pauses(t, &median, &most);
	table_row(table, known ? r->estimate : 0.0, known ? r->low : 0.0,
		  known ? r->high : 0.0, (uint64_t)r->n, procwork_unit[t->kind],
		  (uint64_t)t->nswap, median, most, (int)t->in,
		  (int)(running_code(t) == TRY_FASTER), sentence);
	return table;
}

static void print_more(const struct running *t)
{
	double median, most;

	pauses(t, &median, &most);
	for (unsigned i = 0; i < t->nmodule; i++)
		if (t->module[i].why.kind != ERR_NONE)
			say_line(stdout, "left as it is: %s: %s", t->module[i].path,
				 t->module[i].why.text);
	say_line(stdout, "CPU time for each %s, in %u pairs of turns of %.1f s; %u swaps, for "
		 "which it stood still for %.1f ms (median; %.1f ms at most)",
		 procwork_unit[t->kind], t->ratio.n, t->turn_s, t->nswap, median, most);
}

void running_verdict(const struct running *t)
{
	struct table *table[2] = { module_table(t) };
	char text[256];

	say_verdict(t, text, sizeof(text));
	table[1] = verdict_table(t, text);
	const struct table_look *look = &t->o->look;

	table_show_all(table, look->json ? 2 : 1, stdout, look);
	if (!look->json) {
		print_more(t);
		say_line(stdout, "%s (process %d): %s", t->name, (int)t->o->pid, text);
		if (t->in)
			say_line(stdout, "to take it out: sudo morphctl live --off %d",
				 (int)t->o->pid);
		else if (running_code(t) == TRY_FASTER)
			say_line(stdout, "to have it until the process ends: sudo morphctl "
				 "live %d", (int)t->o->pid);
	}
	table_free(table[0]);
	table_free(table[1]);
}
