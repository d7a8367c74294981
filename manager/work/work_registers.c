/* work_registers.c - registers with the samples: when to take them, and what becomes of them
 *
 *   monitor --descriptor, with SYNC--> feed --beside the spool--> states of one file
 *           --memory file--> confined morph-edit interpret --counts--> store
 *
 * They are in memory from end to end, and gone when the spool has been taken in.
 *
 * Tested by tests/e2e/registers.sh and tests/unit/manager/work/test_work_jobs.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/work/work.h"
#include "policy/decide.h"
#include "policy/evidence.h"
#include "policy/policy.h"

/* --- a confined interpreter for one file --- */

int work_interpret(void *ctx, int fd, int original, struct bytes states, struct wr *edges,
		   struct err *err)
{
	struct work *w = ctx;
	struct ask_limits limits = work_limits(w->policy);
	struct ask_job job = { .kind = JOB_INTERPRET, .nin = original < 0 ? 2 : 3,
			       .in = { fd, io_memory_file(states, err), original } };
	const uint32_t owner = work_owner(fd);
	int out, rc = -1;

	if (job.in[1] < 0)
		return -1;
	if (!w->asked_by_trusted &&
	    (work_try_jobs(w, err) < 0 || work_budget(w, owner, 0, err) < 0)) {
		close(job.in[1]);
		return -1;
	}
	work_charge(w, 0, 0, 0);
	if (ask_run_job(w->ask, &job, &limits, &out, 1, err) == 0) {
		rc = work_read(out, edges, err);
		close(out);
	}
	close(job.in[1]);
	work_charge(w, 0, owner, 0);
	if (rc < 0 && w->ask->stop)
		/* as in analysis: the spool file is taken in whole the next time */
		_exit(0);
	return rc;
}

/* Exact counts tell where branches go: registers tell nothing on top of that, nor where they
 * are about to come. */
static bool is_counted(const struct work *w, const struct store_module *m)
{
	struct store_counting c;
	double weight;
	struct err ignored;

	if (store_counting_get(w->store, m->id, &c, &ignored) == 1)
		return true;
	return store_counted_weight(w->store, m->id, &m->original, &weight, &ignored) == 0 &&
	       decide_counts_last(weight);
}

/* Of samples in modules it has that share. */
static bool is_lacking(const struct work *w, const struct store_module *m, double share,
		       bool on)
{
	return evidence_lacking(share, m->states, on) && !is_counted(w, m);
}

/* Who is asked takes a second of CPU time for a large program, each time that samples are taken
 * in: not for a module that has what it needs while another one lacks it. */
bool work_lacks(void *ctx, const struct store_module *m)
{
	const struct work *w = ctx;

	return w->policy->registers != SWITCH_AUTO || w->samples <= 0 ||
	       is_lacking(w, m, m->samples / w->samples, true);
}

/* --- when to take them --- */

struct lookout {
	const struct work *w;
	double samples;			/* of all modules */
	bool found;
	char why[sizeof(((struct work *)0)->registers_why)];
};

static bool add_samples(void *ctx, const struct store_module *m)
{
	struct lookout *l = ctx;

	l->samples += m->samples;
	return true;
}

static bool find_lacking(void *ctx, const struct store_module *m)
{
	struct lookout *l = ctx;

	if (m->refusal[0] || !policy_allows(l->w->policy, m->path) || !l->samples ||
	    !is_lacking(l->w, m, m->samples / l->samples, l->w->registers))
		return true;
	(void)snprintf(l->why, sizeof(l->why),
		       "on: %.200s has %.0f samples with registers of %d", m->path, m->states,
		       EVIDENCE_ENOUGH);	/* a cut path still tells */
	l->found = true;
	return false;
}

static int want_registers(struct work *w, bool *on, struct err *err)
{
	struct lookout l = { .w = w };

	if (w->policy->registers != SWITCH_AUTO) {
		*on = w->policy->registers == SWITCH_ON;
		(void)snprintf(w->registers_why, sizeof(w->registers_why),
			       "%s, as the policy says", *on ? "on" : "off");	/* fits */
		return 0;
	}
	if (store_module_each(w->store, add_samples, &l, err) < 0)
		return -1;
	w->samples = l.samples;
	if (store_module_each(w->store, find_lacking, &l, err) < 0)
		return -1;
	*on = l.found;
	(void)snprintf(w->registers_why, sizeof(w->registers_why), "%s", l.found ? l.why :
		       "off: no busy module lacks the evidence");	/* fits */
	return 0;
}

int work_registers(struct work *w, struct err *err)
{
	bool on = false;

	if (want_registers(w, &on, err) < 0)
		return -1;
	if (on == w->registers)
		return 0;
	w->registers = on;
	return ask_registers(w->ask, on, err);
}
