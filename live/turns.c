/* turns.c - a process with its generation and without it, for a while each
 *
 * A turn begins some time after the change, so that neither the pause nor what it left cold is
 * in it.  A thread that is in a loop of new text goes on in it when the original is back, until
 * it leaves the function: that makes the two alike, never their difference larger than it is.
 *
 * Killed in the middle, it leaves the process with the generation or without it.
 *
 * Tested by tests/e2e/liveturns.sh.
 */
#include "live/turns.h"

#include <stdbool.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/pausing.h"
#include "live/splice.h"

/* Chosen; as manager/try/turns.c has it. */
enum { SETTLE_MS = 100 };

struct work {
	pid_t pid;
	const struct live_plan *plan;
	int generation;
	const struct live_limits *limits;
	struct pausing *pausing;
	struct live_turns *out;
	bool in;			/* it is mapped, as far as is known */
};

static bool chance(void)
{
	unsigned char b = 0;

	(void)!getrandom(&b, 1, 0);	/* else always the same order */
	return b & 1;
}

static int swap(struct work *w, bool in, struct err *err)
{
	struct live_outcome one;
	int rc = in ? live_on(w->pid, w->plan, w->generation, w->limits, &one, err) :
		      live_off_file(w->pid, w->generation, w->limits, &one, err);

	if (one.pause_ns > w->out->pause_ns)
		w->out->pause_ns = one.pause_ns;
	if (rc == 0)
		w->in = in;
	return rc;
}

static int read_work(const struct work *w, struct procwork *out, struct err *err)
{
	return procwork_read(w->pid, out) ? 0 :
	       err_set(err, ERR_SYS, "it has ended");
}

static int take_turn(struct work *w, bool in, uint64_t ms, struct err *err)
{
	struct procwork from, to;

	if (swap(w, in, err) < 0 || pausing_wait(w->pausing, SETTLE_MS, err) < 0 ||
	    read_work(w, &from, err) < 0 || pausing_wait(w->pausing, ms, err) < 0 ||
	    read_work(w, &to, err) < 0)
		return -1;
	to.cpu_s -= from.cpu_s;
	for (int k = 0; k < PROCWORK_KINDS; k++)
		to.work[k] -= from.work[k];
	w->out->done[in] = to;
	return 0;
}

int live_turns(pid_t pid, const struct live_plan *plan, int generation,
	       const struct live_limits *limits, uint64_t ms, struct live_turns *out,
	       struct err *err)
{
	struct pausing pausing;
	struct work w = { pid, plan, generation, limits, &pausing, out, true };
	bool first = chance();
	struct err why;

	*out = (struct live_turns){ 0 };
	if (pausing_open(&pausing, pid, err) < 0)
		return -1;
	int rc = take_turn(&w, first, ms, err);
	if (rc == 0)
		rc = take_turn(&w, !first, ms, err);
	if (!w.in && !pausing_told(&pausing) && swap(&w, true, &why) < 0) {
		*err = why;
		rc = err_wrap(err, "it has its original for now");
	}
	pausing_close(&pausing);
	return rc;
}
