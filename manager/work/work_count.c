/* work_count.c - exact counts of what samples leave open: a few runs of a counting generation
 *
 * A counting generation is at the path until so many runs have been counted, for a day, or
 * until the daemon begins anew; then the module is laid out by samples and counts.  Until then
 * the counts of all runs are added up in a file of the store, which says what the counters mean
 * (lib/countsfile.h).
 *
 * Counting costs time, and laying out waits for an idle machine, which may never come, and for
 * a policy that still wants it.  So the original comes back without waiting for anything when
 * enough has been counted, or the daemon begins anew, and the module is laid out when the
 * machine is idle; and when it has not been so, or the policy has not wanted it, for a day.
 *
 * Tested by tests/e2e/counted.sh.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/samples/attribute.h"
#include "manager/samples/runcounts.h"
#include "manager/work/work.h"
#include "policy/decide.h"
#include "policy/policy.h"

enum { LONGEST_S = 86400, LATEST_S = LONGEST_S + 3600, AGAIN_MS = 600000 };
static const size_t largest = (size_t)512 << 20;

static void name_file(const struct work *w, const struct digest *generation, char out[PATH_MAX])
{
	char hex[65];

	digest_hex(generation, hex);
	(void)snprintf(out, PATH_MAX, "%s/counts-%s", w->options->store, hex);	/* fits */
}

static int copy_file(int from, const char *path, struct err *err)
{
	struct wr content = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int rc = work_read(from, &content, err);
	if (rc == 0)
		rc = io_write_all(fd, content.p, content.n, err);
	wr_free(&content);
	close(fd);
	if (rc < 0)
		(void)unlink(path);	/* half of it is of no use */
	return rc;
}

int work_counting_begins(struct work *w, const struct store_counting *c, int counts_fd,
			 struct err *err)
{
	char path[PATH_MAX];

	if (work_counting_ends(w, c->module, err) < 0)
		return -1;
	name_file(w, &c->generation, path);
	(void)unlink(path);		/* of an attempt that a crash ended */
	return copy_file(counts_fd, path, err) < 0 ? -1 : store_counting_put(w->store, c, err);
}

int work_counting_ends(struct work *w, int64_t module, struct err *err)
{
	struct store_counting c;
	char path[PATH_MAX];
	int rc = store_counting_get(w->store, module, &c, err);

	if (rc <= 0)
		return rc;
	name_file(w, &c.generation, path);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", path, strerror(errno));
	return store_counting_end(w->store, module, err);
}

/* --- a run --- */

static void *map_file(int fd, uint64_t size, int prot)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size != size || !size)
		return MAP_FAILED;
	return mmap(NULL, size, prot, prot & PROT_WRITE ? MAP_SHARED : MAP_PRIVATE, fd, 0);
}

/* `memory`: what a run counted; fd: the file of counts. */
static int take_in(int memory, int fd, const char *path, struct err *err)
{
	struct arena *a = arena_new();
	struct countsfile f;
	struct stat st;
	uint8_t *to = MAP_FAILED, *run = MAP_FAILED;
	struct bytes file = { 0 };
	int rc = -1;

	if (fstat(fd, &st) == 0 && (to = map_file(fd, (uint64_t)st.st_size,
						  PROT_READ | PROT_WRITE)) != MAP_FAILED)
		file = (struct bytes){ to, (size_t)st.st_size };
	if (!file.n || file.n > largest)
		err_set(err, ERR_SYS, "'%s': cannot be mapped", path);
	else if (countsfile_read(file, a, &f, err) < 0)
		err_wrap(err, "'%s'", path);
	else if ((run = map_file(memory, f.size, PROT_READ)) == MAP_FAILED)
		err_set(err, ERR_INPUT, "'%s': counters of another size", path);
	else
		rc = 0;
	if (rc == 0) {
		runcounts_add((uint64_t *)(void *)(to + f.offset), (uint64_t *)(void *)run,
			f.ncounter);
		(void)munmap(run, f.size);
	}
	if (to != MAP_FAILED)
		(void)munmap(to, (size_t)st.st_size);
	arena_free(a);
	return rc;
}

int work_counting_take(struct work *w, struct store_counting *c, int memory, struct err *err)
{
	char path[PATH_MAX];

	name_file(w, &c->generation, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int rc = take_in(memory, fd, path, err);
	close(fd);
	c->runs++;
	return rc < 0 ? -1 : store_counting_put(w->store, c, err);
}

static int counted(struct work *w, const struct msg *m, struct err *err)
{
	struct store_counting c;
	int rc = store_counting_by_generation(w->store, &m->digest[0], &c, err);

	if (rc <= 0)			/* it was laid out meanwhile */
		return rc;
	if (work_counting_has_enough(&c))
		return 0;
	c.took_s += (double)m->num[MSG_COUNTED_ms] / 1000;
	return work_counting_take(w, &c, m->fd[0], err);
}

void work_counted(struct work *w)
{
	struct err err = { 0 };

	for (int i = 0; i < w->ask->ncounted; i++) {
		if (counted(w, &w->ask->counted[i], &err) < 0)
			role_log_err(&err);
		msg_close_fds(&w->ask->counted[i]);
	}
	w->ask->ncounted = 0;
}

/* --- enough --- */

/* The file of counts as a profile; without a run an empty one. */
static int solve(struct work *w, const struct store_module *m, const struct store_counting *c,
		 struct wr *profile, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	char path[PATH_MAX];
	int out = -1;

	if (!c->runs)
		return 0;
	name_file(w, &c->generation, path);
	int counts = open(path, O_RDONLY | O_CLOEXEC);
	if (counts < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int original = work_open_pristine(w, m, err);
	struct ask_job job = { .kind = JOB_COUNTS, .nin = 2, .in = { original, counts } };
	int rc = original < 0 ? -1 : ask_run_job(w->ask, &job, &limits, &out, 1, err);
	if (rc == 0)
		rc = work_read(out, profile, err);
	if (out >= 0)
		close(out);
	if (original >= 0)
		close(original);
	close(counts);
	return rc;
}

int work_counting_keep(struct work *w, const struct store_module *m,
		       const struct store_counting *c, struct err *err)
{
	struct wr profile = { 0 };
	struct err why = { 0 };

	/* What cannot be read tells nothing; samples are there all the same. */
	if (solve(w, m, c, &profile, &why) < 0) {
		role_warn("%s: what was counted is of no use: %s", m->path, why.text);
		wr_free(&profile);
	}
	int rc = work_evidence_keep(w, m, c, &profile, err);
	wr_free(&profile);
	return rc;
}

/* Enough runs, or a day of them, or it takes more than it should, or counts for nobody: the
 * parent takes the counts of what it has put in place itself.  The counts so far are kept: what
 * is known is known. */
static bool is_over(const struct work *w, const struct store_counting *c)
{
	double up_s = (double)(w->now_ms() - w->started_ms) / 1000;
	double since_s = decide_since_s(c->begun_ns, store_now_ns());

	return work_counting_has_enough(c) || work_counting_is_slow(c) ||
	       work_counting_has_spent(c) || since_s >= LONGEST_S || since_s > up_s;
}

/* What counts is at the path, or its original is since that has counted enough: 1, else 0, and
 * that is the end of it; -1. */
static int still_there(struct work *w, int64_t module, struct store_counting *c,
		       struct store_module *m, struct err *err)
{
	if (store_counting_get(w->store, module, c, err) != 1)
		return -1;
	int rc = store_module_by_id(w->store, module, m, err);
	if (rc < 0)
		return -1;
	if (rc > 0 && digest_equal(&m->present, c->ended_ns ? &c->original : &c->generation))
		return 1;
	return work_counting_ends(w, module, err);	/* somebody's own */
}

/* 1: the module is to be laid out now.  Not before its original is back: solving and laying out
 * take as long as some runs. */
static int is_ready(struct work *w, int64_t module, char path[PATH_MAX], struct err *err)
{
	struct store_counting c;
	struct store_module m;
	int rc = still_there(w, module, &c, &m, err);

	if (rc <= 0)
		return rc;
	if (!c.ended_ns)
		return 0;
	if (work_counting_keep(w, &m, &c, err) < 0)
		return -1;
	(void)snprintf(path, PATH_MAX, "%s", m.path);	/* fits */
	return 1;
}

/* Nothing is counted on, and its original comes back before that. */
static int is_enough(struct work *w, int64_t module, char path[PATH_MAX], struct err *err)
{
	struct store_counting c;
	struct store_module m;
	int rc = still_there(w, module, &c, &m, err);

	if (rc <= 0 || c.ended_ns || !is_over(w, &c))
		return rc < 0 ? -1 : 0;
	(void)snprintf(path, PATH_MAX, "%s", m.path);	/* fits */
	return 1;
}

/* Is nobody going to lay it out, or not for much too long?  *path is it then.  1, 0, -1. */
static int is_overdue(struct work *w, int64_t module, char path[PATH_MAX], struct err *err)
{
	struct store_counting c;
	struct store_module m;
	struct policy policy;
	int rc = still_there(w, module, &c, &m, err);

	if (rc <= 0)
		return rc;
	const struct policy_rule *rule = work_rule(w, m.path, &policy);
	if (policy_allows(w->policy, m.path) && !(rule && rule->refuse) && policy.automatic &&
	    policy.count != SWITCH_OFF && policy.share_layouts <= 1 &&
	    (c.ended_ns || decide_since_s(c.begun_ns, store_now_ns()) < LATEST_S))
		return 0;
	(void)snprintf(path, PATH_MAX, "%s", m.path);	/* fits */
	return 1;
}

static bool is_put_off(const struct work *w, int64_t module)
{
	for (int i = 0; i < COUNTING_WATCHED; i++)
		if (w->put_off[i].module == module && w->now_ms() < w->put_off[i].again_ms)
			return true;
	return false;
}

/* In the place of the one that is tried again first. */
static void put_off(struct work *w, int64_t module)
{
	int first = 0;

	for (int i = 1; i < COUNTING_WATCHED; i++)
		if (w->put_off[i].again_ms < w->put_off[first].again_ms)
			first = i;
	w->put_off[first].module = module;
	w->put_off[first].again_ms = w->now_ms() + AGAIN_MS;
}

void work_count_put_off(struct work *w, const char *path)
{
	struct store_module m;
	struct err err;

	if (store_module_by_path(w->store, path, &m, &err) == 1)
		put_off(w, m.id);
	else
		w->counting_again_ms = w->now_ms() + AGAIN_MS;
}

/* The first module of those that are counted of which that is so. */
static int first(struct work *w, int (*is_it)(struct work *w, int64_t module,
					      char path[PATH_MAX], struct err *err),
		 char path[PATH_MAX], struct err *err)
{
	int64_t *module = NULL;
	uint32_t n;
	int rc = 0;

	if (w->now_ms() < w->counting_again_ms)
		return 0;
	if (store_counting_ids(w->store, &module, &n, err) < 0) {
		w->counting_again_ms = w->now_ms() + AGAIN_MS;
		return -1;
	}
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (is_put_off(w, module[i]))
			continue;
		rc = is_it(w, module[i], path, err);
		if (rc < 0)
			put_off(w, module[i]);
	}
	free(module);
	return rc;
}

int work_count_ready(struct work *w, char path[PATH_MAX], struct err *err)
{
	return first(w, is_ready, path, err);
}

int work_count_over(struct work *w, char path[PATH_MAX], struct err *err)
{
	return first(w, is_enough, path, err);
}

int work_count_overdue(struct work *w, char path[PATH_MAX], struct err *err)
{
	return first(w, is_overdue, path, err);
}

int work_count_sweep(struct work *w, struct err *err)
{
	DIR *d = opendir(w->options->store);
	static const char prefix[] = "counts-";
	int rc = 0;

	if (!d)
		return err_set(err, ERR_SYS, "'%s': %s", w->options->store, strerror(errno));
	for (struct dirent *e; rc >= 0 && (e = readdir(d)); ) {
		struct digest generation;
		struct store_counting c;

		if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) != 0 ||
		    digest_from_hex(e->d_name + sizeof(prefix) - 1, &generation) < 0)
			continue;
		rc = store_counting_by_generation(w->store, &generation, &c, err);
		if (rc == 0 && unlinkat(dirfd(d), e->d_name, 0) < 0)
			role_warn("'%s': %s", e->d_name, strerror(errno));
	}
	(void)closedir(d);
	return rc < 0 ? -1 : 0;
}
