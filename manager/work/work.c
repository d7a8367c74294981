/* work.c - what all work of the Manager shares: results of jobs, the history, originals
 *
 * Calls of the files in manager/work go one way:
 *
 *	work_idle, work_open		when there is something to do; the state and its life
 *	work_policy			the policy, and the last good one
 *	work_spool			the spool taken in, and what follows from it at once
 *	work_crash, work_speed		a generation is taken back
 *	work_use, work_inherit, work_packages, procedure, work_live
 *	work_module			a new generation, the original back, the proof anew
 *	work_bequeath, work_fleetanswer
 *	work_evidence, work_fleetcounts	exact counts
 *	work_fleet
 *	work_adopt, work_budget, work_derived, work_registers, work_room, work_share
 *	work_profile, work_fleetuse	all that is known of a module by samples
 *	work_inherited, work_rule
 *	work				this file
 *	accounts, ask, answer, lookwait, tar, yield	know nothing of the work
 */
#include "manager/work/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/store/module.h"
#include "manager/work/lookwait.h"
#include "policy/policy.h"

static const uint64_t max_read = (uint64_t)1 << 30;

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

int work_usage(const struct store_profile *p, struct usage *out, struct err *err)
{
	out->n = 0;
	out->count = calloc((size_t)p->ncount + 1, sizeof(*out->count));
	if (!out->count)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < p->ncount; i++) {
		const struct store_count *c = &p->count[i];

		if (c->samples)
			out->count[out->n++] = (struct usage_count){
				c->block, (double)c->samples / STORE_UNIT };
	}
	return 0;
}

int work_table(struct work *w, const struct store_module *m, struct blocktable *out,
	       struct err *err)
{
	int rc = store_table_load(w->store, &m->original, out, err);

	if (rc == 0)
		return err_set(err, ERR_INPUT, "'%s': not analysed yet", m->path);
	return rc < 0 ? err_wrap(err, "'%s': block table", m->path) : 0;
}

int work_open_pristine(struct work *w, const struct store_module *m, struct err *err)
{
	struct digest d;

	if (m->generation)
		return ask_open_original(w->ask, &m->original, err);
	int fd = ask_open_file(w->ask, m->path, err);
	if (fd < 0)
		return -1;
	lookwait_pay(w->lookwait, m->owner, m->seen.size, w->now_ms());
	int rc = modules_digest(w->modules, fd, &d, err);
	if (rc == 0 && digest_equal(&d, &m->original))
		return fd;
	close(fd);
	return rc < 0 ? -1 : err_set(err, ERR_INPUT, "'%s': changed just now", m->path);
}
