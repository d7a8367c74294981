/* work_burst.c - exact counts of a process that does not end: it counts for a while and goes on
 *
 * Counted runs (work_count.c) are of processes that begin and end.  A server, or an interpreter
 * that runs for weeks, does neither, and the longer it runs the more is to be gained in it.  So
 * where the policy lets running processes have generations at all (optimize.live), one that
 * counts goes into such a process for some seconds (optimize.count_burst_s).  The parent does
 * that, proves it before, and takes it out again by itself (manager/parent/livework.h).
 *
 * Which one: of the busiest, by CPU time for each second of their lives, the first that can
 * have it, and that does anything meanwhile.  It tells of a process what runs tell of many, so
 * it is evidence as those are: of so much executions as a run may have, faded, and discarded
 * when the use has changed (work_evidence.c).
 *
 * Tested by tests/e2e/liveburst.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/procstat.h"
#include "manager/store/ingest.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/decide.h"
#include "policy/policy.h"

enum {
	PROCESSES = 512,		/* of a module, looked at */
	CANDIDATES = 3,			/* of these, tried */
	FORMS = 3,			/* made for one, at most */
};

struct candidate {
	pid_t pid;
	uint64_t start;			/* as /proc/PID/stat has it */
	uint32_t uid;
	double busy;			/* of its life, by CPU time; more threads have more */
};

struct candidates {			/* the busiest first */
	struct candidate c[CANDIDATES];
	uint32_t n;
};

struct burst {
	struct work *w;
	struct store_module m;
	struct policy policy;
	struct work_evidence known;	/* of it by samples */
	struct store_generation g;	/* id 0: none was made yet */
	struct digest digest;		/* of the form of it that was made last */
	int original_fd, profile_fd, fd, counts_fd;	/* -1; the last two: of that form */
	double gain, open, samples;
	double counted_s, cpu_s, pause_ms;	/* of the process that counted */
	uint64_t bytes;			/* written for good */
};

/* --- which process --- */

static bool is_candidate(struct work *w, const struct store_module *m, const struct policy *p,
			 pid_t pid, struct candidate *out)
{
	struct procstat s;

	if (!procstat_read(pid, &s) || s.state == 'Z' || (m->owner && m->owner != s.owner) ||
	    s.cpu_ticks < p->live_cpu_s * (uint64_t)sysconf(_SC_CLK_TCK) ||
	    work_live_leaves(w, pid, s.start, m->id))
		return false;
	*out = (struct candidate){ pid, s.start, s.owner, procstat_busy(&s) };
	return true;
}

static void enter(struct candidates *out, const struct candidate *c)
{
	uint32_t at = out->n < CANDIDATES ? out->n++ : CANDIDATES;

	for (; at && out->c[at - 1].busy < c->busy; at--)
		if (at < CANDIDATES)
			out->c[at] = out->c[at - 1];
	if (at < CANDIDATES)
		out->c[at] = *c;
}

/* Those that run the original, and those that have a form of its generation. */
static void find_candidates(struct work *w, const struct store_module *m,
			    const struct policy *p, struct candidates *out)
{
	static uint32_t pid[PROCESSES];
	struct candidate c;
	uint32_t n = ingest_processes(w->ingest, m->path, &m->original, pid, PROCESSES), nrow;
	const struct live_row *row = work_live_rows(w, &nrow);

	out->n = 0;
	for (uint32_t i = 0; i < nrow && n < PROCESSES; i++)
		if (row[i].path && strcmp(row[i].path, m->path) == 0 &&
		    digest_equal(&row[i].original, &m->original))
			pid[n++] = (uint32_t)row[i].pid;
	for (uint32_t i = 0; i < n; i++)
		if (is_candidate(w, m, p, (pid_t)pid[i], &c))
			enter(out, &c);
}

bool work_burst_possible(struct work *w, const struct store_module *m, const struct policy *p)
{
	struct candidates c;

	find_candidates(w, m, p, &c);
	return c.n > 0;
}

/* --- what counts --- */

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_burst(struct burst *b, struct err *err)
{
	struct wr text = { 0 };

	if (work_profile(b->w, &b->m, &b->known, &text, err) == 0)
		b->profile_fd = io_memory_file(wr_bytes(&text), err);
	wr_free(&text);
	if (b->profile_fd < 0)
		return -1;
	b->samples = store_profile_samples(&b->known.profile);
	b->original_fd = work_open_pristine(b->w, &b->m, err);
	return b->original_fd < 0 ? -1 : 0;
}

static void close_burst(struct burst *b)
{
	drop(&b->original_fd);
	drop(&b->profile_fd);
	drop(&b->fd);
	drop(&b->counts_fd);
	work_evidence_free(&b->known);
}

/* By what the inference leaves open, which is known only now. */
static int check_open(struct burst *b, int stats_fd, struct err *err)
{
	struct store_generation *g = &b->g;
	struct wr stats = { 0 };
	int rc = work_read(stats_fd, &stats, err);

	if (rc == 0 && stats.n && stats.n < sizeof(g->stats))
		memcpy(g->stats, stats.p, stats.n);	/* the rest is zeroed */
	wr_free(&stats);
	if (rc < 0 || work_open_share(g->stats, &b->open, err) < 0)
		return -1;
	b->gain = decide_open_gain(&b->w->again_facts, b->open);
	enum decide_count why = decide_burst(&b->policy, &b->w->again_facts, b->open);
	return why == DECIDE_COUNT ? 0 : err_set(err, ERR_REFUSED, "%s (%.0f %% open)",
						 decide_count_text[why], 100 * b->open);
}

/* The store knows it before anybody has it, so that what its process meets is told of it. */
static int note_form(struct burst *b, struct bytes map, struct err *err)
{
	struct store_generation *g = &b->g;
	struct work *w = b->w;

	if (digest_fd(b->fd, &b->digest, err) < 0)
		return -1;
	off_t size = lseek(b->fd, 0, SEEK_END);
	b->bytes += map.n + (size > 0 ? (uint64_t)size : 0);
	if (!g->id) {
		g->module = b->m.id;
		g->original = b->m.original;
		g->digest = b->digest;
		g->state = STATE_BURST;
		g->samples = b->samples;
		g->size_bytes = size > 0 ? (uint64_t)size : 0;
		(void)snprintf(g->passes, sizeof(g->passes), "counting");
		if (store_generation_next(w->store, b->m.id, &g->number, err) < 0 ||
		    store_generation_add(w->store, g, map, NULL, err) < 0)
			return -1;
	}
	return store_live_put(w->store, &b->digest, g->id, map, err);
}

/* With its new text at that address, or where it comes to be (0). */
static int make_form(struct burst *b, uint64_t at, struct err *err)
{
	struct ask_limits limits = work_limits(&b->policy);
	struct ask_job job = { .kind = JOB_INSTRUMENT, .nin = 2,
			       .in = { b->original_fd, b->profile_fd },
			       .a = DECIDE_COUNT_PCT, .b = at };
	struct wr map = { 0 };
	int out[3], map_fd;

	drop(&b->fd);
	drop(&b->counts_fd);
	if (ask_run_job(b->w->ask, &job, &limits, out, 3, err) < 0)
		return -1;
	b->fd = out[0];
	b->counts_fd = out[1];
	int rc = check_open(b, out[2], err);
	close(out[2]);
	struct ask_job read_map = { .kind = JOB_MAP, .nin = 1, .in = { b->fd } };
	if (rc == 0)
		rc = ask_run_job(b->w->ask, &read_map, &limits, &map_fd, 1, err);
	if (rc == 0) {
		rc = work_read(map_fd, &map, err);
		close(map_fd);
	}
	if (rc == 0)
		rc = note_form(b, wr_bytes(&map), err);
	wr_free(&map);
	if (rc < 0)
		drop(&b->fd);
	return rc;
}

/* --- one process --- */

static int read_said(struct burst *b, const char *said, struct err *err)
{
	uint64_t counted_ms, cpu_ms, pause_us;

	if (sscanf(said, "counted %" SCNu64 " ms, CPU time %" SCNu64 " ms, pause %" SCNu64,
		   &counted_ms, &cpu_ms, &pause_us) != 3)
		return err_set(err, ERR_INPUT, "its counts came with '%.100s'", said);
	b->counted_s = (double)counted_ms / 1000;
	b->cpu_s = (double)cpu_ms / 1000;
	b->pause_ms = (double)pause_us / 1000;
	return 0;
}

/* The form that there is, then those that are made for where there is room.  What it counted,
 * as a descriptor; -1. */
static int have_counted(struct burst *b, const struct candidate *c, struct err *err)
{
	struct ask_limits limits = work_limits(&b->policy);
	struct work *w = b->w;
	uint64_t at = 0;
	char said[256];
	int counters;

	for (int i = 0; i <= FORMS; i++) {
		if ((i || b->fd < 0) && make_form(b, at, err) < 0)
			return -1;
		struct ask_live l = { .path = b->m.path, .installed = b->m.present,
				      .original = b->m.original, .generation = b->digest,
				      .pid = c->pid, .start = c->start, .generation_fd = b->fd,
				      .ms = b->policy.count_burst_s * 1000 };
		(void)snprintf(w->burst_path, sizeof(w->burst_path), "%s", b->m.path);
		w->burst_pid = c->pid;		/* the path came from the store: fits */
		int rc = ask_live_count(w->ask, &l, &limits, said, &counters, err);
		w->burst_pid = 0;
		if (rc < 0 || (counters >= 0 && read_said(b, said, err) < 0))
			return -1;
		if (counters >= 0)
			return counters;
		at = strncmp(said, "at ", 3) == 0 ? strtoull(said + 3, NULL, 16) : 0;
		if (at <= 1)
			break;
	}
	return err_set(err, ERR_REFUSED, "there is no room that lasts for new text");
}

/* What it has taken from the process counts, whether it tells anything or not. */
static int take_counts(struct burst *b, const struct candidate *c, int counters,
		       struct err *err)
{
	struct work *w = b->w;
	uint64_t now_ns = store_now_ns();
	struct store_counting counting = {
		.module = b->m.id, .generation = b->digest, .original = b->m.original,
		.begun_ns = now_ns - (uint64_t)(1e9 * b->counted_s), .gain = b->gain,
		.expected_s = decide_burst_cost_s(&b->policy), .burst_s = b->counted_s,
		.most_s = decide_count_most_s(&b->policy, b->gain),
		.speed = { .all_s = b->cpu_s },
	};

	work_history(w, b->m.path, "live counting", "process %d of user %" PRIu32
		     " counted for %.1f s what %.0f samples leave open, %.0f %%: %.2f s of "
		     "CPU time, stopped for %.1f ms at most", (int)c->pid, c->uid,
		     b->counted_s, b->samples, 100 * b->open, b->cpu_s, b->pause_ms);
	if (!decide_burst_tells(b->counted_s, b->cpu_s))
		return store_counting_spend(w->store, b->m.id, now_ns,
					    work_counting_cost_s(&counting), err) < 0 ? -1 :
		       err_set(err, ERR_REFUSED, "it did next to nothing while it counted");
	if (work_counting_begins(w, &counting, b->counts_fd, err) < 0 ||
	    work_counting_take(w, &counting, counters, err) < 0 ||
	    work_counting_keep(w, &b->m, &counting, err) < 0)
		return -1;
	return work_counting_ends(w, b->m.id, err);
}

/* 1: it counted; 0: another one may; -1: given up. */
static int try_one(struct burst *b, const struct candidate *c, struct err *err)
{
	struct work *w = b->w;
	struct procstat s;
	struct err why;

	int counters = work_live_give_back(w, c->pid, b->m.path, err) < 0 ? -1 :
		       have_counted(b, c, err);
	int rc = counters < 0 ? -1 : take_counts(b, c, counters, err);
	if (counters >= 0)
		close(counters);
	if (rc == 0)
		return 1;
	bool refused = err->kind == ERR_REFUSED;
	if (w->ask->stop || (w->ask->yield.done && !refused) ||
	    work_counting_ends(w, b->m.id, &why) < 0)
		return -1;
	work_history(w, b->m.path, "live refused", "process %d: %s", (int)c->pid, err->text);
	/* One that ended while it counted may have done so because of that. */
	bool there = procstat_read(c->pid, &s) && s.start == c->start && s.state != 'Z';
	return refused && there ? 0 : -1;
}

static int try_all(struct burst *b, struct err *err)
{
	struct candidates c;
	int rc = 0;

	find_candidates(b->w, &b->m, &b->policy, &c);
	if (!c.n ||
	    work_budget_left(b->w, b->m.owner, b->m.seen.size, &b->policy, NULL) <= 0)
		return 0;
	if (open_burst(b, err) < 0 || make_form(b, 0, err) < 0)
		return -1;
	for (uint32_t i = 0; i < c.n && rc == 0; i++)
		rc = try_one(b, &c.c[i], err);
	return rc;
}

int work_burst(struct work *w, const char *path, struct err *err)
{
	struct burst *b = memory_new(1, sizeof(*b));
	int rc;

	b->w = w;
	b->original_fd = b->profile_fd = b->fd = b->counts_fd = -1;
	rc = store_module_by_path(w->store, path, &b->m, err);
	if (rc == 1) {
		const struct policy_rule *rule = work_rule(w, path, &b->policy);

		work_charge(w, 0, 0, 0);	/* what others have left */
		rc = rule && rule->refuse ? 0 : try_all(b, err);
		work_charge(w, b->m.id, b->m.owner, b->bytes);
	}
	bool given_up = w->ask->stop || w->ask->yield.done;
	if (rc < 0 && !given_up) {
		role_warn("%s: %s", path, err->text);	/* samples alone will do */
		rc = 0;
	}
	close_burst(b);
	free(b);
	return rc;
}
