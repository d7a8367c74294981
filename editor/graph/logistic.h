/* logistic.h - logistic regression: the probability of yes by the features of a case; knows
 * numbers only
 */
#ifndef EDITOR_GRAPH_LOGISTIC_H
#define EDITOR_GRAPH_LOGISTIC_H

#include <stdint.h>

struct logistic_feature {
	uint32_t weight;		/* index in weight[] */
	float value;			/* not double: there are many features */
};

struct logistic_case {
	const struct logistic_feature *feature;	/* [nfeature] those that are not 0 */
	uint32_t nfeature;
	double yes, no;			/* how often each was seen */
};

/* Sets weight[nweight] so that what was seen is likeliest, when the sum of value * weight over
 * the features of a case is the logarithm of the odds of yes.  Each weight is believed to be
 * about 0, as firmly as `firm` observations of both ways would say.  Cases that were never seen
 * teach nothing.  Deterministic; work is bounded. */
void logistic_fit(const struct logistic_case *cases, uint32_t ncase, double firm,
		  double *weight, uint32_t nweight);
/* The probability of yes. */
double logistic_predict(const struct logistic_case *c, const double *weight);

#endif
