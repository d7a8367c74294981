/* work_idle.c - what the Manager does by itself: when the machine is idle, or a process died
 *
 * Jobs of such work make room for others (yield.h).  What was given up for that is done again
 * in the next idle time, if the policy still says so.  Tested with the whole daemon by
 * tests/e2e/daemon.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/sense.h"

enum { AGAIN_MS = 600000 };

bool work_is_idle(struct work *w, struct idle_condition *out)
{
	pid_t job = (pid_t)w->ask->roles.num[MSG_ROLES_job_pid];

	return policy_idle(w->policy, w->sense, job, role_now_ms(), out);
}

void work_yield(struct work *w, bool urgent)
{
	struct idle_condition condition[IDLE_NCONDITION];
	struct ask *a = w->ask;
	struct err err;

	if (!a->waiting || a->yields == YIELD_NEVER || !w->policy)
		return;
	(void)work_is_idle(w, condition);	/* what is under way counts for itself */
	enum yield_act act = yield_step(&a->yield, a->yields, idle_goes_on(condition), urgent,
					role_now_ms());
	if (act != YIELD_NOTHING && ask_yield(a, act, &err) < 0)
		role_log_err(&err);
}

/* w->again, perhaps to be counted first. */
static int lay_out(struct work *w, struct err *err)
{
	if (w->again_bursts && work_burst(w, w->again, err) < 0)
		return -1;
	w->again_bursts = false;
	if (w->again_counts) {
		if (work_count(w, w->again, err) == 0 || w->ask->yield.done || w->ask->stop)
			return w->ask->yield.done ? -1 : 0;
		role_log_err(err);	/* samples alone will do */
		w->again_counts = false;
	}
	return work_reoptimize(w, w->again, false, NULL, err);
}

static void stop_counting(struct work *w, const char *path)
{
	const struct work_restoring how = { .force = false };
	struct store_counting c;
	struct store_module m;
	struct err err;

	if (store_module_by_path(w->store, path, &m, &err) == 1 &&
	    store_counting_get(w->store, m.id, &c, &err) == 1 &&
	    (c.ended_ns ? work_counting_ends(w, m.id, &err)
			: work_restore(w, path, how, NULL, &err)) < 0) {
		role_log_err(&err);
		work_count_put_off(w, path);
	}
}

/* All such modules; one whose original does not come back is told, and keeps no other. */
void work_count_end(struct work *w)
{
	char path[PATH_MAX];
	struct err err = { 0 };
	int rc = 1;

	for (int i = 0; i < COUNTING_WATCHED && rc; i++) {
		rc = work_count_over(w, path, &err);
		bool over = rc > 0;
		if (over)
			rc = work_counting_put_back(w, path, &err) < 0 ? -1 : 1;
		if (rc < 0)
			role_log_err(&err);
		if (rc < 0 && over)
			work_count_put_off(w, path);
	}
}

void work_count_drop(struct work *w)
{
	char path[PATH_MAX];
	struct err err = { 0 };
	int rc = 1;

	for (int i = 0; i < COUNTING_WATCHED && rc; i++) {
		rc = work_count_overdue(w, path, &err);
		if (rc < 0)
			role_log_err(&err);
		if (rc > 0)
			stop_counting(w, path);
	}
}

/* How fast what counts runs is known by samples, which are taken in for it on a busy machine,
 * too. */
static void watch_counting(struct work *w)
{
	struct work_spool spool;
	int64_t *module = NULL;
	struct err err = { 0 };
	uint32_t n;

	if (w->now_ms() < w->counting_ms)
		return;
	w->counting_ms = w->now_ms() + AGAIN_MS;
	if (store_counting_ids(w->store, &module, &n, &err) < 0 ||
	    (n && work_sync(w, &spool, &err) < 0))
		role_log_err(&err);
	free(module);
}

static void automatic(struct work *w)
{
	struct policy policy;
	struct err err = { 0 };

	if (work_try_jobs(w, &err) < 0)
		return;			/* told by `status` */
	/* What was given up is done again if the policy still says so. */
	if (w->again[0] && (work_rule(w, w->again, &policy), !policy.automatic))
		w->again[0] = '\0';
	w->again_counts &= w->again[0] != '\0';
	w->again_bursts &= w->again[0] != '\0';
	int rc = w->again[0] ? 1 : work_count_ready(w, w->again, &err);
	bool counted = rc > 0 && !w->again_counts && !w->again_bursts;
	if (rc == 0)
		rc = work_judge(w, &err);
	w->ask->yields = YIELD_ENDS;
	w->ask->yield = (struct yield){ 0 };	/* of a question before these */
	if (rc > 0)
		rc = lay_out(w, &err);
	if (rc < 0)
		role_log_err(&err);
	/* It counts no more than it must, laid out or not. */
	if (rc < 0 && counted && !w->ask->yield.done && !w->ask->stop)
		stop_counting(w, w->again);
	/* What was given up is the one failure that another time can mend. */
	if (rc >= 0 || !w->ask->yield.done)
		w->again[0] = '\0';
}

void work_crashed(struct work *w)
{
	struct work_spool spool;
	struct err err = { 0 };

	if (work_sync(w, &spool, &err) < 0)
		role_log_err(&err);
}

void work_idle(struct work *w)
{
	struct idle_condition condition[IDLE_NCONDITION];
	struct work_spool spool;
	struct err err = { 0 };

	(void)work_has_room(w);
	work_count_drop(w);
	watch_counting(w);
	work_count_end(w);
	work_live_first(w);
	work_fleet(w);
	if (!work_is_idle(w, condition)) {
		work_live(w, false);
		return;
	}
	w->note[0] = '\0';
	w->ask->yields = YIELD_STOPS;
	if (work_sync(w, &spool, &err) < 0) {
		role_log_err(&err);
		(void)snprintf(w->note, sizeof(w->note), "%.500s", err.text);
	} else {
		/* by what these samples say, and what has been counted meanwhile */
		work_counted(w);
		work_count_end(w);
		work_inherit(w);
		if (policy_automatic(w->policy) && !w->ask->stop)
			automatic(w);
	}
	w->ask->yields = YIELD_NEVER;
	if (!w->ask->stop)
		work_live(w, true);
	if (!w->ask->stop)
		work_turns(w);
}
