/* spread.c - jumps choose the offset that has the fewest executions so far
 *
 * Tested by tests/unit/editor/graph/test_spread.c.
 */
#include "editor/graph/spread.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

struct jump {
	double count;
	uint32_t id, offset;
};

/* By descending count, then as they were given. */
static int by_count(const void *x, const void *y)
{
	const struct jump *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t emptiest(const double *executions)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < LINEFIT_ENDS; k++)
		if (executions[k] < executions[best])
			best = k;
	return best;
}

void spread_ends(const double *count, uint32_t n, double all, double (*ends)[LINEFIT_ENDS])
{
	struct jump *jump = memory_new(n, sizeof(*jump));
	double executions[LINEFIT_ENDS] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		jump[i] = (struct jump){ count[i], i, 0 };
		sum += count[i];
	}
	if (n)
		qsort(jump, n, sizeof(*jump), by_count);
	for (uint32_t i = 0; i < n; i++) {
		jump[i].offset = emptiest(executions);
		executions[jump[i].offset] += jump[i].count;
	}
	for (uint32_t i = 0; i < n; i++) {
		double *cost = ends[jump[i].id], least, own = jump[i].count;

		executions[jump[i].offset] -= own;
		least = executions[emptiest(executions)];
		for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
			cost[k] = sum > own ? all * own * (executions[k] - least) / (sum - own)
					    : 0;
		executions[jump[i].offset] += own;
	}
	free(jump);
}
