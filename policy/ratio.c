/* ratio.c - estimates the ratio of two CPU times from pairs of runs */
#include "policy/ratio.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "policy/ranktest.h"
#include "policy/signedrank.h"

/* With a hundredth and a half on either side nobody decides otherwise; chosen. */
static const double narrow = 0.03;
/* Two trials of the same do not take the same time, and one that may take longer is longer
 * about what is before its pairs, too; chosen. */
static const double unlike = 1.5;
static const double usual_alpha = 0.05 / 2;	/* on one side */

/* Eight pairs are the least that the level of one look can say anything of. */
static const uint32_t look_at[RATIO_LOOKS] = { 8, 12, 20, 32, RATIO_PAIRS_MAX };

void ratio_add(struct ratio *r, double original_s, double generation_s)
{
	assert(r->n < RATIO_PAIRS_MAX);
	r->original[r->n] = original_s;
	r->generation[r->n++] = generation_s;
}

static void by_signs(const struct ratio *r, double level, struct ranktest_shift *out)
{
	static struct ranktest_stratum s[RATIO_PAIRS_MAX];	/* large */

	for (uint32_t i = 0; i < r->n; i++) {
		s[i].nbefore = s[i].nnow = 1;
		s[i].before[0] = log(r->generation[i]);
		s[i].now[0] = log(r->original[i]);
	}
	(void)ranktest_shift(s, r->n, level, out);	/* no pair: nothing is known */
}

static void by_ranks(const struct ratio *r, double level, struct ranktest_shift *out)
{
	double d[RATIO_PAIRS_MAX];

	for (uint32_t i = 0; i < r->n; i++)
		d[i] = log(r->original[i]) - log(r->generation[i]);
	(void)signedrank_shift(d, r->n, level, out);
}

static void look(struct ratio *r, double level)
{
	struct ranktest_shift shift = { 0, -INFINITY, INFINITY };

	(r->by_chance ? by_ranks : by_signs)(r, level, &shift);
	r->estimate = exp(shift.estimate);
	r->low = exp(shift.low);
	r->high = exp(shift.high);
	r->looked_at = r->n;
}

static double alpha(const struct ratio *r)
{
	return r->alpha > 0 ? r->alpha : usual_alpha;
}

bool ratio_due(struct ratio *r)
{
	if (r->looks == RATIO_LOOKS || r->n < look_at[r->looks])
		return false;
	r->looks++;
	look(r, alpha(r) / RATIO_LOOKS);
	return true;
}

void ratio_end(struct ratio *r)
{
	/* the only look has all of the level */
	if (r->looked_at != r->n || !r->n)
		look(r, r->looks ? alpha(r) / RATIO_LOOKS : alpha(r));
}

bool ratio_known(const struct ratio *r)
{
	return r->n == RATIO_PAIRS_MAX || r->high - r->low <= narrow;
}

double ratio_time_needed(double before_s, double pair_s)
{
	return ceil(unlike * (before_s + pair_s * (RATIO_LEAST + 1)));
}

const char *ratio_judgement(const struct ratio *r)
{
	return r->low > 1 ? "" : r->high < 1 ? ": slower" : ": cannot be told apart from 1";
}

bool ratio_has_interval(const struct ratio *r)
{
	return r->n && isfinite(r->high) && r->low > 0;
}

void ratio_text(const struct ratio *r, char out[64])
{
	if (ratio_has_interval(r))
		(void)snprintf(out, 64, "%.3f (%.3f to %.3f)", r->estimate, r->low,
			       r->high);	/* fits */
	else
		(void)snprintf(out, 64, "not known");
}
