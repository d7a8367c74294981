/* show.c - status, list and history as tables
 *
 * Tested by tests/e2e/daemon.sh, and by tests/unit/manager/control/test_access.c and
 * tests/e2e/users.sh as to who sees what.
 */
#include "manager/control/show.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/work/answer.h"
#include "policy/decide.h"
#include "policy/policy.h"
#include "policy/speedtest.h"

enum { HISTORY_LIMIT = 1000 };

/* --- status --- */

/* 0 when the process has gone. */
static uint64_t resident_bytes(uint64_t pid)
{
	char path[64], text[128];
	unsigned long long pages = 0;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/statm", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void show_roles(struct work *w, struct client *cl, bool job)
{
	static const struct table_column col[] = {
		{ "role", TABLE_TEXT },
		{ "pid", TABLE_UINT },
		{ "resident_bytes", TABLE_BYTES },
		{ "starts", TABLE_UINT },
	};
	const uint64_t *n = w->ask->roles.num;
	struct table *t = NEW_TABLE("roles", col);

	table_row(t, "parent", n[MSG_ROLES_parent_pid],
		  resident_bytes(n[MSG_ROLES_parent_pid]), (uint64_t)1);
	table_row(t, "manager", (uint64_t)getpid(), resident_bytes((uint64_t)getpid()),
		  n[MSG_ROLES_manager_starts]);
	if (n[MSG_ROLES_monitor_pid])
		table_row(t, "monitor", n[MSG_ROLES_monitor_pid],
			  resident_bytes(n[MSG_ROLES_monitor_pid]),
			  n[MSG_ROLES_monitor_starts]);
	if (job && n[MSG_ROLES_job_pid])
		table_row(t, "job", n[MSG_ROLES_job_pid], resident_bytes(n[MSG_ROLES_job_pid]),
			  (uint64_t)1);
	show_give(cl, t);
}

static void show_idle(struct work *w, struct client *cl)
{
	static const struct table_column col[] = {
		{ "condition", TABLE_TEXT }, { "now", TABLE_TEXT }, { "idle", TABLE_BOOL },
	};
	struct idle_condition c[IDLE_NCONDITION];
	struct table *t = NEW_TABLE("idle", col);

	(void)work_is_idle(w, c);	/* the rows say it all */
	for (int i = 0; i < IDLE_NCONDITION; i++)
		table_row(t, c[i].name, c[i].value, (int)c[i].ok);
	show_give(cl, t);
}

static int show_samples(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "kind", TABLE_TEXT }, { "count", TABLE_UINT }, { "meaning", TABLE_TEXT },
	};
	uint64_t n[NCOUNTER];

	if (store_counters(w->store, n, err) < 0)
		return -1;
	struct table *t = NEW_TABLE("samples", col);
	for (int i = 0; i < NCOUNTER; i++)
		table_row(t, counter_name[i], n[i], counter_help[i]);
	show_give(cl, t);
	return 0;
}

static void show_monitor(struct work *w, struct client *cl)
{
	static const struct table_column col[] = {
		{ "samples", TABLE_UINT }, { "events", TABLE_UINT }, { "lost", TABLE_UINT },
		{ "throttled", TABLE_UINT }, { "spool_bytes", TABLE_BYTES },
		{ "files_dropped", TABLE_UINT }, { "samples_dropped", TABLE_UINT },
		{ "states", TABLE_UINT }, { "states_dropped", TABLE_UINT },
		{ "states_private", TABLE_UINT },
		{ "unknown", TABLE_UINT }, { "malformed", TABLE_UINT }, { "late", TABLE_UINT },
	};
	const uint64_t *n = w->ask->counts.num;
	struct table *t = NEW_TABLE("monitor", col);

	table_row(t, n[MSG_COUNTS_samples], n[MSG_COUNTS_events], n[MSG_COUNTS_lost],
		  n[MSG_COUNTS_throttled], n[MSG_COUNTS_spool_bytes],
		  n[MSG_COUNTS_files_dropped], n[MSG_COUNTS_samples_dropped],
		  n[MSG_COUNTS_states], n[MSG_COUNTS_states_dropped],
		  n[MSG_COUNTS_states_private], n[MSG_COUNTS_unknown],
		  n[MSG_COUNTS_malformed], n[MSG_COUNTS_late]);
	show_give(cl, t);
}

static int say_budget(struct work *w, struct table *t, struct err *err)
{
	double cpu_s, bytes;
	char text[128];

	if (store_spent(w->store, 0, store_day_before(store_now_ns()), &cpu_s, &bytes, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%.1f of %u s of CPU time, %.0f of %u MiB written",
		       cpu_s, w->policy->cpu_per_day_s, bytes / (1 << 20),
		       w->policy->disk_per_day_mib);		/* fits */
	table_row(t, "spent in 24 h", text);
	return 0;
}

/* Which module is busy, and how much comes in, is for who may see what others run. */
static void say_samples(struct work *w, struct table *t)
{
	uint64_t files, bytes;
	char text[128], size[32];

	table_row(t, "registers", w->registers_why);
	show_spool_size(w, &files, &bytes);
	table_human_bytes(bytes, size, sizeof(size));
	(void)snprintf(text, sizeof(text), "%" PRIu64 " files, %s", files, size);
	table_row(t, "spool", text);
}

/* Exact edges, or why there are none: that is among what the machine lacks.  How many came in
 * is, with `all`, for who may see what others run. */
static void say_branches(const struct ask *a, bool runs, bool all, struct table *t)
{
	uint64_t hz = runs ? a->counts.num[MSG_COUNTS_branches_hz] : 0;
	char text[128] = "none";

	if (hz && all)
		(void)snprintf(text, sizeof(text),
			       "up to %" PRIu64 " a second on each CPU; %" PRIu64
			       " so far, %" PRIu64 " private", hz,
			       a->counts.num[MSG_COUNTS_stacks],
			       a->counts.num[MSG_COUNTS_stacks_private]);	/* fits */
	else if (hz)
		(void)snprintf(text, sizeof(text), "up to %" PRIu64 " a second on each CPU",
			       hz);	/* fits */
	table_row(t, "branch stacks", text);
}

static void say_burst(const struct work *w, struct table *t)
{
	char text[PATH_MAX + 64];

	if (!w->burst_pid)
		return;
	(void)snprintf(text, sizeof(text), "process %d of '%s', for a while",
		       (int)w->burst_pid, w->burst_path);	/* fits */
	table_row(t, "counts", text);
}

static void say_job(const struct ask *a, struct table *t)
{
	table_row(t, "job",
		  !a->roles.num[MSG_ROLES_job_pid] ? "none"
		  : !a->yield.stopped		   ? "runs"
		  : a->yield.done		   ? "goes on, because somebody waits"
						   : "stopped until the machine is idle");
}

/* What the parent may do here and what it may not. */
static void say_rights(const struct ask *a, struct table *t)
{
	table_row(t, "job namespaces", a->roles.num[MSG_ROLES_job_namespaces] ? "yes" :
		  "none: not the right to make any; the cage holds without");
	table_row(t, "attributes trusted.*", a->roles.num[MSG_ROLES_all_attributes] ?
		  "kept" : "not seen: lost when a file that has any is swapped");
}

int show_status(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = { { "name", TABLE_TEXT },
						   { "value", TABLE_TEXT } };
	bool runs = w->ask->roles.num[MSG_ROLES_monitor_pid] != 0;
	bool all = access_sees_all(w, cl);
	char text[128];

	show_problems(w, cl);
	struct table *t = NEW_TABLE("status", col);
	table_row(t, "sampling", w->options->no_monitor ? "off (--no-monitor)" : !runs ?
		  "the monitor is not running" : w->paused ? "paused" : "on");
	table_row(t, "clock", runs && w->ask->counts.text[0] ? w->ask->counts.text :
		  runs ? "not known yet" : "none");
	say_branches(w->ask, runs, all, t);
	if (all)
		say_samples(w, t);
	table_human_time((role_now_ms() - w->started_ms) / 1000, text, sizeof(text));
	table_row(t, "manager up", text);
	table_row(t, "policy", w->options->policy);
	if (!work_has_room(w))
		table_row(t, "NO ROOM", w->no_room);
	if (w->policy_trouble[0])
		table_row(t, "WRONG POLICY",
			  control_trusted(cl) ? w->policy_trouble : "another one is in force");
	table_row(t, "store", w->options->store);
	table_row(t, "crash watch",
		  runs && w->ask->roles.num[MSG_ROLES_crashes_watched] ? "on" :
		  runs && !w->ask->lacks.type ? "not known yet" : "not available");
	say_rights(w->ask, t);
	table_row(t, "automatic", w->policy->automatic ? "yes" :
		  policy_automatic(w->policy) ? "some, by rules" : "no");
	if (all && say_budget(w, t, err) < 0) {
		table_free(t);
		return -1;
	}
	if (all)
		say_job(w->ask, t);
	if (all)
		say_burst(w, t);
	if (w->note[0] && control_trusted(cl))
		table_row(t, "last trouble", w->note);
	show_give(cl, t);
	if (show_values(w, cl, err) < 0)
		return -1;
	show_lacks(w, cl);
	if (all && runs && w->ask->counts.type)
		show_monitor(w, cl);
	if (all && (show_samples(w, cl, err) < 0 || show_reach(w, cl, err) < 0))
		return -1;
	show_some(show_running(w, cl), cl);
	show_idle(w, cl);
	show_roles(w, cl, all);
	return 0;
}

/* --- list, history --- */

struct listing {
	struct work *w;
	const struct client *client;
	struct table *t;
	struct err *err;
	bool failed;
};

/* What is being counted of the module, or was; empty if nothing is. */
struct counts_text {
	char state[128];
	double cost_s, gain_ppm;	/* NAN: nothing is, or was */
};

static void say_counts(const char *state, const char *counted, double cost_s, double gain,
		       struct counts_text *out)
{
	(void)snprintf(out->state, sizeof(out->state), "%s%s", state, counted);	/* all fit */
	out->cost_s = cost_s;
	out->gain_ppm = 1e6 * gain;
}

static int list_counts(struct work *w, const struct store_module *m, struct counts_text *out,
		       struct err *err)
{
	char counted[WORK_COUNTED_MAX];
	struct store_counting c;
	struct store_counted d;
	int rc = store_counting_get(w->store, m->id, &c, err);

	*out = (struct counts_text){ "", NAN, NAN };
	if (rc < 0)
		return -1;
	if (w->burst_pid && strcmp(w->burst_path, m->path) == 0) {
		(void)snprintf(out->state, sizeof(out->state), "counting in process %d",
			       (int)w->burst_pid);	/* fits */
		return 0;
	}
	if (rc) {
		work_say_counted(c.runs, c.burst_s, counted);
		say_counts(c.ended_ns ? "not laid out yet, " : "counting, so far ", counted,
			   work_counting_cost_s(&c), c.gain, out);
		return 0;
	}
	rc = store_counted_get(w->store, m->id, &m->original, &d, err);
	if (rc > 0 && (d.runs || d.cost_s > 0)) {
		work_say_counted(d.runs, d.burst_s, counted);
		say_counts("", counted, d.cost_s, d.gain, out);
	}
	store_counted_free(&d);
	return rc < 0 ? -1 : 0;
}

/* What the module has inherited and what of that counts, or what is still to be. */
struct inherited_text {
	char text[160];			/* "": nothing */
	const char *code;
	double counts_as, samples, recognised_pct;	/* NAN: nothing */
};

static int list_inherited(struct work *w, const struct store_module *m,
			  struct inherited_text *out, struct err *err)
{
	struct work_inherited i;
	struct policy policy;

	*out = (struct inherited_text){ "", "", NAN, NAN, NAN };
	if (!work_inherits(w, m->path, &policy))
		return 0;
	int rc = work_inherited(w, m, &policy, &i, err);
	if (rc <= 0)
		return rc;
	if (i.counts_as > 0)
		(void)snprintf(out->text, sizeof(out->text),
			       "%.0f of %.0f samples, %.0f %% recognised",
			       i.counts_as, i.samples, 100 * i.matched);	/* fits */
	else
		(void)snprintf(out->text, sizeof(out->text),
			       "%s (%.0f samples, %.0f %% recognised)",
			       decide_inherit_text[i.why], i.samples, 100 * i.matched);
	out->code = decide_inherit_code[i.why];
	out->counts_as = i.counts_as;
	out->samples = i.samples;
	out->recognised_pct = 100 * i.matched;
	return 0;
}

static bool list_module(void *ctx, const struct store_module *m)
{
	struct listing *l = ctx;
	struct store_turns turns = { .text = "" };
	char *speed = turns.text;
	struct store_use h;
	struct speedtest p;
	struct counts_text counts;
	struct show_times times;
	char state[STORE_REFUSAL_MAX + 16] = "original";
	struct inherited_text inherited;
	struct show_fleet fleet;

	if (!access_sees(l->w, l->client, m))
		return true;
	if (m->refusal[0])
		(void)snprintf(state, sizeof(state), "refused: %s", m->refusal);
	else if (m->generation)
		(void)snprintf(state, sizeof(state), "optimized");
	if (list_counts(l->w, m, &counts, l->err) < 0 ||
	    list_inherited(l->w, m, &inherited, l->err) < 0 ||
	    show_fleet_of(l->w, m, &fleet, l->err) < 0 ||
	    store_speed_get(l->w->store, m->id, &p, l->err) < 0 ||
	    (m->generation &&
	     store_turns_get(l->w->store, m->id, m->generation, &turns, l->err) < 0) ||
	    store_use_get(l->w->store, m->id, &h, l->err) < 0) {
		l->failed = true;
		return false;
	}
	if (m->generation && p.generation != m->generation)
		speedtest_swap(&p, m->generation);		/* nothing came in since */
	show_times_of(l->w, m, &times);
	bool by_turns = speed[0];
	if (m->generation && !by_turns)
		speedtest_text(&p, speed);
	table_row(l->t, m->path, m->samples, m->outside, (uint64_t)m->generation,
		  (uint64_t)m->functions, (uint64_t)m->movable, m->text_bytes, m->updated_ns,
		  state, speed, h.verdict, inherited.text, counts.state, counts.cost_s,
		  counts.gain_ppm, fleet.text, show_processes(l->w, m->path),
		  m->refusal[0] ? "refused" : m->generation ? "optimized" : "original",
		  !m->generation ? "" :
		  speedtest_verdict_code[by_turns ? turns.verdict : p.verdict],
		  times.as_fast, times.low, times.high, decide_code_of(h.verdict),
		  inherited.code, inherited.counts_as, inherited.samples,
		  inherited.recognised_pct, fleet.counts_as, fleet.samples,
		  (uint64_t)fleet.machines, (uint64_t)fleet.counting);
	store_profile_free(&h.recent);
	return true;
}

int show_list(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "samples", TABLE_REAL }, { "outside", TABLE_REAL },
		{ "generation", TABLE_UINT }, { "functions", TABLE_UINT },
		{ "movable", TABLE_UINT }, { "text_bytes", TABLE_BYTES },
		{ "last_sample", TABLE_TIME }, { "state", TABLE_TEXT }, { "speed", TABLE_TEXT },
		{ "decided", TABLE_TEXT }, { "inherited", TABLE_TEXT },
		{ "counts", TABLE_TEXT },
		{ "counts_cost_s", TABLE_REAL }, { "counts_gain_ppm", TABLE_REAL },
		{ "fleet", TABLE_TEXT }, { "processes", TABLE_UINT },
		{ "state_code", TABLE_TEXT }, { "verdict", TABLE_TEXT },
		{ "times_as_fast", TABLE_REAL }, { "times_low", TABLE_REAL },
		{ "times_high", TABLE_REAL }, { "decided_code", TABLE_TEXT },
		{ "inherited_code", TABLE_TEXT }, { "inherited_counts_as", TABLE_REAL },
		{ "inherited_samples", TABLE_REAL },
		{ "inherited_recognised_pct", TABLE_REAL },
		{ "fleet_counts_as", TABLE_REAL }, { "fleet_samples", TABLE_REAL },
		{ "fleet_machines", TABLE_UINT }, { "fleet_counting_machines", TABLE_UINT },
	};
	struct table *t = NEW_TABLE("modules", col);
	struct listing l = { .w = w, .client = cl, .t = t, .err = err };
	int rc = store_module_each(w->store, list_module, &l, err);

	if (rc >= 0 && !l.failed && !table_nrow(t))
		answer_line(control_answer(cl), access_sees_all(w, cl) ?
			    "no program that the policy allows has been sampled yet" :
			    "no program of yours has been sampled yet");

	if (rc >= 0 && !l.failed)
		answer_table(control_answer(cl), t);
	table_free(t);
	return rc < 0 || l.failed ? -1 : 0;
}

/* What is not a module any more is not anybody's. */
static bool list_event(void *ctx, const struct store_event *e)
{
	struct listing *l = ctx;

	if (!access_shows(l->w, l->client, e->path))
		return true;
	table_row(l->t, e->time_ns, e->path, e->event, e->detail);
	return true;
}

int show_history(struct work *w, const char *path, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "time", TABLE_TIME }, { "path", TABLE_TEXT }, { "event", TABLE_TEXT },
		{ "detail", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("history", col);
	struct listing l = { .w = w, .client = cl, .t = t };
	/* Chosen by owner before they are counted: else the limit tells of the others'. */
	int rc = access_sees_all(w, cl)
			 ? store_history_each(w->store, path, HISTORY_LIMIT, list_event, &l,
					      err)
			 : store_history_of(w->store, path, control_uid(cl), HISTORY_LIMIT,
					    list_event, &l, err);

	struct store_module m;
	bool none = rc >= 0 && !table_nrow(t);
	if (none && path)		/* a module that is known, or not */
		rc = access_find(w, cl, path, &m, err);
	if (none && rc >= 0)
		answer_line(control_answer(cl), "nothing has been done%s so far",
			    path ? " to it" : "");
	if (rc >= 0)
		answer_table(control_answer(cl), t);
	table_free(t);
	return rc < 0 ? -1 : 0;
}
