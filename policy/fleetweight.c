/* fleetweight.c - how much of a fleet's samples is worth beside a machine's own
 *
 * Tested by tests/unit/policy/test_fleetweight.c.
 */
#include "policy/fleetweight.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of the fleet's word: what nobody in it has seen can be all the same. */
static const double surprise = 0.001;
/* Half of the 95 % quantile of chi-squared with one degree of freedom. */
static const double contradicted = 1.92;
enum { STEPS_PER_OCTAVE = 2 };

/* The fleet's share of each block that the own samples have. */
static double *shares(const struct usage *own, const struct usage *fleet, double total)
{
	double *p = calloc((size_t)own->n + 1, sizeof(*p));
	double other = surprise / ((double)own->n + fleet->n);

	for (uint32_t i = 0, k = 0; p && i < own->n; i++) {
		while (k < fleet->n && fleet->count[k].block < own->count[i].block)
			k++;
		bool seen = k < fleet->n && fleet->count[k].block == own->count[i].block;
		p[i] = other + (seen ? (1 - surprise) * fleet->count[k].samples / total : 0);
	}
	return p;
}

static double log_likelihood(const struct usage *own, double own_total, const double *p,
			     double weight)
{
	double sum = lgamma(weight) - lgamma(weight + own_total);

	for (uint32_t i = 0; i < own->n; i++)
		sum += lgamma(weight * p[i] + own->count[i].samples) - lgamma(weight * p[i]);
	return sum;
}

double fleet_weight(const struct usage *own, const struct usage *fleet)
{
	double total = usage_total(fleet), own_total = usage_total(own);
	double best = -INFINITY, out = 0;

	if (!(total >= 1) || own_total <= 0)
		return total >= 1 ? total : 0;
	double *p = shares(own, fleet, total);
	if (!p)
		return 0;
	double step = pow(2, 1.0 / STEPS_PER_OCTAVE);
	for (double w = total; w >= 1; w /= step)
		best = fmax(best, log_likelihood(own, own_total, p, w));
	for (double w = total; w >= 1 && out == 0; w /= step)
		if (log_likelihood(own, own_total, p, w) >= best - contradicted)
			out = w;
	free(p);
	return out;
}
