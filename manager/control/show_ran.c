/* show_ran.c - where the time goes by the program that ran, and in a part of all time
 *
 * What is summed is what the client may see: programs and modules by access.h, each by itself;
 * of who may not see all, the rest does not exist.
 *
 * Samples by time are kept by periods (manager/store/store_ran.h), and a bound within one is
 * refused: which part of it came before is not known.  How long periods are follows from the
 * time alone, so a refusal tells nothing of what ran.
 *
 * Tested by tests/unit/manager/control/test_show_ran.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/control/show_lines.h"
#include "manager/store/store_ran.h"
#include "manager/work/answer.h"

struct known {			/* a module that the client may see */
	int64_t id;
	char *path;		/* malloc'd */
	uint32_t generation;
	double samples;
};

struct gather {
	struct work *w;
	const struct client *client;
	const struct show_report *r;
	bool all;
	int64_t module;			/* 0: all */
	struct known *known;		/* [n] ascending by id */
	uint32_t n;
	double in_modules, elsewhere[NCOUNTER];	/* by machine, by module */
	struct lines lines;
	uint64_t begin_ns, end_ns;	/* of what was summed */
};

/* --- the bounds --- */

static void say_time(uint64_t ns, char out[32])
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%dT%H:%M", &tm))
		(void)snprintf(out, 32, "@%" PRIu64, ns / 1000000000);	/* fits */
}

static int check_bound(const char *option, uint64_t at_ns, struct err *err)
{
	uint64_t unit_ns = store_ran_unit_ns(at_ns, store_now_ns()), hours;
	char before[32], after[32], unit[32] = "by the hour";

	if (at_ns % unit_ns == 0)
		return 0;
	hours = unit_ns / UINT64_C(3600000000000);
	if (hours > 1)
		(void)snprintf(unit, sizeof(unit), "by %" PRIu64 " day%s, of UTC", hours / 24,
			       hours > 24 ? "s" : "");	/* fits */
	say_time(at_ns - at_ns % unit_ns, before);
	say_time(at_ns - at_ns % unit_ns + unit_ns, after);
	return err_set(err, ERR_REFUSED, "%s: samples of that time are kept %s: %s or %s can "
		       "be told", option, unit, before, after);
}

static int check(const struct show_report *r, struct err *err)
{
	if (r->by == SHOW_BY_USER || r->by == SHOW_BY_PROCEDURE || r->by == SHOW_BY_ALL)
		return err_set(err, ERR_REFUSED, "when samples came is kept for --by=machine, "
			       "program and module alone: those of procedures and users are "
			       "one sum");
	if (r->until_ns && r->until_ns <= r->since_ns)
		return err_set(err, ERR_USAGE, "--until is not behind --since");
	return (r->since_ns && check_bound("--since", r->since_ns, err) < 0) ||
	       (r->until_ns && check_bound("--until", r->until_ns, err) < 0) ? -1 : 0;
}

/* --- what may be seen --- */

static bool add_known(void *ctx, const struct store_module *m)
{
	struct gather *g = ctx;

	if (!access_sees(g->w, g->client, m))
		return true;
	g->known = memory_grow(g->known, g->n + (size_t)1, sizeof(*g->known));
	g->known[g->n++] = (struct known){ .id = m->id, .path = memory_need(strdup(m->path)),
					   .generation = m->generation };
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct known *find(const struct gather *g, int64_t module)
{
	uint32_t k = search_first(i, 0, g->n, g->known[i].id < module);

	return k < g->n && g->known[k].id == module ? &g->known[k] : NULL;
}

/* --- sums --- */

static void add_period(struct gather *g, const struct store_ran *r)
{
	if (!g->begin_ns || r->begin_ns < g->begin_ns)
		g->begin_ns = r->begin_ns;
	if (r->end_ns > g->end_ns)
		g->end_ns = r->end_ns;
}

/* Those of a program come one after the other. */
static bool add_to_program(void *ctx, const struct store_ran *r)
{
	const char *name = *r->program ? r->program : "[other programs]";
	struct gather *g = ctx;
	struct line *last = g->lines.n ? &g->lines.at[g->lines.n - 1] : NULL;

	if (g->module && r->module != g->module)
		return true;
	if (last && strcmp(last->module, name) == 0)
		last->samples += (double)r->samples;
	else if (*r->program ? access_shows(g->w, g->client, r->program) : g->all)
		(void)lines_add(&g->lines, name, NULL, (double)r->samples);
	else
		return true;
	add_period(g, r);
	return true;
}

static bool add_to_module(void *ctx, const struct store_ran *r)
{
	struct gather *g = ctx;
	struct known *k = find(g, r->module);

	if (k) {
		k->samples += (double)r->samples;
		g->in_modules += (double)r->samples;
	} else if (g->all) {
		g->elsewhere[r->module < 0 ? -r->module : COUNTER_UNKNOWN] +=
			(double)r->samples;
	} else {
		return true;
	}
	add_period(g, r);
	return true;
}

static double add_elsewhere(struct gather *g)
{
	double sum = 0;

	for (int c = 0; c < NCOUNTER; c++) {
		if (g->elsewhere[c] > 0)
			(void)lines_add(&g->lines, lines_elsewhere((enum counter)c), NULL,
					g->elsewhere[c]);
		sum += g->elsewhere[c];
	}
	return sum;
}

/* --- the answer --- */

static void answer_period(const struct gather *g, struct client *cl)
{
	static const struct table_column col[] = { { "since", TABLE_TIME },
						   { "until", TABLE_TIME } };
	struct table *t = NEW_TABLE("period", col);
	uint64_t now_ns = store_now_ns(), end_ns = g->end_ns < now_ns ? g->end_ns : now_ns;

	if (g->end_ns)
		table_row(t, g->r->since_ns ? g->r->since_ns : g->begin_ns,
			  g->r->until_ns ? g->r->until_ns : end_ns);
	show_some(t, cl);
}

static void answer(struct gather *g, struct client *cl)
{
	const struct show_report *r = g->r;
	double whole = g->in_modules;

	if (r->by == SHOW_BY_MACHINE && whole > 0)
		(void)lines_add(&g->lines, "programs and libraries", NULL, whole);
	for (uint32_t i = 0; r->by == SHOW_BY_MODULE && i < g->n; i++)
		if (g->known[i].samples > 0)
			lines_add(&g->lines, g->known[i].path, NULL, g->known[i].samples)
				->generation = g->known[i].generation;
	whole += add_elsewhere(g);
	answer_period(g, cl);
	if (!g->end_ns)
		answer_line(control_answer(cl), r->since_ns || r->until_ns ?
			    "no samples of that time" : "no samples yet");
	if (r->by == SHOW_BY_MODULE) {
		lines_cut(&g->lines, r->limited ? r->limit : UINT32_MAX);
		lines_answer_modules(&g->lines, whole, cl);
	} else if (r->by == SHOW_BY_MACHINE) {
		lines_answer_shares("machine", "machine", &g->lines, r, cl);
	} else {
		lines_answer_shares("programs", "program", &g->lines, r, cl);
	}
}

int show_ran(struct work *w, const struct show_report *r, struct client *cl, struct err *err)
{
	struct gather g = { .w = w, .client = cl, .r = r, .all = access_sees_all(w, cl),
			    .lines = { .by_name = r->by_name } };
	struct store_module m = { 0 };
	bool programs = r->by == SHOW_BY_PROGRAM;

	if (check(r, err) < 0 || (r->module && access_find(w, cl, r->module, &m, err) < 0))
		return -1;
	g.module = m.id;
	int rc = programs ? 0 : store_module_each(w->store, add_known, &g, err);
	if (g.n)
		qsort(g.known, g.n, sizeof(*g.known), by_id);
	const struct store_ran_span span = { r->since_ns, r->until_ns, programs };
	if (rc == 0)
		rc = store_ran_each(w->store, &span, programs ? add_to_program : add_to_module,
				    &g, err);
	if (rc == 0)
		answer(&g, cl);
	for (uint32_t i = 0; i < g.n; i++)
		free(g.known[i].path);
	free(g.known);
	lines_free(&g.lines);
	return rc;
}
