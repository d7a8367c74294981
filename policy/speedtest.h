/* speedtest.h - decides whether a new generation made its module slower or faster
 *
 * It compares observations.  An observation is a set of sums over the processes of one kind
 * that had the module mapped, over a while.  A kind is an executable and the program that
 * started it, so that like is compared with like; the first four kinds of a module are looked
 * at.  Each observation gives two numbers, both logarithms:
 *
 *	per run		CPU time of a process from exec to exit
 *	per rest	time in the module per time in the rest of the same processes: other
 *			modules and the kernel, whose work a generation does not change
 *
 * The first fails when jobs become larger, the second where there is little besides the module;
 * jobs that become larger have more of the rest as well.  Both are compared, after the swap
 * with before it, by ranks (ranktest.h).  Looks are taken when 6, 12, 20 and 32 observations
 * have come since the swap (chosen).  So each look gets a quarter of the permitted probability
 * of error, and each of the two numbers half of that.
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
 * chance, a swap is called slower with a probability of at most SPEEDTEST_ALPHA.  What is not
 * chance, a use that changes for good at the time of the swap in a way that both numbers
 * follow, is not told apart.
 */
#ifndef POLICY_SPEEDTEST_H
#define POLICY_SPEEDTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/ranktest.h"

#define SPEEDTEST_ALPHA 0.001	/* chosen: one swap in a thousand may be undone by chance */

#define SPEEDTEST_LONG_RUN_S 600	/* chosen */

enum { SPEEDTEST_KINDS = 4, SPEEDTEST_LOOKS = 4, SPEEDTEST_MAX = RANKTEST_SIDE_MAX };

struct speedtest_sums {
	double module_s, rest_s;	/* time of the processes that had the module mapped */
	/* all of the time of those that ended, since their exec */
	double run_s;
	uint32_t runs;			/* how many these are */
	uint32_t samples, rest_samples;
	double covered_s;		/* by the clock */
};

struct speedtest_side {
	struct speedtest_sums open;		/* the observation that is still growing */
	uint32_t n;			/* newest last */
	float per_run[SPEEDTEST_MAX], per_rest[SPEEDTEST_MAX];	/* NAN: not known */
};

struct speedtest_kind {
	uint32_t key;			/* any number that names the kind, not 0 */
	struct speedtest_side before, now;
};

enum speedtest_verdict {
	SPEEDTEST_OPEN,			/* too early to tell */
	SPEEDTEST_SLOWER, SPEEDTEST_FASTER,
	SPEEDTEST_UNMEASURED,		/* cannot be told apart */
};
extern const char *const speedtest_verdict_name[], *const speedtest_verdict_code[];

enum speedtest_by { SPEEDTEST_BY_NOTHING, SPEEDTEST_BY_RUN, SPEEDTEST_BY_REST };

struct speedtest {
	uint32_t generation;		/* that `now` is of; 0: the original */
	uint32_t before;		/* that `before` is of */
	uint32_t looks;			/* taken since the swap */
	enum speedtest_verdict verdict;
	struct ranktest_shift shift;	/* of the logarithm, at the last look; > 0: slower */
	enum speedtest_by by;		/* ... and of which number that is */
	uint32_t nkind;
	struct speedtest_kind kind[SPEEDTEST_KINDS];
};

/* Another generation is at the path: what is known of the one there becomes `before`, as far
 * as there is anything. */
void speedtest_swap(struct speedtest *p, uint32_t generation);
/* More of what ran with p->generation.  An observation ends when it covers `observe_s` and
 * has samples enough. */
void speedtest_add(struct speedtest *p, uint32_t key, const struct speedtest_sums *more,
		   double observe_s);
/* Takes a look if one is due: true when the verdict or the shift is a new one. */
bool speedtest_look(struct speedtest *p);
/* Is so much known of what runs now that the next generation can be compared with it: could
 * the second look after a swap be certain, if observations come as they came? */
bool speedtest_known(const struct speedtest *p);
/* Observations since the swap, and before it, that can be compared. */
uint32_t speedtest_observed(const struct speedtest *p, uint32_t *before);
/* What a run of the kind with the key usually takes, or, `per_rest`, its time in the module for
 * each second in the rest of it, by what is at the path now; NAN: not known. */
double speedtest_usual(const struct speedtest *p, uint32_t key, bool per_rest);
/* CPU time of a run by the newest observations in which any ended: the longest of the kinds.
 * INFINITY: there is a kind none of whose processes has ended in SPEEDTEST_LONG_RUN_S of
 * observations, each of at least observe_s, or in as many as are kept; a kind that was not
 * observed for so long tells nothing.  NAN: none tells anything. */
double speedtest_run_s(const struct speedtest *p, double observe_s);
/* For people: "faster, time -3.1 % (-5.0 .. -1.2), 12 observations to 20"; at least
 * SPEEDTEST_TEXT_MAX bytes. */
enum { SPEEDTEST_TEXT_MAX = 128 };
void speedtest_text(const struct speedtest *p, char *out);
/* Has the last look told how fast it is, within an interval?  Not where the two numbers
 * contradict each other. */
bool speedtest_measured(const struct speedtest *p);

#endif
