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

/* How a module runs, as far as it matters for counting. */
struct decide_runs {
	/* CPU time of the longest; INFINITY: it goes on; NAN: not known */
	double run_s;
	double next_s;		/* until it is decided on the module again */
	bool crashed;		/* a generation of it, be it of another original */
	/* CPU time that counting has taken from programs in the last 24 hours: all, this one */
	double spent_s, own_spent_s;
};

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
	struct decide_runs runs;	/* for decide_counts() alone */
	double inherited, fleet;	/* of the samples in `use`; 0: all are its own */
	double others_unseen;	/* if there are such: of the version before, or the fleet */
};

/* What is known of a module from the version before (manager/work/work_inherit.c). */
struct decide_inherited {
	struct usage use;	/* in blocks of the present version */
	double samples;		/* that it counts for at most; faded */
	double matched;		/* share of the old version's samples that were recognised */
	double unseen;		/* usage_unseen() of the old version */
};

enum decide_inherit {
	DECIDE_INHERIT,		/* use it */
	DECIDE_INHERIT_NOT,	/* the policy does not want it */
	DECIDE_INHERIT_STRANGE,	/* less than profile.inherit_least_pct was recognised */
	DECIDE_INHERIT_DISPLACED,	/* there are enough samples of its own */
	DECIDE_INHERIT_DRIFT,	/* its own samples show another use */
};
extern const char *const decide_inherit_text[];	/* a few words each */
extern const char *const decide_inherit_code[];	/* a word for programs */

/* Is inherited evidence used beside the samples `own`?  As that of *samples, which fill up what
 * own ones lack of optimize.min_samples, so that each own one takes the place of one of them;
 * 0 where it is not used. */
enum decide_inherit decide_inherits(const struct policy *p, const struct decide_inherited *i,
				    const struct usage *own, double *samples);
/* With others' evidence a module may be judged sooner: after so many own samples. */
double decide_inherit_least(double min_samples);

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
/* What else a window may end with. */
extern const char decide_few_people[], decide_put_back[], decide_came_back[];
/* A word for programs, by what a verdict begins with: "" for none, "refused" where it is
 * anything else. */
const char *decide_code_of(const char *verdict);

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

/* So many are counted: a compiler's runs, each of another source, must be enough for the next
 * one's; bench/results/counted_compilers.md.  More are where these are short, up to
 * DECIDE_COUNT_RUNS_MOST, and fewer where they have cost as much as DECIDE_COUNT_WORTH usual
 * ones, but DECIDE_COUNT_RUNS_LEAST (chosen). */
enum { DECIDE_COUNT_RUNS = 12, DECIDE_COUNT_RUNS_MOST = 128, DECIDE_COUNT_RUNS_LEAST = 6,
       DECIDE_COUNT_WORTH = 2 };

/* Of what samples leave uncertain so much is counted; bench/results/counted_compilers.md. */
enum { DECIDE_COUNT_PCT = 95 };

/* Counting a module exactly, before it is laid out, or why not. */
enum decide_count {
	DECIDE_COUNT,		/* act */
	DECIDE_COUNT_NOT,	/* the policy does not want it */
	DECIDE_COUNT_CRASHED,
	DECIDE_COUNT_NO_RUNS,	/* how long one takes is not known */
	DECIDE_COUNT_LONG_RUNS,	/* or not short against the time until the next decision */
	DECIDE_COUNT_LITTLE,	/* what samples leave open is worth no layout */
	DECIDE_COUNT_COST,	/* it would take more than it brings back, or than is allowed */
};
extern const char *const decide_count_text[];	/* a few words each */

/* What knowing all would bring, of the machine's time, where the samples leave `open`, 0..1, of
 * the full gain to be had. */
double decide_open_gain(const struct decide_module *m, double open);
/* CPU time that counting is expected to take from those who run the module, all in all. */
double decide_count_cost_s(const struct decide_runs *r);
/* Are so many runs enough, which took so much CPU time, spent_s of it by counting, where all
 * were expected to cost cost_s (of decide_count_cost_s(); 0: not known)?  Runs that are short
 * beside the usual tell little of these, such as a compiler's by `configure`. */
bool decide_counted_enough(uint32_t runs, double took_s, double spent_s, double cost_s);
/* CPU time that counting may take within a day: what the policy grants the module, or else what
 * it should bring back. */
double decide_count_most_s(const struct policy *p, double gain);
/* Is it worth to count, where the samples leave `open` to be had?  A counting process keeps its
 * generation until it ends: so long-lived ones get none, and all runs together are short
 * against the time until the module is decided on again.  Knowing must bring as much as a
 * layout must, and what it costs within a day is bounded. */
enum decide_count decide_counts(const struct policy *p, const struct decide_module *m,
				double open);

/* The same, in a burst: by a process that does not end, for optimize.count_burst_s, where the
 * policy lets running processes have generations (optimize.live).  Where runs are short these
 * tell more, so it is DECIDE_COUNT_NOT. */
enum decide_count decide_burst(const struct policy *p, const struct decide_module *m,
			       double open);
/* CPU time that this is expected to take. */
double decide_burst_cost_s(const struct policy *p);

enum { DECIDE_BURST_LEAST_PCT = 5 };
/* Has a process that took so much CPU time while it counted been at work? */
bool decide_burst_tells(double counted_s, double cpu_s);

/* Is a generation that counts too slow?  `slower`: by how much its processes take longer than
 * the original's did, as a logarithm, and `more` the same of the module's share of their time;
 * NAN: not known.  `runs` have ended, and before the first does one is under way: few, or a
 * part of one, differ from what is usual by chance, too.  All of them took `took_s`, of which a
 * minute tells as much as a run, for there may be some that do not end; INFINITY: no chance. */
bool decide_count_is_slow(double slower, double more, uint32_t runs, double took_s);

/* By how much what counts is slower, as a logarithm, where processes took so long that usually
 * take usual_s; NAN: not known, or by too few samples. */
double decide_count_slower(double s, double usual_s, double samples);
/* CPU time that it has taken more than usual, of module_s in the module: by what is known of
 * `slower` and `more`, as of decide_count_is_slow(), else what is on the safe side. */
double decide_count_spent_s(double module_s, double slower, double more);

/* Are counts of so much weight still used, where nothing else speaks against them? */
bool decide_counts_last(double weight);
/* Do exact counts still tell how the module is used?  They are of so much weight, 1 at first,
 * which fades as samples do, and were made when it was used as in `counted`; now `use`. */
bool decide_counts_hold(const struct policy *p, double weight, const struct usage *counted,
			const struct usage *use);

struct decision decide(const struct policy *p, const struct decide_module *m);
/* The same of a module that is counted first, which tells of the blocks not seen yet. */
struct decision decide_but_unseen(const struct policy *p, const struct decide_module *m);

#endif
