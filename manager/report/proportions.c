/* proportions.c - have two shares of counts become different, or is it chance?
 *
 * Tested by tests/unit/manager/report/test_proportions.c.
 */
#include "manager/report/proportions.h"

#include <math.h>
#include <stdlib.h>

#include "lib/memory.h"

static const double LEAST_EXPECTED = 10;

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Of m + n counts a + b are of the kind: how likely is it that k of them are among the m? */
static double log_hypergeometric(double k, double m, double n, double sum)
{
	return log_choose(m, k) + log_choose(n, sum - k) - log_choose(m + n, sum);
}

static double fisher(double a, double m, double b, double n)
{
	double sum = a + b, low = sum > n ? sum - n : 0, high = sum < m ? sum : m;
	double seen = log_hypergeometric(a, m, n, sum), p = 0;

	/* sums are small where this test is chosen, or so are the others */
	for (double k = low; k <= high; k++) {
		double l = log_hypergeometric(k, m, n, sum);

		if (l <= seen + 1e-7)
			p += exp(l);
	}
	return p < 1 ? p : 1;
}

static double smallest_expected(double a, double m, double b, double n)
{
	double share = (a + b) / (m + n), rest = 1 - share, less = m < n ? m : n;

	return less * (share < rest ? share : rest);
}

double proportions_test(double a, double m, double b, double n)
{
	a = round(a);
	b = round(b);
	m = fmax(round(m), a);
	n = fmax(round(n), b);
	if (m == 0 || n == 0 || a + b == 0 || a + b == m + n)
		return 1;
	if (smallest_expected(a, m, b, n) < LEAST_EXPECTED)
		return fisher(a, m, b, n);
	double share = (a + b) / (m + n);
	double z = (a / m - b / n) / sqrt(share * (1 - share) * (1 / m + 1 / n));
	return erfc(fabs(z) / sqrt(2));
}

struct ranked {
	double p;
	uint32_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

void proportions_adjust(double *p, uint32_t count)
{
	struct ranked *r = memory_new(count, sizeof(*r));
	double least = 0;

	for (uint32_t i = 0; i < count; i++)
		r[i] = (struct ranked){ p[i], i };
	if (count)
		qsort(r, count, sizeof(*r), by_p);
	for (uint32_t i = 0; i < count; i++) {
		least = fmax(least, fmin(1, r[i].p * (count - i)));
		p[r[i].at] = least;
	}
	free(r);
}
