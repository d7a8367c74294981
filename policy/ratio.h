/* ratio.h - how many times as fast, by pairs of runs, with an interval that stays true although
 * it is looked at more than once
 *
 * The ratios of the pairs are taken as they are, whatever their distribution: the estimate is
 * their median, the interval that of the sign test, which policy/ranktest.h gives when every
 * pair is a stratum of its own.  It is looked at after fixed numbers of pairs (ratio.c), each
 * time at a level that leaves all looks together 95 %, or what is asked for.
 */
#ifndef POLICY_RATIO_H
#define POLICY_RATIO_H

#include <stdbool.h>
#include <stdint.h>

enum { RATIO_PAIRS_MAX = 64, RATIO_LOOKS = 5 };
/* Pairs without which there is no interval at all: 0.5^6 < alpha < 0.5^5. */
enum { RATIO_LEAST = 6 };

struct ratio {
	double original[RATIO_PAIRS_MAX], generation[RATIO_PAIRS_MAX];	/* seconds */
	uint32_t n, looks, looked_at;
	/* chance has said which side of a pair was measured first, one after the other: then
	 * the interval is that of policy/signedrank.h, which is narrower */
	bool by_chance;
	/* probability of error on one side of the interval, of all looks together; 0: 2.5 % */
	double alpha;
	double estimate, low, high;	/* of the last look; infinite where not known */
};

/* One more pair.  Neither time is 0. */
void ratio_add(struct ratio *r, double original_s, double generation_s);
/* Is it time to look?  Then it looks. */
bool ratio_due(struct ratio *r);
/* The last look, if pairs have come since the one before; then no pair is added any more. */
void ratio_end(struct ratio *r);
/* Is the interval of the last look as narrow as anybody needs, or are there pairs enough? */
bool ratio_known(const struct ratio *r);
/* Seconds in all that another trial from its beginning should be given, so that it is likely to
 * come to an interval: one more pair than it needs, and of all half as much again.  This one's
 * pairs began after before_s, and one that counted took pair_s. */
double ratio_time_needed(double before_s, double pair_s);
/* The last look gave one. */
bool ratio_has_interval(const struct ratio *r);
/* What a sentence says of its interval: "" when it is faster, else ": ..." */
const char *ratio_judgement(const struct ratio *r);
/* "1.080 (1.050 to 1.110)", or "not known" */
void ratio_text(const struct ratio *r, char out[64]);

#endif
