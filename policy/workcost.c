/* workcost.c - CPU time for one unit of a process's work, and which work to count
 *
 * Tested by tests/unit/policy/test_workcost.c.
 */
#include "policy/workcost.h"

#include <math.h>

/* Fewer units between two readings are too coarse; a wake-up is not work in itself: its cost
 * must change so much less.  Chosen. */
static const double least_units = 8, wakes_handicap = 2;
enum { READINGS = 64 };

double workcost(const struct procwork *from, const struct procwork *to, enum procwork_kind kind)
{
	double work = to->work[kind] - from->work[kind], cpu_s = to->cpu_s - from->cpu_s;

	return work > 0 && cpu_s > 0 ? cpu_s / work : 0;
}

double workcost_enough(const struct procwork *from, const struct procwork *to,
		       enum procwork_kind kind)
{
	return to->work[kind] - from->work[kind] >= least_units ? workcost(from, to, kind) : 0;
}

double workcost_spread(const double *cost, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (cost[i] <= 0)
			return INFINITY;
		sum += log(cost[i]);
		squares += log(cost[i]) * log(cost[i]);
	}
	if (!n)
		return INFINITY;
	double mean = sum / n, variance = squares / n - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

int workcost_steadiest(const double spread[PROCWORK_KINDS])
{
	double best = INFINITY;
	int kind = -1;

	for (int k = PROCWORK_BYTES; k < PROCWORK_KINDS; k++) {
		double s = spread[k] * (k == PROCWORK_WAKES ? wakes_handicap : 1);

		if (s < best) {
			best = s;
			kind = k;
		}
	}
	return kind;
}

int workcost_choose(const struct procwork *r, uint32_t n)
{
	double cost[READINGS], spread[PROCWORK_KINDS];

	if (n > READINGS)
		n = READINGS;
	for (int k = 0; k < PROCWORK_KINDS; k++) {
		for (uint32_t i = 0; i + 1 < n; i++)
			cost[i] = workcost_enough(&r[i], &r[i + 1], (enum procwork_kind)k);
		spread[k] = workcost_spread(cost, n ? n - 1 : 0);
	}
	return workcost_steadiest(spread);
}
