/* decide.h - decides whether it is time to lay a module out, for the first time or again
 *
 * Zhang et al. leave open (SOSP 1997, section 5) whether to optimize rarely or frequently.  The
 * answer here: whenever the expected gain is worth the work.  The gain is estimated from
 * three uses of the module, all of them samples of blocks:
 *
 *	use	all that is known of it, the old faded; what a generation would be made from
 *                now
 *	made	what the present generation was made from; empty without one
 *	recent	the last window of samples: how it is used now
 *
 *	gain = share of the machine's time * full gain *
 *	       (quality(use) * served(use, recent) - quality(made) * served(made, recent))
 *
 * where the full gain is what a perfect profile brings, and quality() is the part of it that a
 * sampled one of that size brings.  A window of recent samples lasts optimize.cool_down_h at
 * least, so that habits of day and night are one use and get one layout.  When it ends and
 * shows that the use has changed, the older samples lose so much weight that the window's share
 * of all of them is as large as the change: see decide_forget().  If that was a mistake, the
 * old use is learnt again as fast as it was forgotten.
 */
#ifndef POLICY_DECIDE_H
#define POLICY_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/usage.h"

struct policy;

struct decide_module {
	struct usage use, made, recent;
	double time_share;	/* of all sampled time lately, 0..1 */
	double full_gain;	/* of the module's own time: measured on its generations, or
				 * DECIDE_FULL_GAIN */
	bool observed;		/* enough is known of the speed of what it would replace */
	double known_s;		/* since it was seen first, by the clock */
	double since_s;		/* since its last generation was made; < 0: never */
	double job_cpu_s;	/* what making one should take */
	double spent_cpu_s;	/* by jobs for all modules in the last 24 hours */
	double spent_disk_mib;	/* written by installs in the last 24 hours */
	double own_cpu_s, own_disk_mib;	/* of both, what was for this module */
	double disk_mib;	/* of one more generation */
};

enum decide_reason {
	DECIDE_FIRST,	/* act: it has none yet */
	/* act: the same, though not observed in all of optimize.observe_first_h */
	DECIDE_BLINDLY,
	DECIDE_AGAIN,	/* act: the one it had is not at its path any more */
	DECIDE_EVIDENCE,	/* act: far more is known than when its generation was made */
	DECIDE_DRIFT,	/* act: it is used in another way than it was made for */
	DECIDE_FEW_SAMPLES,	/* wait: below optimize.min_samples */
	DECIDE_UNSEEN,	/* wait: too much of its time may be in blocks not seen yet */
	DECIDE_LITTLE_GAIN,	/* wait: below optimize.min_gain */
	DECIDE_SAME_USE,	/* wait: used as it was made for */
	DECIDE_UNOBSERVED, /* wait: its first one could not be compared with its original */
	DECIDE_COOL_DOWN,	/* wait: its last one is too new */
	DECIDE_CPU_BUDGET,
	DECIDE_DISK_BUDGET,	/* wait: today's is spent */
};
extern const char *const decide_reason_text[];	/* a few words each */

struct decision {
	enum decide_reason reason;
	bool act;
	double unseen, drift;	/* 0..1; drift is 0 without a generation */
	double gain;		/* of the machine's time, estimated, 0..1 */
};

/* Seconds from then to now by a clock that people set.  A moment in the future means that the
 * clock was set back: if it is a day off or more it counts as infinitely long ago, so that
 * nothing waits for it. */
double decide_since_s(uint64_t then_ns, uint64_t now_ns);

/* Is a window of so many samples that began so long ago complete?  Then it is judged, and a
 * new one begins.  The first one need not last: any generation is better than none. */
bool decide_window_ends(const struct policy *p, bool first, double samples, double since_s);

/* Factor, 0..1, for the samples in `use` that are older than the window `recent`. */
double decide_forget(const struct usage *use, const struct usage *recent);

/* 0.05: about the gain of a perfect profile on programs that had never been measured before. */
extern const double DECIDE_FULL_GAIN;

/* The part of the full gain that a layout from such a sampling reaches: 0..1. */
double decide_quality(const struct usage *made_from);

/* A process died that had a generation mapped.  Is the generation to blame, or did the
 * program die as often before?  The generation is blamed unless its original died as well, and
 * so often that chance alone would bring that many deaths, in that time, with a probability of
 * 5 % or more (Poisson; 5 % is the usual level, chosen). */
bool decide_blames(unsigned deaths, double watched_s, unsigned deaths_before,
		   double watched_before_s);

enum { DECIDE_COUNT_RUNS = 8 };	/* so many are counted at most */

/* Is it worth to count, before the module is laid out, what samples leave open?  Its runs take
 * `run_s` seconds (not finite: not known).  A run must be short, because it cannot be taken
 * back; what knowing would bring must be worth a layout, and all runs together may take no more
 * longer than it brings back within a day. */
bool decide_counts(const struct policy *p, const struct decide_module *m, double run_s);

struct decision decide(const struct policy *p, const struct decide_module *m);

#endif
