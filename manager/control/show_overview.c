/* show_overview.c - the machine on one screen: what is wrong, what matters, what is next for
 * it, and what was gained
 *
 * Tested by tests/unit/manager/control/test_show_overview.c and tests/e2e/overview.sh.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/store/store_saved.h"
#include "manager/work/answer.h"
#include "manager/work/work_next.h"
#include "policy/policy.h"

enum { PROGRAMS = 40 };		/* shown at most; chosen: more than a screen has lines */

void show_times_of(struct work *w, const struct store_module *m, struct show_times *out)
{
	struct store_measured s;

	*out = (struct show_times){ NAN, NAN, NAN };
	if (m->generation &&
	    (store_measured_get(w->store, m->id, m->generation, true, &s, NULL) == 1 ||
	     store_measured_get(w->store, m->id, m->generation, false, &s, NULL) == 1))
		*out = (struct show_times){ exp(-s.shift.estimate), exp(-s.shift.high),
					    exp(-s.shift.low) };
}

/* The first condition that keeps the machine from being idle; "" if it is. */
static void not_idle(struct work *w, char *out, size_t size)
{
	struct idle_condition c[IDLE_NCONDITION];

	out[0] = '\0';
	if (work_is_idle(w, c))
		return;
	for (int i = 0; i < IDLE_NCONDITION && !out[0]; i++)
		if (!c[i].ok)
			(void)snprintf(out, size, "%s: %s", c[i].name, c[i].value);
}

static int answer_watching(struct work *w, uint64_t programs, struct client *cl,
			   struct err *err)
{
	static const struct table_column col[] = {
		{ "since", TABLE_TIME }, { "sampling", TABLE_BOOL },
		{ "automatic", TABLE_BOOL }, { "idle", TABLE_BOOL },
		{ "not_idle", TABLE_TEXT }, { "programs", TABLE_UINT },
	};
	char why[128];
	uint64_t born_ns;

	if (store_born(w->store, &born_ns, err) < 0)
		return -1;
	not_idle(w, why, sizeof(why));
	bool samples = w->ask->roles.num[MSG_ROLES_monitor_pid] != 0 && !w->paused;
	struct table *t = NEW_TABLE("watching", col);
	table_row(t, born_ns, (int)samples, (int)policy_automatic(w->policy), (int)!why[0], why,
		  programs);
	show_give(cl, t);
	return 0;
}

struct gather {
	const struct work *w;
	const struct client *client;
	double total;
	uint64_t programs;
	struct store_module *m;		/* those with most samples */
	uint32_t n;
};

static double samples_of(const struct store_module *m)
{
	return m->samples + m->outside;
}

static bool gather_module(void *ctx, const struct store_module *m)
{
	struct gather *g = ctx;

	if (!access_sees(g->w, g->client, m) || samples_of(m) <= 0)
		return true;
	g->programs++;
	g->total += samples_of(m);
	if (g->n < PROGRAMS) {
		g->m = memory_grow(g->m, g->n + (size_t)1, sizeof(*g->m));
		g->m[g->n++] = *m;
	}
	return true;
}

static int by_samples(const void *a, const void *b)
{
	const struct store_module *x = a, *y = b;
	double p = samples_of(x), q = samples_of(y);

	return p != q ? (p < q) - (p > q) : strcmp(x->path, y->path);
}

static int answer_programs(struct work *w, const struct gather *g, struct client *cl,
			   struct err *err)
{
	static const struct table_column col[] = {
		{ "cpu_pct", TABLE_REAL }, { "path", TABLE_TEXT }, { "generation", TABLE_UINT },
		{ "times_as_fast", TABLE_REAL }, { "times_low", TABLE_REAL },
		{ "times_high", TABLE_REAL }, { "next", TABLE_TEXT }, { "code", TABLE_TEXT },
		{ "samples_needed", TABLE_REAL }, { "wait_s", TABLE_REAL },
		{ "expected_times_as_fast", TABLE_REAL },
	};
	struct table *t = NEW_TABLE("programs", col);
	int rc = 0;

	for (uint32_t i = 0; i < g->n && rc == 0; i++) {
		const struct store_module *m = &g->m[i];
		struct show_times times;
		struct work_next next;

		rc = work_next(w, m, &next, err);
		if (rc < 0)
			break;
		show_times_of(w, m, &times);
		table_row(t, 100 * samples_of(m) / g->total, m->path, (uint64_t)m->generation,
			  times.as_fast, times.low, times.high, next.text,
			  work_next_name[next.code], next.samples > 0 ? next.samples : NAN,
			  next.wait_s >= 0 ? next.wait_s : NAN,
			  next.times_as_fast > 0 ? next.times_as_fast : NAN);
	}
	if (rc == 0)
		answer_table(control_answer(cl), t);
	table_free(t);
	return rc;
}

/* Of who sees all also what is in no program's file. */
static int add_elsewhere(struct work *w, const struct client *cl, double *total,
			 struct err *err)
{
	static const enum counter elsewhere[] = { COUNTER_KERNEL, COUNTER_VDSO, COUNTER_UNKNOWN,
						  COUNTER_ANON, COUNTER_NOPROCESS,
						  COUNTER_NOWHERE };
	uint64_t n[NCOUNTER];

	if (!access_sees_all(w, cl))
		return 0;
	if (store_counters(w->store, n, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		*total += (double)n[elsewhere[i]];
	return 0;
}

int show_overview(struct work *w, struct client *cl, struct err *err)
{
	struct gather g = { .w = w, .client = cl };
	int rc = store_module_each(w->store, gather_module, &g, err);

	if (rc == 0)
		rc = add_elsewhere(w, cl, &g.total, err);
	if (rc == 0) {
		if (g.n)
			qsort(g.m, g.n, sizeof(*g.m), by_samples);
		show_problems(w, cl);
		rc = answer_watching(w, g.programs, cl, err);
	}
	if (rc == 0)
		rc = answer_programs(w, &g, cl, err);
	if (rc == 0)
		rc = show_saved(w, &(struct show_saved){ .brief = true }, cl, err);
	free(g.m);
	return rc;
}
