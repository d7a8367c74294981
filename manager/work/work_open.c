/* work_open.c - the Manager's state: opened and closed
 *
 * Tested with the whole daemon by tests/e2e/daemon.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/store/ingest.h"
#include "manager/store/module.h"
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

static int analyze_module(void *ctx, const char *path, int fd, struct wr *table,
			  struct err *err)
{
	struct work *w = ctx;
	struct policy policy;
	int out;

	(void)work_rule(w, path, &policy);	/* refused or not: it is counted */
	struct ask_limits limits = work_limits(&policy);
	struct ask_job job = { .kind = JOB_ANALYZE, .nin = 1, .in = { fd } };
	if (ask_run_job(w->ask, &job, &limits, &out, 1, err) < 0) {
		/* Going on would count samples of this module as outside of all blocks.
		 * Nothing is half done: the spool file is taken in whole at the next start. */
		if (w->ask->stop)
			_exit(0);
		if (err && err->kind == ERR_INPUT)
			/* the same file fails again every time */
			err->kind = ERR_REFUSED;
		return -1;
	}
	int rc = work_read(out, table, err);
	close(out);
	return rc;
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
	role_log("it is kept as '%s', and a new one begun: samples and history are lost, "
		 "originals and generations are not", kept);
	return 0;
}

static struct store *open_store(struct work *w, struct err *err)
{
	struct store *s = store_open(w->options->store, err);
	char kept[PATH_MAX];

	if (s || err->kind != ERR_INPUT)
		return s;
	role_log("%s", err->text);
	if (set_aside(w, kept, err) < 0)
		return NULL;
	s = store_open(w->options->store, err);
	if (s && store_history_add(s, kept, "damaged", "the database could not be read, and is "
				   "kept under this name; this one was begun anew", err) < 0)
		role_log("%s", err->text);
	return s;
}

void work_forget(struct work *w)
{
	char kept[PATH_MAX];
	struct err err;

	role_log("the database is damaged");
	ingest_free(w->ingest);
	modules_free(w->modules);
	store_close(w->store);
	w->ingest = NULL;
	w->modules = NULL;
	w->store = NULL;
	if (set_aside(w, kept, &err) < 0)
		role_log("%s", err.text);
}

int work_open(struct work *w, struct err *err)
{
	const struct module_services services = {
		.open = open_module, .open_original = open_original, .analyze = analyze_module,
		.interpret = work_interpret, .adopt = work_adopt, .allows = module_allowed,
		.ctx = w,
	};
	uint64_t born_ns;		/* asked here, so that it is right later */

	w->spool_dir = -1;
	w->started_ms = role_now_ms();
	w->paused = w->options->paused;
	w->sense = sense_new(w->options->host);
	w->store = open_store(w, err);
	if (!w->store || store_born(w->store, &born_ns, err) < 0 || open_spool(w, err) < 0)
		return -1;
	w->modules = modules_new(w->store, &services);
	if (work_policy_first(w, err) < 0)
		return -1;
	w->ingest = ingest_new(w->store, w->modules, err);
	if (!w->ingest)
		return -1;
	/* Of a job that the parent ended because its manager, the one before, had ended. */
	if (w->ask->job_cpu_ms && store_spent_add(w->store, 0, store_now_ns(),
						  (double)w->ask->job_cpu_ms / 1000, err) < 0)
		return -1;
	return work_policy_apply(w, err);
}

void work_close(struct work *w)
{
	ingest_free(w->ingest);
	modules_free(w->modules);
	store_close(w->store);
	sense_free(w->sense);
	policy_free(w->policy);
	accounts_free(&w->accounts);
	if (w->spool_dir >= 0)
		close(w->spool_dir);
}
