/* show_saved.c - CPU time that was saved, by program and in all, and what Morph has taken
 *
 * What is summed is what the client may see.  Morph's own costs are of the whole machine, and
 * so is what is left when they are taken off: for who sees all of it.
 *
 * Tested by tests/unit/manager/control/test_show_saved.c and tests/e2e/saved.sh.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/answer.h"
#include "manager/work/work_saved.h"

/* Of an interrupt that takes a sample, with what it displaces from the caches: the upper end of
 * the widest of the intervals in bench/results/overhead-amd.md. */
static const double sample_s = 2.7e-6;

static const char *const by_name[] = { [STORE_BY_RUNS] = "runs", [STORE_BY_SHARE] = "shares",
				       [STORE_BY_TURNS] = "turns" };

/* Of one module, over all generations that are measured. */
struct row {
	char *path;			/* malloc'd */
	uint32_t generation;		/* the last one */
	enum store_measured_by by;
	double cpu_s;
	struct saving saving;
};

struct gather {
	struct work *w;
	const struct client *client;
	uint64_t since_ns, begin_ns;
	struct row *row;
	uint32_t n;
	struct table *unmeasured;
	struct saving sum;
	struct err *err;
	bool failed;
};

static void take(struct gather *g, const struct store_module *m, const struct work_saved *s)
{
	struct row row = { .path = NULL };

	for (uint32_t i = 0; i < s->n; i++) {
		const struct work_saved_use *u = &s->use[i];

		if (u->why) {
			table_row(g->unmeasured, m->path, (uint64_t)u->generation, u->cpu_s,
				  work_unmeasured_name[u->why], work_unmeasured_text[u->why]);
			continue;
		}
		row.generation = u->generation;
		row.by = u->by;
		row.cpu_s += u->cpu_s;
		saving_add(&row.saving, &u->saving);
	}
	if (!row.by)
		return;
	row.path = memory_need(strdup(m->path));
	saving_add(&g->sum, &row.saving);
	g->row = memory_grow(g->row, g->n + (size_t)1, sizeof(*g->row));
	g->row[g->n++] = row;
}

static bool gather_module(void *ctx, const struct store_module *m)
{
	struct gather *g = ctx;
	struct work_saved s = { .n = 0 };

	if (!access_sees(g->w, g->client, m))
		return true;
	g->failed = work_saved(g->w, m, g->since_ns, &s, g->err) < 0;
	if (!g->failed) {
		take(g, m, &s);
		if (s.begin_ns && (!g->begin_ns || s.begin_ns < g->begin_ns))
			g->begin_ns = s.begin_ns;
	}
	work_saved_free(&s);
	return !g->failed;
}

static int by_saving(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double p = x->saving.estimate_s, q = y->saving.estimate_s;

	return p != q ? (p < q) - (p > q) : strcmp(x->path, y->path);
}

static void answer_rows(struct gather *g, struct client *cl)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "generation", TABLE_UINT }, { "cpu_s", TABLE_REAL },
		{ "times_as_fast", TABLE_REAL }, { "saved_s", TABLE_REAL },
		{ "low_s", TABLE_REAL }, { "high_s", TABLE_REAL }, { "by", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("saved", col);

	if (g->n)
		qsort(g->row, g->n, sizeof(*g->row), by_saving);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct row *r = &g->row[i];

		table_row(t, r->path, (uint64_t)r->generation, r->cpu_s,
			  r->cpu_s > 0 ? (r->cpu_s + r->saving.estimate_s) / r->cpu_s : 1,
			  r->saving.estimate_s, r->saving.low_s, r->saving.high_s,
			  by_name[r->by]);
	}
	show_some(t, cl);
}

/* --- what it has cost --- */

static void answer_costs(const double *own, struct client *cl)
{
	static const struct table_column col[] = {
		{ "what", TABLE_TEXT }, { "cpu_s", TABLE_REAL }, { "estimated", TABLE_BOOL },
		{ "meaning", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("cost", col);
	char samples[128];

	(void)snprintf(samples, sizeof(samples), "by %.0f samples, in idle time as well, "
		       "of %.1f us at most each", own[STORE_OWN_SAMPLES],
		       1e6 * sample_s);		/* fits */
	table_row(t, "monitor", own[STORE_OWN_MONITOR], 0, "takes samples");
	table_row(t, "interrupts", own[STORE_OWN_SAMPLES] * sample_s, 1, samples);
	table_row(t, "manager", own[STORE_OWN_MANAGER], 0, "works them off, decides, answers");
	table_row(t, "parent", own[STORE_OWN_PARENT], 0, "opens files, starts jobs, swaps");
	table_row(t, "analyses", own[STORE_OWN_ANALYSES], 0, "jobs: what is in a file");
	table_row(t, "layouts", own[STORE_OWN_LAYOUTS], 0,
		  "jobs: lay out, make what counts, read what was counted");
	table_row(t, "proofs", own[STORE_OWN_PROOFS], 0, "jobs: that it is the same program");
	table_row(t, "registers", own[STORE_OWN_REGISTERS], 0,
		  "jobs: what registers of samples, or branch stacks, show");
	table_row(t, "jobs", own[STORE_OWN_JOBS], 0, "jobs: what else was asked for");
	table_row(t, "counting", own[STORE_OWN_COUNTING], 1,
		  "of programs that counted, more than usual");
	show_give(cl, t);
}

static double sum_of(const double own[STORE_NOWN])
{
	double sum = own[STORE_OWN_SAMPLES] * sample_s;

	for (int i = 0; i < STORE_NOWN; i++)
		sum += i == STORE_OWN_SAMPLES ? 0 : own[i];
	return sum;
}

/* `cost` NULL: it is not for the client. */
static void answer_all(const struct gather *g, const double *cost, struct client *cl)
{
	static const struct table_column col[] = {
		{ "what", TABLE_TEXT }, { "cpu_s", TABLE_REAL }, { "low_s", TABLE_REAL },
		{ "high_s", TABLE_REAL }, { "since", TABLE_TIME },
	};
	struct table *t = NEW_TABLE("in_all", col);
	const struct saving *s = &g->sum;

	table_row(t, "saved", s->estimate_s, s->low_s, s->high_s, g->begin_ns);
	if (cost) {
		table_row(t, "cost", *cost, *cost, *cost, g->begin_ns);
		table_row(t, "left", s->estimate_s - *cost, s->low_s - *cost, s->high_s - *cost,
			  g->begin_ns);
	}
	show_give(cl, t);
}

static void say_nothing(const struct gather *g, const struct client *cl, struct answer *to)
{
	if (g->n)
		return;
	if (table_nrow(g->unmeasured))
		answer_line(to, "what generations have saved is not measured yet");
	else
		answer_line(to, "no generation%s has run %s",
			    access_sees_all(g->w, cl) ? "" : " of yours",
			    g->since_ns ? "since then" : "so far");
}

static void answer_rest(struct gather *g, const double *own, struct client *cl)
{
	answer_rows(g, cl);
	show_some(g->unmeasured, cl);
	g->unmeasured = NULL;
	if (own)
		answer_costs(own, cl);
}

int show_saved(struct work *w, const struct show_saved *s, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "generation", TABLE_UINT }, { "cpu_s", TABLE_REAL },
		{ "reason", TABLE_TEXT }, { "why", TABLE_TEXT },
	};
	struct gather g = { .w = w, .client = cl, .since_ns = s->since_ns, .err = err };
	double own[STORE_NOWN], cost;
	bool all = access_sees_all(w, cl);
	uint64_t begin_ns = 0;

	g.unmeasured = NEW_TABLE("unmeasured", col);
	int rc = store_module_each(w->store, gather_module, &g, err);
	if (rc == 0 && !g.failed && all)
		rc = store_own_get(w->store, s->since_ns, own, &begin_ns, err);
	if (rc == 0 && !g.failed) {
		if (begin_ns && (!g.begin_ns || begin_ns < g.begin_ns))
			g.begin_ns = begin_ns;
		cost = all ? sum_of(own) : 0;
		if (!s->brief)
			say_nothing(&g, cl, control_answer(cl));
		answer_all(&g, all ? &cost : NULL, cl);
		if (!s->brief)
			answer_rest(&g, all ? own : NULL, cl);
	}
	table_free(g.unmeasured);
	for (uint32_t i = 0; i < g.n; i++)
		free(g.row[i].path);
	free(g.row);
	return rc < 0 || g.failed ? -1 : 0;
}
