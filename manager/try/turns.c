/* turns.c - a process with generations and without them, in turns of some seconds
 *
 * Two turns are a pair; which one is first is chance.  A turn begins some time after the swap,
 * so that neither the pause nor what it left cold is in it.  A thread that is in a loop of new
 * text goes on in it when the original is back, until it leaves the function: that makes the
 * two alike, never the ratio larger than it is.
 *
 * Tested by tests/e2e/trypid.sh.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "manager/try/interrupt.h"
#include "manager/try/running.h"
#include "policy/workcost.h"

/* Chosen.  There should be time for so many pairs. */
enum { PAIRS = 36, SLICES = 6, IDLE_MOST = 8, TRIES = 3 };
static const double settle_s = 0.1, slice_s = 0.5, shortest_s = 0.3, longest_s = 3;
static const double shortest_counted_s = 1;

static bool chance(void)
{
	unsigned char b = 0;

	(void)!getrandom(&b, 1, 0);	/* else always the same order */
	return b & 1;
}

int running_choose_work(struct running *t, struct err *err)
{
	struct procwork r[SLICES + 1];
	double s = t->o->time_s / 20 / SLICES;
	uint32_t n = 0;

	progress_say(t->begun_s, "counting what it does");
	if (s > slice_s)
		s = slice_s;
	for (; n <= SLICES; n++)
		if ((n && meter_wait(&t->meter, s, err) < 0) ||
		    meter_read(&t->meter, &r[n], err) < 0)
			return -1;
	t->kind = t->o->count ? PROCWORK_COUNT : workcost_choose(r, n);
	if (r[n - 1].cpu_s - r[0].cpu_s <= 0)
		return err_set(err, ERR_REFUSED, "it cannot be told: it does nothing");
	if (t->kind < 0)
		return err_set(err, ERR_REFUSED, "it cannot be told: no work that can be "
			       "counted; name a counter (--count)");
	return 0;
}

static int swap_once(struct running *t, bool in, struct err *err)
{
	struct splicing_said said;

	if (!in) {
		if (splicing_off(&t->splicing, t->o->pid, &said, err) < 0)
			return -1;
		t->pause_us[t->nswap++ % RUNNING_SWAPS] = said.pause_us;
		t->in = false;
		return 0;
	}
	for (unsigned i = 0; i < t->nmodule; i++) {
		if (t->module[i].why.kind != ERR_NONE)
			continue;
		t->module[i].mapped = true;	/* or may be */
		if (splicing_on(&t->splicing, t->o->pid, &t->module[i].made, &said, err) < 0)
			return -1;
		t->in = true;
		t->pause_us[t->nswap++ % RUNNING_SWAPS] = said.pause_us;
	}
	return 0;
}

int running_swap(struct running *t, bool in, struct err *err)
{
	int rc = -1;

	for (int i = 0; i < TRIES && rc < 0; i++) {
		rc = swap_once(t, in, err);
		if (rc < 0 && (err->kind != ERR_REFUSED || meter_ended(&t->meter) ||
			       (in && interrupt_signal())))
			break;
	}
	return rc;
}

/* CPU time for a unit of work; 0: there was none. */
static int take_turn(struct running *t, bool in, double *cost, struct err *err)
{
	struct procwork from, to;

	if (running_swap(t, in, err) < 0 || meter_wait(&t->meter, settle_s, err) < 0 ||
	    meter_read(&t->meter, &from, err) < 0 ||
	    meter_wait(&t->meter, t->turn_s, err) < 0 || meter_read(&t->meter, &to, err) < 0)
		return -1;
	*cost = workcost(&from, &to, (enum procwork_kind)t->kind);
	return 0;
}

static int take_pair(struct running *t, struct err *err)
{
	double cost[2], begun = progress_elapsed_s(t->begun_s);
	bool first = chance();

	for (int i = 0; i < 2; i++) {
		bool in = i ? !first : first;

		if (take_turn(t, in, &cost[in], err) < 0)
			return -1;
	}
	t->pair_s = progress_elapsed_s(t->begun_s) - begun;
	if (cost[0] > 0 && cost[1] > 0)
		ratio_add(&t->ratio, cost[0], cost[1]);
	else if (++t->idle == IDLE_MOST && !t->ratio.n)
		return err_set(err, ERR_REFUSED, "it cannot be told: it does nothing that is "
			       "counted (%s)", procwork_unit[t->kind]);
	return 0;
}

static void choose_turn(struct running *t)
{
	double left = t->o->time_s - progress_elapsed_s(t->begun_s);
	double shortest = t->o->count ? shortest_counted_s : shortest_s;
	double s = left / (2 * PAIRS) - settle_s;

	t->turn_s = t->o->turn_s > 0 ? t->o->turn_s :
		    s < shortest ? shortest : s > longest_s ? longest_s : s;
	t->pair_s = 2 * (t->turn_s + settle_s);
}

int running_measure(struct running *t, struct err *err)
{
	choose_turn(t);
	t->before_s = progress_elapsed_s(t->begun_s);
	progress_say(t->begun_s, "in turns of %.1f s with and without it: CPU time for each %s",
		    t->turn_s, procwork_unit[t->kind]);
	while (t->ratio.n < RATIO_PAIRS_MAX &&
	       progress_elapsed_s(t->begun_s) + t->pair_s <= t->o->time_s) {
		if (take_pair(t, err) < 0)
			return -1;
		if (!t->ratio.n || !ratio_due(&t->ratio))
			continue;
		progress_say(t->begun_s,
			     "%u pairs: %.3f (%.3f to %.3f) times as fast", t->ratio.n,
			     t->ratio.estimate, t->ratio.low, t->ratio.high);
		if (ratio_known(&t->ratio))
			break;
	}
	/* those that counted, with what the others took */
	double each_s = t->ratio.n ? (progress_elapsed_s(t->begun_s) - t->before_s) /
				     t->ratio.n : 0;
	if (each_s > t->pair_s)
		t->pair_s = each_s;
	ratio_end(&t->ratio);
	return 0;
}
