/* verdict.c - what came out of a trial: a table, one sentence, what to type */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/table.h"
#include "manager/try/trial.h"

static bool has_interval(const struct ratio *r)
{
	return r->n && isfinite(r->high) && r->low > 0;
}

static void ratio_text(const struct ratio *r, char out[64])
{
	if (has_interval(r))
		(void)snprintf(out, 64, "%.3f (%.3f to %.3f)", r->estimate, r->low,
			       r->high);	/* fits */
	else
		(void)snprintf(out, 64, "not known");
}

/* The cells of a module's row, or with NULL of the command's. */
static void print_row(struct table *table, const struct trial *t, const struct trial_module *m,
		      const char *speed)
{
	char share[32], moved[32] = "", functions[32] = "", taken[32] = "", after[32] = "";
	const char *profile = "";

	(void)snprintf(share, sizeof(share), "%.1f", m ? 100 * m->share : 100.0);
	if (m)
		profile = m->why.kind != ERR_NONE ? m->why.text : m->counted ? "counted"
									     : "samples";
	if (m && m->why.kind == ERR_NONE) {	/* all of these fit */
		(void)snprintf(moved, sizeof(moved), "%" PRIu64, m->moved);
		(void)snprintf(functions, sizeof(functions), "%" PRIu64, m->functions);
		(void)snprintf(taken, sizeof(taken), "%.0f", m->taken_before);
		(void)snprintf(after, sizeof(after), "%.0f", m->taken_after);
	}
	table_row_text(table, (const char *const[]){ m ? m->path : t->o->argv[0], share, moved,
						     functions, taken, after, profile,
						     speed });
}

static void print_table(const struct trial *t)
{
	static const struct table_column col[] = {
		{ "module", TABLE_TEXT },    { "share_pct", TABLE_REAL },
		{ "moved", TABLE_UINT },     { "functions", TABLE_UINT },
		{ "taken", TABLE_UINT },     { "taken_new", TABLE_UINT },
		{ "profile", TABLE_TEXT },   { "speed", TABLE_TEXT },
	};
	struct table *table = table_new("try", sizeof(col) / sizeof(col[0]), col);
	char speed[64];

	ratio_text(&t->ratio, speed);
	for (unsigned i = 0; i < t->nmodule; i++)
		print_row(table, t, &t->module[i], "");
	print_row(table, t, NULL, speed);
	table_print(table, stdout, t->o->json);
	table_free(table);
}

int trial_verdict(const struct trial *t)
{
	const struct ratio *r = &t->ratio;
	bool faster = has_interval(r) && r->low > 1;
	char speed[64];

	ratio_text(r, speed);
	print_table(t);
	if (t->same == SAME_NO)
		say_line(stdout, "%s: not the same: %s differs", trial_names(t), t->differs);
	else if (t->same == SAME_UNKNOWN)
		say_line(stdout, "%s: the original itself differs from run to run (%s), so "
			 "nothing can be said", trial_names(t), t->differs);
	else if (!has_interval(r))
		say_line(stdout, "%s: %u pairs of runs are too few, %u are needed: "
			 "--time gives more", trial_names(t), r->n, ratio_least());
	else
		say_line(stdout, "%s: %s%s, same output, proven", trial_names(t), speed,
			 faster ? "" :
			 r->high < 1 ? ": slower" : ": cannot be told apart from 1");
	if (faster && t->same == SAME_YES)
		for (unsigned i = 0; i < t->nmodule; i++)
			if (t->module[i].why.kind == ERR_NONE)
				say_line(stdout, "to have it always, with morphd running: "
					 "sudo morphctl reoptimize %s", t->module[i].path);
	return faster && t->same == SAME_YES ? TRY_FASTER : TRY_NOT_FASTER;
}
