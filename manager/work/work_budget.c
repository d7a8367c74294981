/* work_budget.c - what is done for an owner in a day: counted, and held to the policy
 *
 * All CPU time of jobs is somebody's: the owner's of the file that they work on, else that of
 * who asked.  Root's files have the budgets of section optimize, which decide about work that
 * nobody asked for; each other owner has those of section users, which hold for what he asks
 * for as well.
 *
 * Tested by tests/unit/manager/work/test_work_crash.c, test_work_adopt.c, test_work_jobs.c and
 * tests/e2e/hostile/budget.sh.
 */
#include <inttypes.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "manager/work/lookwait.h"
#include "manager/work/work.h"
#include "policy/policy.h"

enum { NOT_RUN_AGAIN_MS = 600000 };

int work_budget(struct work *w, uint32_t owner, uint64_t bytes, struct err *err)
{
	const unsigned max_s = w->policy->owner_cpu_per_day_s;
	const unsigned max_mib = w->policy->owner_disk_per_day_mib;
	const double mib = 1 << 20;
	double cpu_s, written;

	if (owner == 0)
		return 0;
	if (store_spent_by(w->store, owner, store_day_before(store_now_ns()), &cpu_s, &written,
			   err) < 0)
		return -1;
	if (cpu_s >= max_s)
		return err_set(err, ERR_REFUSED, "user %" PRIu32 " has used %.1f of %u s of "
			       "CPU time of jobs in 24 hours (users.cpu_per_day_s)", owner,
			       cpu_s, max_s);
	if (bytes && (written + (double)bytes) / mib > max_mib)
		return err_set(err, ERR_REFUSED, "for user %" PRIu32 " %.0f of %u MiB were "
			       "written in 24 hours, and %.0f more are needed "
			       "(users.disk_per_day_mib)", owner, written / mib, max_mib,
			       (double)bytes / mib);
	return 0;
}

int work_budget_left(struct work *w, uint32_t owner, uint64_t bytes, const struct policy *p,
		     struct err *err)
{
	double cpu_s, written;

	if (owner)
		return work_budget(w, owner, bytes, err) == 0;
	if (store_spent(w->store, 0, store_day_before(store_now_ns()), &cpu_s, &written, err) <
	    0)
		return -1;
	return cpu_s < p->cpu_per_day_s;
}

/* A job that fails at once is cheap, but what was laid out before its proof fails is not. */
int work_try_jobs(struct work *w, struct err *err)
{
	if (!w->ask->not_run[0])
		return 0;
	if (w->now_ms() < w->not_run_ms)
		return err_set(err, ERR_SYS, "jobs cannot be run: %s", w->ask->not_run);
	w->not_run_ms = w->now_ms() + NOT_RUN_AGAIN_MS;
	return 0;
}

void work_charge(struct work *w, int64_t module, uint32_t owner, uint64_t bytes)
{
	uint64_t ms = w->ask->job_cpu_ms - w->charged_ms;
	const struct store_cost c = { module, owner, (double)ms / 1000, bytes };
	struct err err;

	w->charged_ms = w->ask->job_cpu_ms;
	if (owner == 0 && module == 0)
		return;			/* what nobody's budget counts */
	if ((ms || bytes) && store_spent_add(w->store, &c, store_now_ns(), &err) < 0)
		role_log_err(&err);
}

void work_look_begin(struct work *w)
{
	work_charge(w, 0, 0, 0);		/* what others have left */
}

void work_look_end(struct work *w, uint32_t owner, uint64_t bytes)
{
	uint64_t ms = w->ask->job_cpu_ms - w->charged_ms;

	lookwait_pay(w->lookwait, owner, ms * LOOKWAIT_OF_CPU_MS, w->now_ms());
	work_charge(w, 0, owner, bytes);
}

uint32_t work_owner(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_uid;
}
