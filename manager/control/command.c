/* command.c - the requests of morphctl: the table of all, and what each does
 *
 * A request that is answered from what is known is answered at once; one that asks the parent,
 * or takes long, waits its turn (column `slow`; role_manager.c keeps the queue).  Arguments
 * come from anybody who may connect: options are checked here, paths and rights in access.c.
 *
 * Tested by tests/e2e/daemon.sh and tests/e2e/users.sh; what each tells a user who owns
 * nothing, by tests/unit/manager/control/test_access.c, which fails while one is not in it.
 */
#include "manager/control/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/answer.h"
#include "manager/work/work.h"
#include "policy/mistakes.h"
#include "policy/policy.h"

enum { WAIT_MS = 1000 };

static void say(struct client *cl, const char *text)
{
	answer_line(control_answer(cl), "%s", text);
}

static int fail(struct client *cl, const struct err *err)
{
	answer_error(control_answer(cl), err->text);
	return err_exit_code(err);
}

static int done(struct client *cl, int rc, const struct err *err)
{
	return rc < 0 ? fail(cl, err) : 0;
}

/* Takes an option out of the arguments. */
static bool take(int *argc, const char **argv, const char *option)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], option) == 0) {
			memmove(argv + i, argv + i + 1,
				sizeof(*argv) * (size_t)(*argc - i - 1));
			(*argc)--;
			return true;
		}
	return false;
}

enum { MAX_ARGS = 64 };

/* A copy of the arguments from which options can be taken. */
static int copy_args(int argc, const char *const *argv, const char **out)
{
	if (argc > MAX_ARGS)
		argc = MAX_ARGS;
	memcpy(out, argv, sizeof(*out) * (size_t)argc);
	return argc;
}

static int reject(struct client *cl, const char *arg)
{
	struct err err;

	err_set(&err, ERR_USAGE, arg[0] == '-' ? "unknown option '%s'"
					       : "unexpected argument '%s'", arg);
	return fail(cl, &err);
}

/* The first argument that is no path, of those from 1 on; NULL: all are. */
static const char *not_a_path(int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '/')
			return argv[i];
	return NULL;
}

/* What goes wrong with it may be about anybody's program. */
static int sync_spool(struct work *w, struct client *cl, struct err *err)
{
	bool tell = control_trusted(cl);
	struct work_spool spool;

	answer_progress(control_answer(cl), "taking in the newest samples");
	if (work_sync(w, &spool, err) < 0) {
		if (tell || w->ask->stop)
			return -1;
		role_log_err(err);
		return err_set(err, ERR_SYS,
			       "the samples could not be taken in; the daemon's log says why");
	}
	if (spool.warning[0])
		answer_line(control_answer(cl), "the newest samples are missing%s%s",
			    tell ? ": " : "", tell ? spool.warning : "");
	return 0;
}

/* --- what is answered at once --- */

static int run_status(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err;

	(void)argc;
	(void)argv;
	return done(cl, show_status(w, cl, &err), &err);
}

static int run_list(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err;

	(void)argc;
	(void)argv;
	return done(cl, show_list(w, cl, &err), &err);
}

static int run_history(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err;

	const char *path = argc > 1 ? argv[1] : NULL;
	char other[PATH_MAX];
	struct store_module m;

	if (path && path[0] != '/') {
		if (access_find(w, cl, path, &m, &err) < 0)
			return fail(cl, &err);
		path = m.path;
	} else if (path) {
		path = work_name(w, path, other);
	}
	return done(cl, show_history(w, path, cl, &err), &err);
}

static int run_policy(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err;

	(void)argc;
	(void)argv;
	return done(cl, show_policy(w, cl, &err), &err);
}

static int run_saved(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct show_saved s = { .since_ns = 0 };
	struct err err;

	if (argc > 1 && !show_read_ns(argv[1], "--since=", &s.since_ns))
		return reject(cl, argv[1]);
	return done(cl, show_saved(w, &s, cl, &err), &err);
}

static int set_pause(struct work *w, struct client *cl, bool on)
{
	struct err err;

	if (ask_pause(w->ask, on, &err) < 0)
		return fail(cl, &err);
	w->paused = on;
	return 0;
}

static int run_pause(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	(void)argc;
	(void)argv;
	return set_pause(w, cl, true);
}

static int run_resume(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	(void)argc;
	(void)argv;
	return set_pause(w, cl, false);
}

/* --- what waits its turn --- */

static int run_sync(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	(void)argv;
	if (sync_spool(w, cl, &err) < 0)
		return fail(cl, &err);
	return done(cl, show_status(w, cl, &err), &err);
}

static int run_overview(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err;

	(void)argc;
	(void)argv;
	return done(cl, show_overview(w, cl, &err), &err);
}

static int run_report(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct show_report r;
	struct err err = { 0 };

	if (show_report_options(argc, argv, &r, &err) < 0)
		return fail(cl, &err);
	if (sync_spool(w, cl, &err) < 0)
		return fail(cl, &err);
	return done(cl, show_report(w, &r, cl, &err), &err);
}

static int run_annotate(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct show_annotate r;
	struct err err = { 0 };

	if (show_annotate_read(argc, argv, &r, &err) < 0 || sync_spool(w, cl, &err) < 0)
		return fail(cl, &err);
	return done(cl, show_annotate(w, &r, cl, &err), &err);
}

static int run_cfg(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct show_flow r = { .module = argv[1], .function = argv[2] };
	struct err err = { 0 };

	for (int i = 3; i < argc; i++) {
		bool *option = strcmp(argv[i], "--dot") == 0	  ? &r.dot
			       : strcmp(argv[i], "--placed") == 0 ? &r.placed : NULL;

		if (!option)
			return reject(cl, argv[i]);
		*option = true;
	}
	if (sync_spool(w, cl, &err) < 0)
		return fail(cl, &err);
	return done(cl, show_flow(w, &r, cl, &err), &err);
}

static int run_explain(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	return done(cl, show_explain(w, argv[1], cl, &err), &err);
}

/* False when the client has gone or the daemon stops meanwhile. */
static bool wait_for_idle(struct work *w, struct client *cl)
{
	struct idle_condition c[IDLE_NCONDITION];

	if (!work_is_idle(w, c))
		answer_progress(control_answer(cl), "waiting for the machine to be idle");
	while (!work_is_idle(w, c)) {
		uint64_t end = role_now_ms() + WAIT_MS;

		while (role_now_ms() < end && !w->ask->stop)
			w->ask->turn(w->ask->ctx);
		if (w->ask->stop || !control_alive(cl))
			return false;
	}
	return true;
}

/* Nothing more is begun when the daemon stops or nobody waits any more. */
static bool goes_on(const struct work *w, const struct client *cl)
{
	return !w->ask->stop && control_alive(cl);
}

static int reoptimize_all(struct work *w, struct client *cl, int n, const char *const *path,
			  bool dry_run)
{
	struct err err = { 0 };
	char other[PATH_MAX];
	int code = 0;

	for (int i = 0; i < n; i++)
		if (access_change(w, cl, work_name(w, path[i], other), &err) < 0)
			return fail(cl, &err);
	control_answer(cl)->total = (uint32_t)n;
	for (int i = 0; i < n && goes_on(w, cl); i++, control_answer(cl)->done++)
		if (work_reoptimize(w, work_name(w, path[i], other), dry_run,
				    control_answer(cl), &err) < 0) {
			int one = fail(cl, &err);

			code = one > code ? one : code;
		}
	return goes_on(w, cl) ? code : 1;
}

/* PATH and the text of a profile, which only a confined job looks into. */
static int run_keep(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	if (argv[1][0] != '/')
		return reject(cl, argv[1]);
	if (access_change(w, cl, argv[1], &err) < 0)
		return fail(cl, &err);
	const struct bytes profile = { (const uint8_t *)argv[2], strlen(argv[2]) };
	return done(cl, work_keep(w, argv[1], profile, control_answer(cl), &err), &err);
}

struct paths {			/* of the client's modules */
	const struct client *client;
	struct work *work;
	uint32_t n, cap;
	char **path;
};

static bool append_path(struct paths *p, const char *text)
{
	if (p->n == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 16;
		char **path = realloc(p->path, sizeof(*path) * cap);

		if (!path)
			return false;
		p->path = path;
		p->cap = cap;
	}
	p->path[p->n] = strdup(text);
	p->n += p->path[p->n] != NULL;
	return true;
}

static void paths_free(struct paths *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->path[i]);
	free(p->path);
}

/* Those that are not their originals. */
static bool add_path(void *ctx, const struct store_module *m)
{
	struct paths *p = ctx;

	return !m->generation || !access_owns(p->client, m) || append_path(p, m->path);
}

/* The client's modules that are worth the work. */
static bool add_worth(void *ctx, const struct store_module *m)
{
	struct paths *p = ctx;
	struct policy policy;

	if (m->refusal[0] || !access_owns(p->client, m) ||
	    !policy_allows(p->work->policy, m->path))
		return true;
	const struct policy_rule *r = work_rule(p->work, m->path, &policy);
	return (r && r->refuse) || m->samples < policy.min_samples ||
	       append_path(p, m->path);
}

/* Those that the parent refuses, because of what lies there or of a name of it. */
static void drop_misplaced(struct work *w, struct paths *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		struct err why = { 0 };
		struct names also;

		if (work_check(w, p->path[i], &also, &why) < 0 && why.kind == ERR_REFUSED)
			free(p->path[i]);
		else
			p->path[n++] = p->path[i];
	}
	p->n = n;
}

static int reoptimize_worth(struct work *w, struct client *cl, bool dry_run)
{
	struct paths p = { .client = cl, .work = w };
	struct err err = { 0 };
	int code = 0;

	if (store_module_each(w->store, add_worth, &p, &err) < 0) {
		code = fail(cl, &err);
		paths_free(&p);
		return code;
	}
	uint32_t worth = p.n;
	drop_misplaced(w, &p);
	if (!p.n)
		answer_line(control_answer(cl), "no module%s%s has as many samples as the "
			    "policy wants", control_trusted(cl) ? "" : " of yours",
			    worth ? " that may be swapped" : "");
	else
		code = reoptimize_all(w, cl, (int)p.n, (const char *const *)p.path, dry_run);
	paths_free(&p);
	return code;
}

static int run_reoptimize(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	const char *arg[MAX_ARGS];

	argc = copy_args(argc, argv, arg);
	bool dry_run = take(&argc, arg, "--dry-run"), wait = take(&argc, arg, "--wait");
	bool all = take(&argc, arg, "--all");
	struct err err = { 0 };
	if (all ? argc > 1 : argc < 2) {
		err_set(&err, ERR_USAGE, "reoptimize: either paths or --all");
		return fail(cl, &err);
	}
	const char *wrong = not_a_path(argc, arg);
	if (wrong)
		return reject(cl, wrong);
	if (wait && !control_trusted(cl)) {
		err_set(&err, ERR_REFUSED,
			"reoptimize --wait: others would have to wait as well");
		return fail(cl, &err);
	}
	if (wait && !wait_for_idle(w, cl))
		return 1;
	w->ask->yields = wait ? YIELD_STOPS : YIELD_NEVER;
	int code = sync_spool(w, cl, &err) < 0 ? fail(cl, &err)
		   : all ? reoptimize_worth(w, cl, dry_run)
			 : reoptimize_all(w, cl, argc - 1, arg + 1, dry_run);
	w->ask->yields = YIELD_NEVER;
	return code;
}

/* Calls `one` for each path given, or with --all for all modules that have a generation. */
static int for_paths(struct work *w, struct client *cl, int argc, const char *const *argv,
		     int (*one)(struct work *w, const char *path, struct client *cl, void *ctx),
		     void *ctx)
{
	const char *arg[MAX_ARGS];
	struct paths p = { .client = cl };
	struct err err = { 0 };
	char other[PATH_MAX];
	int code = 0;

	argc = copy_args(argc, argv, arg);
	bool all = take(&argc, arg, "--all");
	const char *wrong = not_a_path(argc, arg);
	if (wrong)
		return reject(cl, wrong);
	if (all && store_module_each(w->store, add_path, &p, &err) < 0)
		code = fail(cl, &err);
	else if (all && !p.n)
		say(cl, control_trusted(cl) ? "no module has a generation"
					    : "no module of yours has a generation");
	control_answer(cl)->total = (uint32_t)argc - 1 + p.n;
	for (int i = 1; i < argc && goes_on(w, cl); i++, control_answer(cl)->done++) {
		int rc = one(w, work_name(w, arg[i], other), cl, ctx);

		code = rc > code ? rc : code;
	}
	for (uint32_t i = 0; i < p.n; i++, control_answer(cl)->done++) {
		int rc = goes_on(w, cl) ? one(w, p.path[i], cl, ctx) : 1;

		code = rc > code ? rc : code;
	}
	paths_free(&p);
	return code;
}

static int restore_one(struct work *w, const char *path, struct client *cl, void *ctx)
{
	const struct work_restoring *how = ctx;
	struct err err = { 0 };

	if (access_change(w, cl, path, &err) < 0)
		return fail(cl, &err);
	return done(cl, work_restore(w, path, *how, control_answer(cl), &err), &err);
}

static int run_restore(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	const char *arg[MAX_ARGS];

	argc = copy_args(argc, argv, arg);
	struct work_restoring how = { .force = take(&argc, arg, "--force") };
	how.dry_run = take(&argc, arg, "--dry-run");
	return for_paths(w, cl, argc, arg, restore_one, &how);
}

static int verify_one(struct work *w, const char *path, struct client *cl, void *ctx)
{
	struct work_proof proof;
	struct store_module m;
	struct err err = { 0 };

	if (access_find(w, cl, path, &m, &err) < 0)
		return fail(cl, &err);
	answer_progress(control_answer(cl), "%s: verifying", path);
	int rc = work_verify(w, path, &proof, &err);
	table_row(ctx, path, (uint64_t)proof.generation, (int)(rc == 0),
		  rc == 0 ? proof.detail : err.text);
	return done(cl, rc, &err);
}

static int run_verify(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "generation", TABLE_UINT }, { "proven", TABLE_BOOL },
		{ "detail", TABLE_TEXT },
	};
	struct table *t = table_new("verified", 4, col);
	int code = for_paths(w, cl, argc, argv, verify_one, t);

	show_give(cl, t);
	return code;
}

static int run_checksums(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	(void)argv;
	return done(cl, work_checksums(w, control_answer(cl), &err), &err);
}

static int run_look(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	(void)argv;
	return done(cl, work_look_all(w, control_answer(cl), &err), &err);
}

static int bug_report(struct work *w, const char *path, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "report", TABLE_TEXT }, { "bytes", TABLE_BYTES },
	};
	struct store_module m;
	struct stat st;
	char report[PATH_MAX];

	if (access_find(w, cl, path, &m, err) < 0 ||
	    work_bug_report(w, &m.original, report, err) < 0)
		return -1;
	if (stat(report, &st) < 0)
		return err_set(err, ERR_INPUT, "'%s': no generation of it has crashed", m.path);
	struct table *t = table_new("report", 3, col);
	table_row(t, m.path, report, (uint64_t)st.st_size);
	show_give(cl, t);
	return 0;
}

static int run_report_bug(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	return done(cl, bug_report(w, argv[1], cl, &err), &err);
}

static int run_rule(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct store_module m;
	struct err err = { 0 };

	(void)argc;
	if (!control_trusted(cl) && access_find(w, cl, argv[1], &m, &err) < 0)
		return fail(cl, &err);
	return done(cl, show_rule(w, argv[1], cl, &err), &err);
}

static void say_mistake(void *ctx, const char *text)
{
	say(ctx, text);
}

static int run_reload(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	(void)argc;
	(void)argv;
	if (work_reload(w, &err) < 0) {
		err_wrap(&err, "the old policy stays");
		role_error("%s", err.text);	/* systemctl reload tells nobody */
		return fail(cl, &err);
	}
	if (w->policy->note)
		say(cl, w->policy->note);
	policy_mistakes(w->policy, "", false, say_mistake, cl);
	role_log("policy '%s' read anew", w->options->policy);
	return 0;
}

enum { SHARE_WAIT_MS = 60000 };

/* With "now": an exchange begins, and its end is waited for, though not for ever. */
static int run_share(struct work *w, struct client *cl, int argc, const char *const *argv)
{
	struct err err = { 0 };

	if (argc > 1 && strcmp(argv[1], "now") != 0)
		return reject(cl, argv[1]);
	if (argc > 1 && work_fleet_now(w, &err) < 0)
		return fail(cl, &err);
	uint64_t end_ms = w->now_ms() + SHARE_WAIT_MS;
	while (argc > 1 && w->fleet.under_way && !w->ask->stop && w->now_ms() < end_ms) {
		if (!w->ask->shared.type)
			w->ask->turn(w->ask->ctx);
		if (w->ask->shared.type)
			work_fleet_answer(w);
	}
	int code = done(cl, show_share(w, cl, &err), &err);
	return argc > 1 && w->fleet.trouble[0] && !code ? 1 : code;
}

/* --- the table --- */

static const struct command command[] = {
	/* name      arguments  for          slow   jobs */
	{ "status",     0,  0, FOR_ALL,     false, false, run_status },
	{ "sync",       0,  0, FOR_TRUSTED, true,  false, run_sync },
	{ "overview",   0,  0, FOR_ALL,     true,  false, run_overview },
	{ "list",       0,  0, FOR_ALL,     false, false, run_list },
	{ "history",    0,  1, FOR_ALL,     false, false, run_history },
	{ "saved",      0,  1, FOR_ALL,     false, false, run_saved },
	{ "policy",     0,  0, FOR_ALL,     false, false, run_policy },
	{ "rule",       1,  1, FOR_ALL,     true,  false, run_rule },
	{ "reload",     0,  0, FOR_TRUSTED, true,  false, run_reload },
	{ "pause",      0,  0, FOR_TRUSTED, false, false, run_pause },
	{ "resume",     0,  0, FOR_TRUSTED, false, false, run_resume },
	{ "report",     0,  6, FOR_ALL,     true,  true,  run_report },
	{ "annotate",   2,  5, FOR_ALL,     true,  true,  run_annotate },
	{ "cfg",        2,  4, FOR_ALL,     true,  true,  run_cfg },
	{ "explain",    1,  1, FOR_ALL,     true,  true,  run_explain },
	{ "reoptimize", 1, -1, FOR_OWNERS,  true,  true,  run_reoptimize },
	{ "keep",       2,  2, FOR_TRUSTED, true,  true,  run_keep },
	{ "restore",    1, -1, FOR_OWNERS,  true,  false, run_restore },
	{ "verify",     1, -1, FOR_ALL,     true,  true,  run_verify },
	{ "checksums",  0,  0, FOR_TRUSTED, true,  false, run_checksums },
	{ "look",       0,  0, FOR_TRUSTED, true,  false, run_look },
	{ "share",      0,  1, FOR_TRUSTED, true,  false, run_share },
	{ "report-bug", 1,  1, FOR_TRUSTED, false, false, run_report_bug },
};

const struct command *command_at(size_t i)
{
	return i < sizeof(command) / sizeof(command[0]) ? &command[i] : NULL;
}

const struct command *command_find(int argc, const char *const *argv, const char **why)
{
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (strcmp(c->name, argv[0]) != 0)
			continue;
		*why = "wrong number of arguments";
		return argc - 1 < c->min_args || (c->max_args >= 0 && argc - 1 > c->max_args) ?
		       NULL : c;
	}
	*why = "unknown request";
	return NULL;
}
