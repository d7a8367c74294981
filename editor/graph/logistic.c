/* logistic.c - logistic regression: the least of
 *
 *	- sum of yes log(p) + no log(1 - p)  +  firm / 8 * sum of weight^2
 *
 * where p is the probability that the sum of a case's features gives.  (n observations that are as
 * likely yes as no hold a weight with n / 4 / 2.)
 */
#include "editor/graph/logistic.h"

#include <math.h>
#include <stdlib.h>

#include "editor/graph/lbfgs.h"
#include "editor/graph/memory.h"

enum { ROUNDS = 60 };

struct fit {
	const struct logistic_case *cases;
	uint32_t ncase, nweight;
	double firm;
};

static double sum_of(const struct logistic_case *c, const double *weight)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->nfeature; i++)
		sum += c->feature[i].value * weight[c->feature[i].weight];
	return sum;
}

/* log(1 + e^x) */
static double softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double logistic_predict(const struct logistic_case *c, const double *weight)
{
	return 1 / (1 + exp(-sum_of(c, weight)));
}

static double judge(const double *weight, double *gradient, void *ctx)
{
	const struct fit *w = ctx;
	double value = 0;

	for (uint32_t i = 0; i < w->nweight; i++) {
		value += w->firm / 8 * weight[i] * weight[i];
		gradient[i] = w->firm / 4 * weight[i];
	}
	for (uint32_t i = 0; i < w->ncase; i++) {
		const struct logistic_case *c = &w->cases[i];
		double x = sum_of(c, weight), n = c->yes + c->no;
		double off = n / (1 + exp(-x)) - c->yes;

		value += n * softplus(x) - c->yes * x;
		for (uint32_t k = 0; k < c->nfeature; k++)
			gradient[c->feature[k].weight] += off * c->feature[k].value;
	}
	return value;
}

/* Cases that were never observed teach nothing. */
void logistic_fit(const struct logistic_case *cases, uint32_t ncase, double firm,
		  double *weight, uint32_t nweight)
{
	struct logistic_case *seen = memory_new(ncase, sizeof(*seen));
	struct fit w = { .cases = seen, .nweight = nweight, .firm = firm };

	for (uint32_t i = 0; i < ncase; i++) {
		if (cases[i].yes + cases[i].no > 0)
			seen[w.ncase++] = cases[i];
	}
	for (uint32_t i = 0; i < nweight; i++)
		weight[i] = 0;
	(void)lbfgs_minimize(nweight, weight, judge, &w,
			     (struct lbfgs_limits){ ROUNDS, 2 * ROUNDS, 0 });
	free(seen);
}
