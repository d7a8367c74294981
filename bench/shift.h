/* shift.h - by how much paired differences are off zero, and how surely
 *
 * Hodges and Lehmann's estimate, the median of the means of all pairs of differences, each with
 * itself as well, and the interval of 95 % that goes with Wilcoxon's signed ranks (Hollander,
 * Wolfe, Chicken, Nonparametric Statistical Methods, 3.2 and 3.3).
 */
#ifndef BENCH_SHIFT_H
#define BENCH_SHIFT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct shift {
	double estimate, low, high;
};

static inline int shift_by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static inline double shift_median_of_sorted(const double *v, unsigned n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* n is at least 1.  Ends the program when there is no memory. */
static inline struct shift shift_of(const double *v, unsigned n)
{
	unsigned total = n * (n + 1) / 2, k = 0;
	double *mean = malloc(total * sizeof(*mean));

	if (!mean) {
		perror("malloc");
		exit(2);
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i; j < n; j++)
			mean[k++] = (v[i] + v[j]) / 2;
	qsort(mean, total, sizeof(*mean), shift_by_value);
	double c = total / 2.0 - 1.96 * sqrt(n * (n + 1.0) * (2 * n + 1.0) / 24);
	unsigned cut = c < 1 ? 0 : (unsigned)c - 1;
	struct shift s = { shift_median_of_sorted(mean, total), mean[cut],
			   mean[total - 1 - cut] };
	free(mean);
	return s;
}

#endif
