/* uncertain.c - chooses the functions whose estimates are most uncertain, to be counted exactly
 *
 * The uncertainty of a branch or computed jump is sqrt(executions) / (1 + observed edges).  The
 * more of its edges were observed, the better its probabilities are known; the oftener it runs,
 * the more an error costs.  The root is there because code that runs seldom is not in the
 * caches when it runs, so that each execution costs more: of cc1 and clang, as many functions
 * chosen by the root left fewer misses than chosen by the count.
 *
 * Tested by tests/unit/editor/instrument/test_uncertain.c.
 */
#include "editor/instrument/uncertain.h"

#include <math.h>
#include <stdlib.h>

struct candidate {
	uint32_t fn;
	double uncertain;
};

static bool chooses(const struct block *b)
{
	bool falls = b->fall != NO_BLOCK || b->fall_out,
	     branches = b->taken != NO_BLOCK || b->taken_out;

	return b->table != NO_TABLE ||
	       (falls && branches && (b->fall == NO_BLOCK || b->fall != b->taken));
}

static double uncertainty(const struct fn *fn)
{
	double sum = 0;

	for (uint32_t i = 0, e = 0; i < fn->nblock; i++) {
		double seen = 0;

		for (; e < fn->nseen_edge && fn->seen_edge[e].from == i; e++)
			seen += fn->seen_edge[e].count;
		if (chooses(&fn->block[i]))
			sum += sqrt(fn->block[i].count) / (1 + seen);
	}
	return sum;
}

static int most_first(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->uncertain != b->uncertain)
		return a->uncertain > b->uncertain ? -1 : 1;
	return a->fn < b->fn ? -1 : a->fn > b->fn;
}

bool *uncertain_select(const struct prog *prog, double share, struct arena *a)
{
	struct candidate *c = arena_array(a, prog->nfn, sizeof(*c));
	bool *chosen = arena_array(a, prog->nfn, sizeof(*chosen));
	double all = 0, sum = 0;
	uint32_t n = 0;

	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		double u = fn->moved && fn_is_seen(fn) ? uncertainty(fn) : 0;

		if (u > 0)
			c[n++] = (struct candidate){ f, u };
		all += u;
	}
	if (n)
		qsort(c, n, sizeof(*c), most_first);
	for (uint32_t i = 0; i < n && sum < share * all; i++) {
		chosen[c[i].fn] = true;
		sum += c[i].uncertain;
	}
	return chosen;
}
