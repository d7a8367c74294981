/* logistic.h - the odds of yes and no by features that each case shows; knows numbers only */
#ifndef EDITOR_GRAPH_LOGISTIC_H
#define EDITOR_GRAPH_LOGISTIC_H

#include <stdint.h>

struct logistic_feature {
	uint32_t weight;		/* its number */
	float value;			/* not double: there are many features */
};

struct logistic_case {
	const struct logistic_feature *feature;	/* [nfeature] those that are not 0 */
	uint32_t nfeature;
	double yes, no;			/* how often each was seen */
};

/* The likeliest weight[nweight] of the logarithm of the odds of yes, each believed to be
 * about 0 as firmly as `firm` observations would say.  Deterministic; work is bounded. */
void logistic_fit(const struct logistic_case *cases, uint32_t ncase, double firm,
		  double *weight, uint32_t nweight);
/* The probability of yes. */
double logistic_predict(const struct logistic_case *c, const double *weight);

#endif
