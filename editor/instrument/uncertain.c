/* uncertain.c - chooses the functions whose estimates are most uncertain, to be counted exactly
 *
 * The uncertainty of a branch or computed jump is sqrt(executions) / (1 + observed edges).  The
 * more of its edges were observed, the better its probabilities are known; the oftener it runs,
 * the more an error costs.  The root is there because code that runs seldom is not in the
 * caches when it runs, so that each execution costs more: of cc1 and clang, as many functions
 * chosen by the root left fewer misses than chosen by the count.  Executions of functions that
 * were not seen are expected ones, by their callers.
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

/* The part of executions whose likelier successor is taken for the other one: by infer_fit.c,
 * which was measured against complete profiles.  Where nothing at all is known it is .28:
 * perl's, python's and sqlite's by PCs of 1,000 samples, bench/results/accuracy.md. */
static const double wrong[] = {
	[CONFIDENCE_LOW] = 0.13, [CONFIDENCE_MEDIUM] = 0.09, [CONFIDENCE_HIGH] = 0.01,
};
static const double wrong_without = 0.28;

double uncertain_open(const struct prog *prog)
{
	double all = 0, sum = 0;

	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		for (uint32_t i = 0; i < fn->nblock && fn->moved; i++) {
			const struct block *b = &fn->block[i];

			if (!chooses(b))
				continue;
			all += b->count;
			/* samples without anything else say where it is hot, not which way */
			sum += b->count * (fn_is_seen(fn) ? wrong[b->confidence]
							  : wrong_without);
		}
	}
	return all > 0 ? fmin(1, sum / all / wrong_without) : 1;
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
		double u = fn->moved ? uncertainty(fn) : 0;

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
