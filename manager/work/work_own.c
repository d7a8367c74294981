/* work_own.c - CPU time that Morph's own processes take, entered in the store
 *
 * The Manager knows its own time and that of jobs; the Monitor's and the parent's is read from
 * /proc.  What was read last is kept in the store by boot, process and start, so that a new
 * Manager counts nothing twice, and nothing that ran while there was none is left out.  The
 * last minutes of a Monitor or Manager that has ended are missing.
 *
 * Tested by tests/unit/manager/work/test_work_own.c.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/bootid.h"
#include "lib/err.h"
#include "lib/procstat.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_ran.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"

enum { DAY_MS = 86400000 };

/* What was read last of a process, as text "BOOT PID START TICKS". */
struct reading {
	char boot[BOOTID_MAX];
	int pid;
	unsigned long long start, ticks;
};

/* Zeroed where there is none. */
static int last_reading(struct store *s, enum store_own what, struct reading *out,
			struct err *err)
{
	char text[STORE_READING_MAX];

	*out = (struct reading){ .pid = 0 };
	if (store_own_last(s, what, text, err) < 0)
		return -1;
	if (sscanf(text, "%39s %d %llu %llu", out->boot, &out->pid, &out->start,
		   &out->ticks) != 4)
		*out = (struct reading){ .pid = 0 };
	return 0;
}

static int account_role(struct work *w, enum store_own what, uint64_t pid, uint64_t now_ns,
			struct err *err)
{
	char text[STORE_READING_MAX];
	struct reading last, now = { .pid = (int)pid };
	struct procstat p;

	if (!pid || !procstat_read((pid_t)pid, &p))
		return 0;
	bootid_read(now.boot);
	if (!now.boot[0])
		strcpy(now.boot, "unknown");
	now.start = p.start;
	now.ticks = p.cpu_ticks;
	if (last_reading(w->store, what, &last, err) < 0)
		return -1;
	bool same = strcmp(last.boot, now.boot) == 0 && last.pid == now.pid &&
		    last.start == now.start && last.ticks <= now.ticks;
	double s = (double)(now.ticks - (same ? last.ticks : 0)) / (double)sysconf(_SC_CLK_TCK);
	(void)snprintf(text, sizeof(text), "%s %d %llu %llu", now.boot, now.pid, now.start,
			 now.ticks);		/* fits */
	return store_own_add(w->store, what, now_ns, s, err) < 0 ? -1 :
	       store_own_last_put(w->store, what, text, err);
}

static double own_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);	/* cannot fail for this clock */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int account_jobs(struct work *w, uint64_t now_ns, struct err *err)
{
	static const enum store_own what[ASK_NCOST] = {
		[ASK_ANALYSES] = STORE_OWN_ANALYSES, [ASK_LAYOUTS] = STORE_OWN_LAYOUTS,
		[ASK_PROOFS] = STORE_OWN_PROOFS, [ASK_REGISTERS] = STORE_OWN_REGISTERS,
		[ASK_OTHERS] = STORE_OWN_JOBS,
	};

	for (int i = 0; i < ASK_NCOST; i++) {
		uint64_t ms = w->ask->cost_ms[i] - w->own.cost_ms[i];

		if (store_own_add(w->store, what[i], now_ns, (double)ms / 1000, err) < 0)
			return -1;
	}
	return 0;
}

static int account(struct work *w, uint64_t samples, uint64_t now_ns, struct err *err)
{
	const uint64_t *roles = w->ask->roles.num;
	double mine_s = own_s();

	if (account_role(w, STORE_OWN_MONITOR, roles[MSG_ROLES_monitor_pid], now_ns, err) < 0 ||
	    account_role(w, STORE_OWN_PARENT, roles[MSG_ROLES_parent_pid], now_ns, err) < 0 ||
	    store_own_add(w->store, STORE_OWN_MANAGER, now_ns, mine_s - w->own.manager_s, err) <
		    0 ||
	    account_jobs(w, now_ns, err) < 0 ||
	    store_own_add(w->store, STORE_OWN_SAMPLES, now_ns, (double)samples, err) < 0)
		return -1;
	w->own.manager_s = mine_s;
	memcpy(w->own.cost_ms, w->ask->cost_ms, sizeof(w->own.cost_ms));
	return 0;
}

static uint64_t taken(const struct attribution *a)
{
	static const enum counter of_samples[] = {
		COUNTER_KNOWN, COUNTER_OUTSIDE, COUNTER_UNKNOWN, COUNTER_ANON, COUNTER_VDSO,
		COUNTER_KERNEL, COUNTER_NOPROCESS, COUNTER_ELSEWHERE, COUNTER_NOWHERE,
	};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(of_samples) / sizeof(of_samples[0]); i++)
		n += a->counter[of_samples[i]];
	return n;
}

void work_account(struct work *w, const struct attribution *a)
{
	const __typeof__(w->own) before = w->own;
	const uint64_t now_ns = store_now_ns();
	struct err err = { 0 };
	int rc = store_begin(w->store, &err);

	if (rc == 0 && account(w, taken(a), now_ns, &err) < 0) {
		store_rollback(w->store);
		rc = -1;
	} else if (rc == 0) {
		rc = store_commit(w->store, &err);
	}
	if (rc < 0)
		w->own = before;	/* the next time */
	if (rc == 0 && w->now_ms() >= w->own.thin_ms) {
		w->own.thin_ms = w->now_ms() + DAY_MS;
		rc = store_saved_thin(w->store, now_ns, &err);
		if (rc == 0)
			rc = store_ran_thin(w->store, now_ns, &err);
	}
	if (rc < 0)
		role_log_err(&err);
}
