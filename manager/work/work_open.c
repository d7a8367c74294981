/* work_open.c - the Manager's state: opened and closed
 *
 * Tested with the whole daemon by tests/e2e/daemon.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/ingest.h"
#include "manager/store/module.h"
#include "manager/work/lookwait.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/sense.h"

/* --- what the modules need from us --- */

static int open_module(void *ctx, const char *path, struct err *err)
{
	struct work *w = ctx;

	return ask_open_file(w->ask, path, err);
}

static int open_original(void *ctx, const struct digest *original, struct err *err)
{
	struct work *w = ctx;

	return ask_open_original(w->ask, original, err);
}

static int open_live(void *ctx, const struct digest *generation, struct err *err)
{
	struct work *w = ctx;

	return ask_live_open(w->ask, generation, err);
}

static int analyze_module(void *ctx, const char *path, int fd, struct wr *table,
			  struct err *err)
{
	struct work *w = ctx;
	struct policy policy;
	const uint32_t owner = work_owner(fd);
	int out;

	if (!w->asked_by_trusted && work_try_jobs(w, err) < 0)
		return -1;
	/* Later, with the samples of another day. */
	if (!w->asked_by_trusted && work_budget(w, owner, 0, err) < 0) {
		if (err)
			err->kind = ERR_SYS;
		return -1;
	}
	work_look_begin(w);
	(void)work_rule(w, path, &policy);	/* refused or not: it is counted */
	struct ask_limits limits = work_limits(&policy);
	struct ask_job job = { .kind = JOB_ANALYZE, .nin = 1, .in = { fd } };
	int rc = ask_run_job(w->ask, &job, &limits, &out, 1, err);
	if (rc < 0) {
		work_look_end(w, owner, 0);
		/* Going on would count samples of this module as outside of all blocks.
		 * Nothing is half done: the spool file is taken in whole at the next start. */
		if (w->ask->stop)
			_exit(0);
		if (err && err->kind == ERR_INPUT)
			/* the same file fails again every time */
			err->kind = ERR_REFUSED;
		return -1;
	}
	rc = work_read(out, table, err);
	close(out);
	work_look_end(w, owner, rc == 0 ? table->n : 0);
	return rc;
}

/* What has to be known at once is paid for all the same. */
static uint64_t wait_ms(void *ctx, const char *path, uint32_t owner, uint64_t bytes)
{
	struct work *w = ctx;
	uint64_t now = w->now_ms();

	if (!w->asked_by_trusted && !w->reads_at_once)
		return lookwait_ms(w->lookwait, path, owner, bytes, now);
	lookwait_pay(w->lookwait, owner, bytes, now);
	return 0;
}

static bool go_on(void *ctx, uint64_t bytes)
{
	struct work *w = ctx;

	w->read_bytes += bytes;
	if (w->ask->pass)
		w->ask->pass(w->ask->ctx);
	return !w->ask->stop && !(w->gives_way && w->ask->trusted_waits);
}

static bool module_allowed(void *ctx, const char *path)
{
	struct work *w = ctx;

	return policy_allows(w->policy, path);
}

/* --- life --- */

static int open_spool(struct work *w, struct err *err)
{
	char dir[PATH_MAX];

	if (snprintf(dir, sizeof(dir), "%s/spool", w->options->store) >= (int)sizeof(dir))
		return err_set(err, ERR_USAGE, "'%s': too long", w->options->store);
	w->spool_dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->spool_dir < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", dir, strerror(errno));
	return 0;
}

/* A damaged database must not be the end of it: what it knew is counted anew, and generations
 * are found by what they and their originals say (work_adopt.c). */
static int set_aside(const struct work *w, char kept[PATH_MAX], struct err *err)
{
	if (store_set_aside(w->options->store, kept, err) < 0)
		return -1;
	role_error("it is kept as '%s', and a new one begun: samples and history are lost, "
		 "originals and generations are not", kept);
	return 0;
}

static struct store *open_store(struct work *w, struct err *err)
{
	struct store *s = store_open(w->options->store, err);
	char kept[PATH_MAX];

	if (s || err->kind != ERR_INPUT)
		return s;
	role_log_err(err);
	if (set_aside(w, kept, err) < 0)
		return NULL;
	s = store_open(w->options->store, err);
	if (s && store_history_add(s, kept, "damaged", "the database could not be read, and is "
				   "kept under this name; this one was begun anew", err) < 0)
		role_log_err(err);
	return s;
}

void work_forget(struct work *w)
{
	char kept[PATH_MAX];
	struct err err;

	role_error("the database is damaged");
	ingest_free(w->ingest);
	modules_free(w->modules);
	store_close(w->store);
	w->ingest = NULL;
	w->modules = NULL;
	w->store = NULL;
	if (set_aside(w, kept, &err) < 0)
		role_log_err(&err);
}

int work_open(struct work *w, struct err *err)
{
	const struct module_services services = {
		.open = open_module, .open_original = open_original,
		.open_live = open_live, .analyze = analyze_module,
		.interpret = work_interpret, .lacks = work_lacks, .adopt = work_adopt,
		.wait_ms = wait_ms, .go_on = go_on, .allows = module_allowed,
		.bequeath = work_bequeath, .made = work_made, .ctx = w,
	};
	uint64_t born_ns;		/* asked here, so that it is right later */

	w->spool_dir = -1;
	w->started_ms = role_now_ms();
	w->now_ms = role_now_ms;
	w->lookwait = memory_new(1, sizeof(*w->lookwait));
	w->paused = w->options->paused;
	w->sense = sense_new(w->options->host);
	w->store = open_store(w, err);
	if (!w->store || store_born(w->store, &born_ns, err) < 0 || open_spool(w, err) < 0)
		return -1;
	w->modules = modules_new(w->store, &services);
	if (work_policy_first(w, err) < 0)
		return -1;
	w->ingest = ingest_new(w->store, w->modules, err);
	if (!w->ingest || work_count_sweep(w, err) < 0)
		return -1;
	/* Of a job that the parent ended because its manager, the one before, had ended. */
	const struct store_cost lost = { .cpu_s = (double)w->ask->job_cpu_ms / 1000 };
	if (w->ask->job_cpu_ms && store_spent_add(w->store, &lost, store_now_ns(), err) < 0)
		return -1;
	w->charged_ms = w->ask->job_cpu_ms;
	return work_policy_apply(w, err);
}

void work_close(struct work *w)
{
	ingest_free(w->ingest);
	modules_free(w->modules);
	store_close(w->store);
	sense_free(w->sense);
	free(w->lookwait);
	work_live_free(w);
	work_turns_free(w);
	work_fleet_free(w);
	policy_free(w->policy);
	accounts_free(&w->accounts);
	if (w->spool_dir >= 0)
		close(w->spool_dir);
}
