/* speedtest.h - did a new generation make its module slower or faster?
 *
 * What is compared are observations: sums over the processes of one kind that had the module
 * mapped, over a while.  A kind is an executable and who started it, so that like is compared
 * with like; the four kinds that come first are looked at.  Each observation gives two numbers,
 * both logarithms:
 *
 *	per run		CPU time of a process from exec to exit
 *	per rest	time in the module per time in the rest of the same processes: other
 *			modules and the kernel, whose work a generation does not change
 *
 * The first fails when jobs become larger, the second where there is little besides the module;
 * jobs that become larger have more of the rest as well.  Both are compared, after the swap
 * with before it, by ranks (ranktest.h).  Looks are taken when 6, 12, 20 and 32 observations
 * have come since the swap, so each may err with a quarter of what all may; and one number or
 * the other decides, so half of that again.
 *
 *	slower	the one with the narrower interval says so with certainty, and the other
 *		agrees: `per rest` must show at least half of what `per run` shows, while `per
 *		run`, which varies more, must only not exclude half of what `per rest` shows
 *	faster	the same the other way round
 *	unmeasured	after the last look, neither; or at the first, when nothing was known
 *                        of what was
 *		there before, and so never will be
 *
 * Without an effect, and as long as observations before and after the swap are alike but for
 * chance, a swap is called slower with a probability of at most PACE_ALPHA.  What is not
 * chance, a use that changes for good at the time of the swap in a way that both numbers
 * follow, is not told apart.
 */
#ifndef POLICY_SPEEDTEST_H
#define POLICY_SPEEDTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/ranktest.h"

#define PACE_ALPHA 0.001

enum { PACE_KINDS = 4, PACE_LOOKS = 4, PACE_MAX = RANKTEST_SIDE_MAX };

struct pace_sums {
	double module_s, rest_s;	/* time of the processes that had the module mapped */
	/* all of the time of those that ended, since their exec */
	double run_s;
	uint32_t runs;			/* how many these are */
	uint32_t samples, rest_samples;
	double covered_s;		/* by the clock */
};

struct pace_side {
	struct pace_sums open;		/* the observation that is still growing */
	uint32_t n;			/* newest last */
	float per_run[PACE_MAX], per_rest[PACE_MAX];	/* NAN: not known */
};

struct pace_kind {
	uint32_t key;			/* any number that names the kind, not 0 */
	struct pace_side before, now;
};

enum pace_verdict {
	PACE_OPEN,			/* too early to tell */
	PACE_SLOWER, PACE_FASTER,
	PACE_UNMEASURED,		/* cannot be told apart */
};
extern const char *const pace_verdict_name[];

struct pace {
	uint32_t generation;		/* that `now` is of; 0: the original */
	uint32_t before;		/* that `before` is of */
	uint32_t looks;			/* taken since the swap */
	enum pace_verdict verdict;
	struct ranktest_shift shift;	/* of the logarithm, at the last look; > 0: slower */
	uint32_t nkind;
	struct pace_kind kind[PACE_KINDS];
};

/* Another generation is at the path: what is known of the one there becomes `before`, as far
 * as there is anything. */
void pace_swap(struct pace *p, uint32_t generation);
/* More of what ran with p->generation.  An observation ends when it covers `observe_s` and
 * has samples enough. */
void pace_add(struct pace *p, uint32_t key, const struct pace_sums *more, double observe_s);
/* Takes a look if one is due: true when the verdict or the shift is a new one. */
bool pace_look(struct pace *p);
/* Is so much known of what runs now that the next generation can be compared with it: could
 * the second look after a swap be certain, if observations come as they came? */
bool pace_known(const struct pace *p);
/* Observations since the swap, and before it, that can be compared. */
uint32_t pace_observed(const struct pace *p, uint32_t *before);
/* For people: "faster, time -3.1 % (-5.0 .. -1.2), 12 observations to 20"; at least
 * PACE_TEXT_MAX bytes. */
enum { PACE_TEXT_MAX = 128 };
void pace_text(const struct pace *p, char *out);

#endif
