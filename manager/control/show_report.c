/* show_report.c - where the time goes, by module and by procedure, by kind of code, by user
 *
 * Of all procedures of all modules those with most samples are shown.  Modules come by their
 * samples, so one that has fewer than the last of what was found ends the search.
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/samples/userset.h"
#include "manager/store/store_made.h"
#include "manager/work/answer.h"
#include "manager/work/procedure.h"
#include "manager/control/show.h"
#include "manager/control/show_lines.h"

/* Modules that are looked into at most; chosen. */
enum { MODULES_MAX = 200, REPORT_LIMIT = 20, MAX_LIMIT = 10000 };

/* --- procedures --- */

/* The first `n` procedures of a module; the others in *rest. */
static int add_procedures(struct work *w, const struct store_module *m, uint32_t n,
			  struct lines *out, double *rest, struct err *err)
{
	struct procedures *l = procedures_load(w, m, err);

	if (!l)
		return -1;
	n = l->nproc < n ? l->nproc : n;
	procedures_name(w, l, n);
	for (uint32_t i = 0; i < l->nproc; i++) {
		const struct procedure *p = &l->proc[i];

		if (i >= n) {
			*rest += p->samples;
			continue;
		}
		struct line *line = lines_add(out, m->path, p->name, p->samples);
		line->entry = l->t.fn[p->fn].entry;
		line->size = l->t.fn[p->fn].size;
	}
	procedures_free(l);
	return 0;
}

/* What may be seen. */
struct gather {
	struct work *w;
	const struct client *client;
	double total, made;		/* of all, in code made at run time */
	uint32_t n;
	struct store_module *m;		/* [n], of MODULES_MAX the first ones */
	struct lines lines;
	const char *module;		/* whose procedures alone are wanted; NULL: of all */
	struct lines procedures;	/* in code made at run time */
};

struct top {
	uint32_t n, limit;
	struct top_one {
		uint32_t module;	/* in gather.m[] */
		double samples;
	} *at;				/* [limit] most first */
};

/* False: it is not one of them, nor is one with fewer. */
static bool enter(struct top *t, uint32_t module, double samples)
{
	uint32_t k = t->n;

	if (t->n == t->limit && samples <= t->at[t->n - 1].samples)
		return false;
	if (t->n < t->limit)
		t->n++;
	else
		k--;
	for (; k > 0 && t->at[k - 1].samples < samples; k--)
		t->at[k] = t->at[k - 1];
	t->at[k] = (struct top_one){ module, samples };
	return true;
}

static int find_top(struct work *w, const struct store_module *m, uint32_t n, struct top *t,
		    struct err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		if (t->n == t->limit && m[i].samples <= t->at[t->n - 1].samples)
			break;
		struct procedures *l = procedures_load(w, &m[i], err);
		if (!l)
			return -1;
		for (uint32_t k = 0; k < l->nproc && enter(t, i, l->proc[k].samples); k++)
			;
		procedures_free(l);
		if (w->ask->pass)	/* what is answered at once does not wait for us */
			w->ask->pass(w->ask->ctx);
	}
	return 0;
}

static int add_kernel(struct work *w, struct lines *out, struct err *err)
{
	struct topnames in = { 0 };

	if (store_kernel(w->store, &in, err) < 0)
		return -1;
	for (uint32_t i = 0; i < in.n; i++)
		lines_add(out, lines_elsewhere(COUNTER_KERNEL), in.at[i].name,
			  (double)in.at[i].samples);
	topnames_free(&in);
	return 0;
}

/* Those of all modules, of code made at run time, and of the kernel, that have most. */
static int report_procedures(struct work *w, const struct gather *g, bool kernel,
			     uint32_t limit, struct lines *out, struct err *err)
{
	const struct store_module *m = g->m;
	uint32_t n = g->n;
	double whole = g->total;
	struct top t = { 0, limit, memory_new(limit, sizeof(*t.at)) };
	uint32_t *of = memory_new(n, sizeof(*of));
	double unused = 0, shown = 0;
	int rc = find_top(w, m, n, &t, err);

	for (uint32_t i = 0; i < t.n; i++)
		of[t.at[i].module]++;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (of[i])
			rc = add_procedures(w, &m[i], of[i], out, &unused, err);
	if (rc == 0 && kernel)
		rc = add_kernel(w, out, err);
	for (uint32_t i = 0; i < g->procedures.n; i++)
		lines_add(out, g->procedures.at[i].module, g->procedures.at[i].procedure,
			  g->procedures.at[i].samples);
	for (uint32_t i = 0; i < out->n; i++)
		shown += out->at[i].samples;
	lines_cut(out, limit);
	if (rc == 0 && whole - shown > 0.5)
		lines_add_rest(out, whole - shown);
	free(of);
	free(t.at);
	return rc;
}

/* --- modules --- */

static bool gather_module(void *ctx, const struct store_module *m)
{
	struct gather *g = ctx;
	double all = m->samples + m->outside;

	if (!access_sees(g->w, g->client, m) || all <= 0)
		return true;
	lines_add(&g->lines, m->path, NULL, all)->generation = m->generation;
	g->total += all;
	if (g->n < MODULES_MAX && m->samples > 0 && m->text_bytes) {
		g->m = memory_grow(g->m, g->n + (size_t)1, sizeof(*g->m));
		g->m[g->n++] = *m;
	}
	return true;
}

/* Samples that are in no module, in a row of their own each. */
static const enum counter elsewhere[] = { COUNTER_KERNEL, COUNTER_VDSO, COUNTER_UNKNOWN,
					  COUNTER_NOPROCESS, COUNTER_ELSEWHERE,
					  COUNTER_NOWHERE };
enum { NELSEWHERE = sizeof(elsewhere) / sizeof(elsewhere[0]) };

static void add_count(struct gather *g, struct lines *out, const char *name, uint64_t samples)
{
	g->total += (double)samples;
	lines_add(out, name, NULL, (double)samples);
}

/* Samples that are of nobody's file are of everybody: not for who sees only his own. */
static int add_elsewhere(struct gather *g, struct lines *out, struct err *err)
{
	uint64_t count[NCOUNTER];

	if (store_counters(g->w->store, count, err) < 0)
		return -1;
	for (int i = 0; i < NELSEWHERE; i++)
		if (count[elsewhere[i]])
			add_count(g, out, lines_elsewhere(elsewhere[i]), count[elsewhere[i]]);
	return 0;
}

/* Code made at run time belongs to no file: by the programs that made it.  Those of a program
 * come one after the other. */
static bool gather_made(void *ctx, const struct store_made *m)
{
	struct gather *g = ctx;
	struct line *last = g->lines.n ? &g->lines.at[g->lines.n - 1] : NULL;
	char module[PATH_MAX + 32];

	if (!access_sees_all(g->w, g->client) &&
	    (!*m->program || !access_shows(g->w, g->client, m->program)))
		return true;
	if (*m->program)
		(void)snprintf(module, sizeof(module), "[made at run time by %s]", m->program);
	else
		(void)snprintf(module, sizeof(module), "%s", lines_elsewhere(COUNTER_ANON));
	if (g->module && strcmp(g->module, module) != 0)
		return true;
	if (last && strcmp(last->module, module) == 0)
		last->samples += m->samples;
	else
		lines_add(&g->lines, module, NULL, m->samples);
	lines_add(&g->procedures, module, *m->name ? m->name : lines_elsewhere(COUNTER_ANON),
		  m->samples);
	g->made += m->samples;
	g->total += m->samples;
	return true;
}

/* Of who does not see all, what his own processes have made is for him, as far as the program
 * is his. */
static int add_made(struct gather *g, struct err *err)
{
	bool all = access_sees_all(g->w, g->client);
	int64_t uid = all ? STORE_MADE_ALL : (int64_t)control_uid(g->client);

	return store_made_each(g->w->store, uid, gather_made, g, err);
}

static int report_all(struct work *w, const struct show_report *r, struct client *cl,
		      struct err *err)
{
	struct gather g = { .w = w, .client = cl, .lines = { .by_name = r->by_name } };
	struct lines procedures = { .by_name = r->by_name };
	int rc = store_module_each(w->store, gather_module, &g, err);

	if (rc == 0)
		rc = add_made(&g, err);
	if (rc == 0 && access_sees_all(w, cl))
		rc = add_elsewhere(&g, &g.lines, err);
	if (rc == 0 && r->by != SHOW_BY_MODULE)
		rc = report_procedures(w, &g, access_sees_all(w, cl), r->limit, &procedures,
				       err);
	if (rc == 0 && r->by != SHOW_BY_PROCEDURE) {
		lines_cut(&g.lines, r->limited ? r->limit : UINT32_MAX);
		lines_answer_modules(&g.lines, g.total, cl);
	}
	if (rc == 0 && r->by != SHOW_BY_MODULE)
		lines_answer_procedures(&procedures, g.total, cl);
	lines_free(&procedures);
	lines_free(&g.procedures);
	lines_free(&g.lines);
	free(g.m);
	return rc;
}

/* All of the machine, one line for each kind of code. */
static int report_machine(struct work *w, const struct show_report *r, struct client *cl,
			  struct err *err)
{
	struct gather g = { .w = w, .client = cl };
	struct lines l = { .by_name = r->by_name };
	int rc = store_module_each(w->store, gather_module, &g, err);

	lines_add(&l, "programs and libraries", NULL, g.total);
	if (rc == 0)
		rc = add_made(&g, err);
	if (rc == 0 && g.made > 0)
		lines_add(&l, lines_elsewhere(COUNTER_ANON), NULL, g.made);
	if (rc == 0 && access_sees_all(w, cl))
		rc = add_elsewhere(&g, &l, err);
	if (rc == 0)
		lines_answer_shares("machine", "machine", &l, r, cl);
	lines_free(&g.procedures);
	lines_free(&g.lines);
	lines_free(&l);
	free(g.m);
	return rc;
}

/* --- users --- */

/* System accounts are told as one: who of them a short process of theirs is of is not known
 * (manager/samples/userset.h). */
static void user_name(uint32_t uid, char *out, size_t size)
{
	const struct passwd *pw =
		uid == USERSET_SYSTEM || uid == USERSET_UNKNOWN ? NULL : getpwuid(uid);

	if (uid == USERSET_SYSTEM)
		(void)snprintf(out, size, "[root and system accounts]");
	else if (uid == USERSET_UNKNOWN)
		(void)snprintf(out, size, "[unknown users]");
	else if (pw)
		(void)snprintf(out, size, "%s", pw->pw_name);
	else
		(void)snprintf(out, size, "%" PRIu32, uid);
}

/* Who may not see all is told of his own samples, as if he were alone on the machine. */
static int report_users(struct work *w, const struct show_report *r, struct client *cl,
			struct err *err)
{
	struct lines l = { .by_name = r->by_name };
	struct usersums s = { 0 };
	char name[256];

	if (store_user_samples(w->store, &s, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t uid = s.at[i].uid;

		if (!access_sees_all(w, cl) &&
		    (uid == USERSET_SYSTEM || uid != control_uid(cl)))
			continue;
		user_name(uid, name, sizeof(name));
		lines_add(&l, name, NULL, (double)s.at[i].samples);
	}
	lines_answer_shares("users", "user", &l, r, cl);
	usersums_free(&s);
	lines_free(&l);
	return 0;
}

/* --- one module --- */

static int report_module(struct work *w, const struct show_report *r, struct client *cl,
			 struct err *err)
{
	struct lines l = { .by_name = r->by_name };
	struct store_module m = { 0 };
	double rest = 0;

	if (access_find(w, cl, r->module, &m, err) < 0)
		return -1;
	int rc = add_procedures(w, &m, r->limit, &l, &rest, err);
	lines_cut(&l, r->limit);
	if (rest > 0)
		lines_add(&l, m.path, "[all others]", rest);
	if (m.outside > 0)
		lines_add(&l, m.path, "[outside of all functions]", m.outside);
	if (rc == 0)
		lines_answer_procedures(&l, m.samples + m.outside, cl);
	lines_free(&l);
	return rc;
}

static int report_kernel(struct work *w, const struct show_report *r, struct client *cl,
			 struct err *err)
{
	struct lines l = { .by_name = r->by_name };
	uint64_t count[NCOUNTER];
	double shown = 0;

	int rc = store_counters(w->store, count, err);
	if (rc == 0)
		rc = add_kernel(w, &l, err);
	for (uint32_t i = 0; i < l.n; i++)
		shown += l.at[i].samples;
	lines_cut(&l, r->limit);
	if (rc == 0 && (double)count[COUNTER_KERNEL] - shown > 0.5)
		lines_add_rest(&l, (double)count[COUNTER_KERNEL] - shown);
	if (rc == 0)
		lines_answer_procedures(&l, (double)count[COUNTER_KERNEL], cl);
	lines_free(&l);
	return rc;
}

/* Code that one program made; 0: none of it is the client's to see. */
static int report_made(struct work *w, const struct show_report *r, struct client *cl,
		       struct err *err)
{
	struct gather g = { .w = w, .client = cl, .module = r->module,
			    .procedures = { .by_name = r->by_name } };
	int rc = add_made(&g, err);

	if (rc == 0 && g.procedures.n) {
		lines_cut(&g.procedures, r->limit);
		lines_answer_procedures(&g.procedures, g.made, cl);
		rc = 1;
	}
	lines_free(&g.procedures);
	lines_free(&g.lines);
	return rc;
}

int show_report(struct work *w, const struct show_report *r, struct client *cl, struct err *err)
{
	if (r->by == SHOW_BY_PROGRAM || r->since_ns || r->until_ns)
		return show_ran(w, r, cl, err);
	if (r->module && strcmp(r->module, lines_elsewhere(COUNTER_KERNEL)) == 0 &&
	    access_sees_all(w, cl))
		return report_kernel(w, r, cl, err);
	if (r->module) {
		int rc = r->module[0] == '[' ? report_made(w, r, cl, err) : 0;

		return rc < 0 ? -1 : rc > 0 ? 0 : report_module(w, r, cl, err);
	}
	switch (r->by) {
	case SHOW_BY_MACHINE:
		return report_machine(w, r, cl, err);
	case SHOW_BY_USER:
		return report_users(w, r, cl, err);
	default:
		return report_all(w, r, cl, err);
	}
}

/* --- what is asked for --- */

bool show_read_ns(const char *arg, const char *option, uint64_t *out)
{
	size_t n = strlen(option);
	char *end;

	if (strncmp(arg, option, n) != 0 || arg[n] < '0' || arg[n] > '9')
		return false;
	*out = strtoull(arg + n, &end, 10);
	return !*end && *out <= INT64_MAX;
}

static bool read_limit(const char *text, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (uint32_t)n;
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= MAX_LIMIT;
}

/* --by=WHAT; false: there is no such thing. */
static bool read_by(const char *what, enum show_by *out)
{
	static const char *const name[] = {
		[SHOW_BY_MODULE] = "module", [SHOW_BY_PROCEDURE] = "procedure",
		[SHOW_BY_MACHINE] = "machine", [SHOW_BY_USER] = "user",
		[SHOW_BY_PROGRAM] = "program",
	};

	for (enum show_by by = SHOW_BY_MODULE; by <= SHOW_BY_PROGRAM; by++)
		if (strcmp(what, name[by]) == 0) {
			*out = by;
			return true;
		}
	return false;
}

static int read_option(const char *arg, struct show_report *r, struct err *err)
{
	if (strncmp(arg, "--limit=", 8) == 0) {
		r->limited = true;
		return read_limit(arg + 8, &r->limit) ? 0 :
		       err_set(err, ERR_USAGE, "--limit: '%.80s' is not a number from 1 to %d",
			       arg + 8, MAX_LIMIT);
	}
	if (strncmp(arg, "--by=", 5) == 0)
		return read_by(arg + 5, &r->by) ? 0 :
		       err_set(err, ERR_USAGE, "--by: '%.80s' is none of machine, program, "
			       "module, procedure, user", arg + 5);
	if (arg[0] != '-' && r->module)
		return err_set(err, ERR_USAGE, "unexpected argument '%.80s': one module at "
			       "most", arg);
	if (strcmp(arg, "--sort=name") == 0)
		r->by_name = true;
	else if (arg[0] != '-')
		r->module = arg;
	else if (strncmp(arg, "--sort=", 7) == 0 && strcmp(arg, "--sort=count") != 0)
		return err_set(err, ERR_USAGE, "--sort: '%.80s' is none of count, name",
			       arg + 7);
	else if (!show_read_ns(arg, "--since=", &r->since_ns) &&
		 !show_read_ns(arg, "--until=", &r->until_ns) &&
		 strcmp(arg, "--sort=count") != 0)
		return err_set(err, ERR_USAGE, "unknown option '%s'", arg);
	if (strncmp(arg, "--until=", 8) == 0 && !r->until_ns)	/* which is no bound here */
		return err_set(err, ERR_USAGE, "--until: there is no time before 1970");
	return 0;
}

int show_report_options(int argc, const char *const *argv, struct show_report *out,
			struct err *err)
{
	*out = (struct show_report){ .limit = REPORT_LIMIT };
	for (int i = 1; i < argc; i++)
		if (read_option(argv[i], out, err) < 0)
			return -1;
	/* of procedures it is not known when they ran */
	if ((out->since_ns || out->until_ns) && out->by == SHOW_BY_ALL && !out->module)
		out->by = SHOW_BY_MODULE;
	if (out->module && out->by != SHOW_BY_ALL && out->by != SHOW_BY_PROGRAM)
		return err_set(err, ERR_USAGE, "--by is for all modules together, not for "
			       "one, but for --by=program");
	return 0;
}
