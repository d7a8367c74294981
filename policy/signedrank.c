/* signedrank.c - computes the exact distribution of the signed rank statistic (Wilcoxon)
 *
 * Without a shift each of the ranks 1..n is on either side with probability 1/2, so the sums of
 * those on one side are distributed as the product over i = 1..n of (1 + q^i) / 2.
 *
 * Tested by tests/unit/policy/test_signedrank.c.
 */
#include "policy/signedrank.h"

#include <assert.h>

enum { MEANS_MAX = SIGNEDRANK_MAX * (SIGNEDRANK_MAX + 1) / 2 };

int32_t signedrank_critical(uint32_t n, double alpha)
{
	double p[MEANS_MAX + 1] = { 1 };
	uint32_t top = 0;

	assert(n <= SIGNEDRANK_MAX && alpha < 0.5);
	for (uint32_t i = 1; i <= n; i++) {
		top += i;
		for (uint32_t u = top + 1; u-- > 0;)
			p[u] = (p[u] + (u >= i ? p[u - i] : 0)) / 2;
	}
	return ranktest_tail(p, top, alpha);
}

bool signedrank_shift(const double *d, uint32_t n, double alpha, struct ranktest_shift *out)
{
	double mean[MEANS_MAX];
	uint32_t m = 0;

	assert(n <= SIGNEDRANK_MAX);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i; j < n; j++)
			mean[m++] = (d[i] + d[j]) / 2;
	if (m)
		ranktest_interval(mean, m, signedrank_critical(n, alpha), out);
	return m > 0;
}
