/* ranktest.c - computes the exact distribution of the rank sum statistic (Mann and Whitney)
 *
 * Without a shift all orders of the m + n numbers of a stratum are as likely.  Of them, as many
 * have the statistic u as there are partitions of u into at most m parts of at most n: the
 * coefficient of q^u in
 *
 *	product over i = 1..m of (1 - q^(n + i)) / (1 - q^i)
 *
 * which is multiplied out.  Small coefficients, the tail that matters, are whole numbers that a
 * double holds exactly.  Ties make the true probability of the tail smaller, never larger.
 */
#include "policy/ranktest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = RANKTEST_SIDE_MAX * RANKTEST_SIDE_MAX, ALL_PAIRS_MAX = RANKTEST_PAIRS_MAX };

/* p[u], u = 0..m * n: probability of the statistic u. */
static void one_distribution(uint32_t m, uint32_t n, double *p)
{
	uint32_t top = m * n;
	double all = 0;

	memset(p, 0, (top + 1) * sizeof(*p));
	p[0] = 1;
	for (uint32_t i = 1; i <= m; i++) {
		for (uint32_t u = top; u >= n + i; u--)
			p[u] -= p[u - n - i];
		for (uint32_t u = i; u <= top; u++)
			p[u] += p[u - i];
	}
	/* From the middle on the coefficients come again, backwards. */
	for (uint32_t u = 0; u < top - u; u++)
		p[top - u] = p[u];
	for (uint32_t u = 0; u <= top; u++)
		all += p[u];
	for (uint32_t u = 0; u <= top; u++)
		p[u] /= all;
}

/* Of the sum over the strata, p[0..*top]. */
static void distribution(const struct ranktest_stratum *s, uint32_t n, double *p, uint32_t *top)
{
	double one[PAIRS_MAX + 1], sum[ALL_PAIRS_MAX + 1];

	p[0] = 1;
	*top = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t pairs = s[k].nbefore * s[k].nnow;

		if (!pairs)
			continue;
		assert(*top + pairs <= ALL_PAIRS_MAX);
		one_distribution(s[k].nbefore, s[k].nnow, one);
		memset(sum, 0, (*top + pairs + 1) * sizeof(*sum));
		for (uint32_t i = 0; i <= *top; i++)
			for (uint32_t u = 0; u <= pairs; u++)
				sum[i + u] += p[i] * one[u];
		*top += pairs;
		memcpy(p, sum, (*top + 1) * sizeof(*p));
	}
}

int32_t ranktest_tail(const double *p, uint32_t top, double alpha)
{
	double sum = 0;
	int32_t c = -1;

	while ((uint32_t)(c + 1) <= top && sum + p[c + 1] <= alpha)
		sum += p[++c];
	return c;
}

int32_t ranktest_critical(const struct ranktest_stratum *s, uint32_t n, double alpha)
{
	double p[ALL_PAIRS_MAX + 1];
	uint32_t top;

	assert(n <= RANKTEST_STRATA_MAX && alpha < 0.5);
	distribution(s, n, p, &top);
	return ranktest_tail(p, top, alpha);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void ranktest_interval(double *d, uint32_t n, int32_t c, struct ranktest_shift *out)
{
	qsort(d, n, sizeof(*d), by_value);
	out->estimate = (d[(n - 1) / 2] + d[n / 2]) / 2;
	out->low = c < 0 ? -INFINITY : d[c];
	out->high = c < 0 ? INFINITY : d[n - 1 - (uint32_t)c];
}

bool ranktest_shift(const struct ranktest_stratum *s, uint32_t n, double alpha,
		    struct ranktest_shift *out)
{
	double d[ALL_PAIRS_MAX];
	uint32_t npair = 0;

	assert(n <= RANKTEST_STRATA_MAX);
	for (uint32_t k = 0; k < n; k++) {
		assert(s[k].nbefore <= RANKTEST_SIDE_MAX && s[k].nnow <= RANKTEST_SIDE_MAX);
		assert(npair + s[k].nbefore * s[k].nnow <= ALL_PAIRS_MAX);
		for (uint32_t i = 0; i < s[k].nbefore; i++)
			for (uint32_t j = 0; j < s[k].nnow; j++)
				d[npair++] = s[k].now[j] - s[k].before[i];
	}
	if (!npair)
		return false;
	ranktest_interval(d, npair, ranktest_critical(s, n, alpha), out);
	return true;
}
