/* spread.c - jumps choose the offset that has the fewest executions so far
 *
 * Offsets that none has chosen are reserved, too, more of them the more often a jump is
 * executed: if they cost nothing, jumps whose blocks are of one size would all end there.
 *
 * Tested by tests/unit/editor/graph/test_spread.c.
 */
#include "editor/graph/spread.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "editor/graph/memory.h"

struct jump {
	double count;
	uint32_t id, from, noffset;
	uint16_t offsets;		/* a bit for each that it has */
};

static_assert(LINEFIT_ENDS <= 16, "bits of offsets");
/* A jump that makes less than this part of all executions reserves no offset; chosen. */
static const double rare = 1 / 256.0;

/* By descending count, then as they were given. */
static int by_count(const void *x, const void *y)
{
	const struct jump *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The first of those from `from` on. */
static uint32_t emptiest(const double *executions, uint32_t from)
{
	uint32_t best = from % LINEFIT_ENDS;

	for (uint32_t k = 1; k < LINEFIT_ENDS; k++) {
		uint32_t at = (from + k) % LINEFIT_ENDS;

		if (executions[at] < executions[best])
			best = at;
	}
	return best;
}

static void take(struct jump *j, uint32_t k, double *executions)
{
	j->offsets |= (uint16_t)(1u << k);
	j->noffset++;
	executions[k] += j->count;
}

static void choose(struct jump *j, double *executions)
{
	take(j, emptiest(executions, j->from), executions);
}

/* The offsets that no one of the jumps has, each to that which has the fewest by its count. */
static void reserve(struct jump *jump, uint32_t n, double *executions)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < n; i++)
		taken |= jump[i].offsets;
	for (uint32_t k = 0; n && k < LINEFIT_ENDS; k++) {
		uint32_t best = 0;

		if (taken >> k & 1)
			continue;
		for (uint32_t i = 1; i < n; i++)
			if (jump[i].count * (jump[best].noffset + 1) >
			    jump[best].count * (jump[i].noffset + 1))
				best = i;
		take(&jump[best], k, executions);
	}
}

/* Those of the others at each offset. */
static void without(const struct jump *j, const double *executions, double *others)
{
	for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
		others[k] = fmax(0, executions[k] - (j->offsets >> k & 1 ? j->count : 0));
}

void spread_ends(const double *count, const uint32_t *from, uint32_t n, double all,
		 double (*ends)[LINEFIT_ENDS])
{
	struct jump *jump = memory_new(n, sizeof(*jump));
	double executions[LINEFIT_ENDS] = { 0 }, others[LINEFIT_ENDS], sum = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		jump[i] = (struct jump){ count[i], i, from ? from[i] : 0, 0, 0 };
		sum += count[i];
	}
	if (n)
		qsort(jump, n, sizeof(*jump), by_count);
	for (; first < n && jump[first].count >= rare * sum; first++)
		choose(&jump[first], executions);
	reserve(jump, first, executions);
	for (uint32_t i = first; i < n; i++)
		choose(&jump[i], executions);
	for (uint32_t i = 0; i < n; i++) {
		double *cost = ends[jump[i].id], own = jump[i].count;

		without(&jump[i], executions, others);
		double least = others[emptiest(others, 0)];
		for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
			cost[k] = sum > own ? all * own * (others[k] - least) / (sum - own) : 0;
	}
	free(jump);
}
