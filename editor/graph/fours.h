/* fours.h - long rows of numbers, four at a time */
#ifndef EDITOR_GRAPH_FOURS_H
#define EDITOR_GRAPH_FOURS_H

#include <stddef.h>
#include <string.h>

typedef double four __attribute__((vector_size(4 * sizeof(double))));

/* to[] less by * from[]. */
static inline void subtract_times(size_t n, double *restrict to, double by,
				  const double *restrict from)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		four x, y;

		memcpy(&x, to + i, sizeof(x));
		memcpy(&y, from + i, sizeof(y));
		x -= by * y;
		memcpy(to + i, &x, sizeof(x));
	}
	for (; i < n; i++)
		to[i] -= by * from[i];
}

/* Four sums, each of which waits for nothing but itself. */
static inline double dot(size_t n, const double *a, const double *b)
{
	four sum = { 0 };
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		four x, y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		sum += x * y;
	}
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif
