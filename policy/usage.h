/* usage.h - compares two uses of a module, each given as samples of its blocks
 *
 * Knows numbers only.  Samples may be fractions: old ones fade.
 */
#ifndef POLICY_USAGE_H
#define POLICY_USAGE_H

#include <stdint.h>

struct usage_count {
	uint32_t block;
	double samples;		/* > 0 */
};

struct usage {			/* ascending by block, every block once */
	uint32_t n;
	struct usage_count *count;
};

double usage_total(const struct usage *u);

/* Share of time that both uses spend alike: sum over blocks of the lesser share; 0..1.  0
 * when one of them is empty. */
double usage_overlap(const struct usage *a, const struct usage *b);

/* By how much the overlap of two samplings of one and the same use, as large as these, would
 * fall short of 1 on average.  It would, because the share of each block is known no better
 * than its samples allow. */
double usage_noise(const struct usage *a, const struct usage *b);

/* How different the uses are beyond what chance explains: 0..1. */
double usage_drift(const struct usage *a, const struct usage *b);

/* Upper end, at 95 %, of the share of time in blocks that have no sample yet: the
 * Good-Turing estimate with Esty's variance (Annals of Statistics 11(3), 1983).  1 when
 * there are no samples. */
double usage_unseen(const struct usage *u);

/* Number of blocks over which the time is spread: the exponential of the entropy.  0 when
 * empty. */
double usage_spread(const struct usage *u);

/* Share of the time of `use` that a layout made from `known` serves: a block counts whole
 * when its share in `known` is at least half of that in `use`, else in proportion.  A layout
 * is an order, not a proportion: it serves two habits that take turns nearly as well as
 * either one. */
double usage_served(const struct usage *known, const struct usage *use);

#endif
