/* work.c - the manager's state, and the spool taken in while the machine is idle; see work.h */
#include "manager/work/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/store/ingest.h"
#include "manager/store/module.h"
#include "manager/samples/statefeed.h"
#include "monitor/spool.h"
#include "policy/sense.h"
#include "policy/policy.h"

enum { MAX_POLICY_BYTES = 1 << 20, SPOOL_NAME_LEN = 22 };
static const uint64_t max_read = (uint64_t)1 << 30;

/* --- help --- */

struct ask_limits work_limits(const struct policy *p)
{
	return (struct ask_limits){ p->job_memory_mib, p->job_cpu_s };
}

int work_read(int fd, struct wr *out, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	if ((uint64_t)st.st_size > max_read)
		return err_set(err, ERR_INPUT, "a result of %lld bytes", (long long)st.st_size);
	size_t n = (size_t)st.st_size, at = out->n, got = 0;
	uint8_t *p = wr_reserve(out, n);
	while (got < n) {
		ssize_t k = pread(fd, p + got, n - got, (off_t)got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			out->n = at;
			return err_set(err, ERR_SYS, "read: %s",
				       k ? strerror(errno) : "cut short");
		}
		got += (size_t)k;
	}
	return 0;
}

void work_history(struct work *w, const char *path, const char *event, const char *fmt, ...)
{
	char detail[1024];
	struct err err;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(detail, sizeof(detail), fmt, ap);	/* a cut line still tells */
	va_end(ap);
	role_log("%s: %s%s%s", path, event, *detail ? ": " : "", detail);
	if (store_history_add(w->store, path, event, detail, &err) < 0)
		role_log("%s", err.text);
}

int work_table(struct work *w, const struct store_module *m, struct wr *bytes,
	       struct blocktable *out, struct err *err)
{
	int rc = store_table_get(w->store, &m->original, bytes, err);

	if (rc == 0)
		return err_set(err, ERR_INPUT, "'%s': not analysed yet", m->path);
	if (rc < 0 || blocktable_read(wr_bytes(bytes), out, err) < 0)
		return err_wrap(err, "'%s': block table", m->path);
	return 0;
}

int work_open_pristine(struct work *w, const struct store_module *m, struct err *err)
{
	struct digest d;

	if (m->generation)
		return ask_open_original(w->ask, &m->original, err);
	int fd = ask_open_file(w->ask, m->path, err);
	if (fd < 0)
		return -1;
	if (digest_fd(fd, &d, err) == 0 && digest_equal(&d, &m->original))
		return fd;
	close(fd);
	return err_set(err, ERR_INPUT, "'%s': changed just now", m->path);
}

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

/* --- policy --- */

static struct policy *read_policy(struct work *w, struct err *err)
{
	struct policy *p = NULL;
	struct bytes text;

	int fd = ask_open_policy(w->ask, err);
	if (fd < 0)
		return NULL;
	struct arena *a = arena_new();
	if (io_read_all(fd, MAX_POLICY_BYTES, a, &text, err) < 0)
		err_wrap(err, "'%s'", w->options->policy);
	else
		p = policy_parse(text, w->options->policy, err);
	arena_free(a);
	close(fd);
	if (p && p->note)
		role_log("%s", p->note);
	return p;
}

/* What others must know of it. */
static int apply_policy(struct work *w, struct err *err)
{
	const struct policy *p = w->policy;

	ingest_half_life(w->ingest, 86400.0 * p->half_life_d);
	ingest_observe(w->ingest, p->observe_s);
	struct ask_config c = { p->clock, p->rate_hz, p->drain_s, p->spool_max_mib,
				p->registers != SWITCH_OFF, p->stack_bytes, p->memory };
	if (ask_config(w->ask, &c, err) < 0)
		return -1;
	return work_registers(w, err);
}

int work_reload(struct work *w, struct err *err)
{
	struct policy *p = read_policy(w, err);

	if (!p)
		return -1;
	policy_free(w->policy);
	w->policy = p;
	return apply_policy(w, err);
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

int work_open(struct work *w, struct err *err)
{
	const struct module_services services = {
		.open = open_module, .open_original = open_original, .analyze = analyze_module,
		.interpret = work_interpret, .allows = module_allowed, .ctx = w,
	};
	uint64_t born_ns;		/* asked here, so that it is right later */

	w->spool_dir = -1;
	w->started_ms = role_now_ms();
	w->paused = w->options->paused;
	w->sense = sense_new(w->options->host);
	w->store = store_open(w->options->store, err);
	if (!w->store || store_born(w->store, &born_ns, err) < 0 || open_spool(w, err) < 0)
		return -1;
	w->modules = modules_new(w->store, &services);
	w->policy = read_policy(w, err);
	if (!w->policy)
		return -1;
	w->ingest = ingest_new(w->store, w->modules, err);
	if (!w->ingest)
		return -1;
	/* Of a job that the parent ended because its manager, the one before, had ended. */
	if (w->ask->job_cpu_ms && store_spent_add(w->store, 0, store_now_ns(),
						  (double)w->ask->job_cpu_ms / 1000, err) < 0)
		return -1;
	return apply_policy(w, err);
}

void work_close(struct work *w)
{
	ingest_free(w->ingest);
	modules_free(w->modules);
	store_close(w->store);
	sense_free(w->sense);
	policy_free(w->policy);
	if (w->spool_dir >= 0)
		close(w->spool_dir);
}

/* --- spool --- */

static int is_spool(const struct dirent *d)
{
	return strlen(d->d_name) == SPOOL_NAME_LEN &&
	       strspn(d->d_name, "0123456789abcdef") == 16 &&
	       strcmp(d->d_name + 16, ".spool") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_list(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* A read lease is granted only when nobody has the file open for writing. */
static bool is_complete(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		/* a file system without leases: the monitor has rotated */
		return errno != EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);	/* goes with the descriptor anyway */
	return true;
}

/* Takes in one file and deletes it; a file that cannot be read at all is deleted too, and said.
 * 1: taken in; 0: nothing in it; 2: the monitor still writes it, as all that follow. */
static int take_in(struct work *w, const char *name, struct attribution *sum, struct err *err)
{
	int fd = openat(w->spool_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return 0;		/* dropped for space meanwhile, and counted there */
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", name, strerror(errno));
	if (!is_complete(fd)) {
		close(fd);
		return 2;
	}
	int rc = ingest_spool_file(w->ingest, fd, name, sum, err);
	struct spool_reader *r = rc < 0 ? spool_reader_open(fd, NULL) : NULL;
	bool unreadable = rc < 0 && !r;
	spool_reader_free(r);
	close(fd);
	if (unreadable) {
		role_log("'%s/spool/%s': %s; dropped", w->options->store, name, err->text);
		if (store_counter_add(w->store, COUNTER_DAMAGED, 1, err) < 0)
			return -1;
	} else if (rc < 0) {
		return -1;		/* the sentence names the file */
	}
	if (unlinkat(w->spool_dir, name, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", name, strerror(errno));
	return rc < 0 ? 0 : rc;
}

/* States that belong to no sample: theirs was dropped, or not taken in. */
static int end_feed(struct work *w, struct statefeed *feed, struct err *err)
{
	uint64_t n = statefeed_free(feed);

	ingest_states(w->ingest, NULL);
	return n ? store_counter_add(w->store, COUNTER_NOSTATES, n, err) : 0;
}

int work_sync(struct work *w, struct work_spool *out, struct err *err)
{
	struct attribution sum = { 0 };
	struct dirent **list = NULL;
	int rc = 0, states = -1;

	memset(out, 0, sizeof(*out));
	if (ask_sync(w->ask, &states, err) < 0) {
		if (w->ask->stop)
			return -1;
		(void)snprintf(out->warning, sizeof(out->warning), "%.500s", err->text);
	}
	struct statefeed *feed = statefeed_new(states);
	ingest_states(w->ingest, feed);
	int n = scandirat(w->spool_dir, ".", &list, is_spool, by_name);
	if (n < 0)
		rc = err_set(err, ERR_SYS, "'%s/spool': %s", w->options->store,
			     strerror(errno));
	for (int i = 0; i < n && (rc == 0 || rc == 1) && !w->ask->stop; i++) {
		rc = take_in(w, list[i]->d_name, &sum, err);
		out->files += rc == 1;
	}
	for (uint32_t i = 0; i < sum.nmodule; i++)
		out->samples += sum.module[i].samples;
	work_crashes(w, &sum);
	work_speedtests(w, &sum);
	attribution_free(&sum);
	free_list(list, n);
	struct err why;
	if (end_feed(w, feed, &why) < 0 && rc >= 0) {
		*err = why;
		rc = -1;
	}
	if (rc >= 0 && !w->ask->stop)
		rc = work_registers(w, err);
	return rc < 0 ? err_wrap(err, "spool") : 0;
}

/* --- idle --- */

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
		role_log("%s", err.text);
}

static void automatic(struct work *w)
{
	struct policy policy;
	struct err err = { 0 };

	/* What was given up is done again if the policy still says so. */
	if (w->again[0] && (work_rule(w, w->again, &policy), !policy.automatic))
		w->again[0] = '\0';
	int rc = w->again[0] ? 1 : work_judge(w, w->again, &err);
	w->ask->yields = YIELD_ENDS;
	w->ask->yield = (struct yield){ 0 };	/* of a question before these */
	if (rc > 0)
		rc = work_reoptimize(w, w->again, false, NULL, &err);
	if (rc < 0)
		role_log("%s", err.text);
	/* What was given up is the one failure that another time can mend. */
	if (rc >= 0 || !w->ask->yield.done)
		w->again[0] = '\0';
}

void work_crashed(struct work *w)
{
	struct work_spool spool;
	struct err err = { 0 };

	if (work_sync(w, &spool, &err) < 0)
		role_log("%s", err.text);
}

void work_idle(struct work *w)
{
	struct idle_condition condition[IDLE_NCONDITION];
	struct work_spool spool;
	struct err err = { 0 };

	if (!work_is_idle(w, condition))
		return;
	w->note[0] = '\0';
	w->ask->yields = YIELD_STOPS;
	if (work_sync(w, &spool, &err) < 0) {
		role_log("%s", err.text);
		(void)snprintf(w->note, sizeof(w->note), "%.500s", err.text);
	} else if (policy_automatic(w->policy) && !w->ask->stop) {
		automatic(w);
	}
	w->ask->yields = YIELD_NEVER;
}
