/* verdict.c - what came out of a trial: a table, one sentence, what to type */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/table.h"
#include "manager/try/trial.h"

/* Of what is left as it is. */
static const double shown_share = 0.01;

int trial_code(const struct trial *t)
{
	return t->same == SAME_YES && ratio_has_interval(&t->ratio) && t->ratio.low > 1
		       ? TRY_FASTER
		       : TRY_NOT_FASTER;
}

/* The cells of a module's row, or with NULL of the command's. */
static void print_row(struct table *table, const struct trial_module *m, const char *speed)
{
	char share[32], moved[32] = "", functions[32] = "", taken[32] = "", after[32] = "";
	const char *profile = "";

	(void)snprintf(share, sizeof(share), "%.1f", m ? 100 * m->share : 100.0);
	if (m && m->why.kind == ERR_NONE) {	/* all of these fit */
		profile = m->counted ? "counted" : "samples";
		(void)snprintf(moved, sizeof(moved), "%" PRIu64, m->moved);
		(void)snprintf(functions, sizeof(functions), "%" PRIu64, m->functions);
		(void)snprintf(taken, sizeof(taken), "%.0f", m->taken_before);
		(void)snprintf(after, sizeof(after), "%.0f", m->taken_after);
	}
	const char *const cell[] = { m ? m->path : "the whole command", share, moved, functions,
				     taken, after, profile, speed };

	table_row_text(table, cell);
}

static struct table *module_table(const struct trial *t)
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
		if (t->module[i].why.kind == ERR_NONE || t->module[i].share >= shown_share)
			print_row(table, &t->module[i], "");
	print_row(table, NULL, speed);
	return table;
}

/* Messages of tools begin with the path, too. */
static const char *reason(const struct trial_module *m)
{
	size_t n = strlen(m->path);
	const char *text = m->why.text;

	return text[0] == '\'' && strncmp(text + 1, m->path, n) == 0 &&
			       strncmp(text + 1 + n, "': ", 3) == 0 ? text + n + 4 : text;
}

static void print_left(const struct trial *t)
{
	for (unsigned i = 0; i < t->nmodule; i++) {
		const struct trial_module *m = &t->module[i];

		if (m->why.kind != ERR_NONE && m->share >= shown_share)
			say_line(stdout, "left as it is: %s: %s", m->path, reason(m));
	}
}

static void say_verdict(const struct trial *t, char *out, size_t size)
{
	const struct ratio *r = &t->ratio;
	char speed[64];

	ratio_text(r, speed);
	if (t->same == SAME_NO)
		(void)snprintf(out, size, "not the same: %s differs", t->differs);
	else if (t->same == SAME_UNKNOWN)
		(void)snprintf(out, size, "the original itself differs from run to run (%s), "
			       "so nothing can be said", t->differs);
	else if (!ratio_has_interval(r))
		(void)snprintf(out, size, "pairs of runs: %u, which are too few: --time=%.0f",
			       r->n, ratio_time_needed(t->before_s, t->pair_s));
	else
		(void)snprintf(out, size, "%s%s, same output, proven", speed,
			       ratio_judgement(r));
}

/* As a table of one row, for programs. */
static struct table *verdict_table(const struct trial *t, const char *sentence)
{
	static const char *const same[] = { [SAME_YES] = "yes", [SAME_NO] = "no",
					    [SAME_UNKNOWN] = "unknown" };
	static const struct table_column col[] = {
		{ "ratio", TABLE_REAL }, { "low", TABLE_REAL },    { "high", TABLE_REAL },
		{ "pairs", TABLE_UINT }, { "same", TABLE_TEXT },   { "faster", TABLE_BOOL },
		{ "text", TABLE_TEXT },
	};
	struct table *table = table_new("verdict", sizeof(col) / sizeof(col[0]), col);
	const struct ratio *r = &t->ratio;
	bool known = ratio_has_interval(r);

	table_row(table, known ? r->estimate : 0.0, known ? r->low : 0.0,
		  known ? r->high : 0.0, (uint64_t)r->n, same[t->same],
		  (int)(trial_code(t) == TRY_FASTER), sentence);
	return table;
}

static void print_keep(const struct trial *t)
{
	bool saved = t->o->save != NULL;

	if (!saved)
		say_line(stdout, "nothing of it was kept; with --save=DIR in front of the "
			 "command it says how to keep it");
	for (unsigned i = 0; i < t->nmodule && saved; i++)
		if (t->saved[i])
			say_line(stdout, "to keep it, with morphd running: sudo morphctl keep "
				 "%s %s", t->module[i].path, t->saved[i]);
}

static int show(const struct trial *t, struct table *const *table)
{
	struct try_shown s = { .table = table, .ntable = 2, .morph_edit = t->o->morph_edit,
			       .log = t->reference.result->watched ? NULL : t->log };

	for (unsigned i = 0; i < t->nmodule; i++)
		if (t->module[i].why.kind == ERR_NONE && t->module[i].counted)
			s.counted[s.ncounted++] = (struct try_counted){ t->module[i].path,
									t->module[i].profile };
	return t->o->show(t->o->ctx, &s);
}

int trial_verdict(const struct trial *t)
{
	struct table *table[2] = { module_table(t) };
	char text[256];

	say_verdict(t, text, sizeof(text));
	table[1] = verdict_table(t, text);
	const struct table_look *look = &t->o->look;

	table_show_all(table, look->json ? 2 : 1, stdout, look);
	if (!look->json) {
		print_left(t);
		say_line(stdout, "%s: %s", trial_names(t), text);
		if (trial_code(t) == TRY_FASTER)
			print_keep(t);
	}
	int rc = t->o->show ? show(t, table) : 0;
	table_free(table[0]);
	table_free(table[1]);
	return rc;
}
