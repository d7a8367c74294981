/* age.c - is the call that a thread is in too old to begin anew?
 *
 * Tested by tests/unit/live/test_age.c, and on the kernel by tests/e2e/live.sh.
 */
#include "live/age.h"

/* YOUNG_NS: so much later than it should a call with a time limit may end.
 * LEFT_NS: who has run so long has left a call that it was in; more than once its CPU time must
 * have grown, as a host that takes the CPU away is one step of it. */
enum { YOUNG_NS = 5000000, LEFT_NS = 1000000, LEFT_STEPS = 2 };

static bool has_left(const struct age *a)
{
	return a->grown >= LEFT_STEPS && a->last.cpu_ns - a->from_ns >= LEFT_NS;
}

static void look_at_running(struct age *a, const struct age_seen *before)
{
	if (before->now_ns == 0) {
		a->perhaps = true;
		a->from_ns = a->last.cpu_ns;
	}
	a->grown += before->now_ns != 0 && a->last.cpu_ns != before->cpu_ns;
	if (has_left(a))
		a->perhaps = false;
	a->old = a->perhaps;
}

static void look_at_limited(struct age *a, const struct age_seen *before)
{
	if (before->now_ns != 0 && a->last.runs != before->runs)
		a->since_ns = before->now_ns;
	a->perhaps = true;
	a->from_ns = a->last.cpu_ns;
	a->grown = 0;
	a->old = a->last.now_ns - a->since_ns > YOUNG_NS;
}

void age_look(struct age *a, const struct age_seen *seen)
{
	struct age_seen before = a->last;

	a->last = *seen;
	if (seen->limited)
		look_at_limited(a, &before);
	else if (seen->running)
		look_at_running(a, &before);
	else
		a->old = a->perhaps = false;
}
