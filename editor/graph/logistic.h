/* logistic.h - the odds of yes and no by signs that each case shows; knows numbers only */
#ifndef EDITOR_GRAPH_LOGISTIC_H
#define EDITOR_GRAPH_LOGISTIC_H

#include <stdint.h>

struct logit_sign {
	uint32_t weight;		/* its number */
	float value;			/* there are many signs, and little to tell of each */
};

struct logit_case {
	const struct logit_sign *sign;	/* [nsign] those that are not 0 */
	uint32_t nsign;
	double yes, no;			/* how often each was seen */
};

/* The likeliest weight[nweight] of the logarithm of the odds of yes, each believed to be
 * about 0 as firmly as `firm` observations would say.  Deterministic; work is bounded. */
void logit_fit(const struct logit_case *cases, uint32_t ncase, double firm, double *weight,
	       uint32_t nweight);
/* The probability of yes. */
double logit_guess(const struct logit_case *c, const double *weight);

#endif
