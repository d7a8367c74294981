/* layoutscore.c - computes the Extended TSP score of the original layout and of the new one
 *
 * A function's hot blocks stand together in a layout, and so do the blocks of its first range
 * in the original; the rest stands so far away that no jump between the two scores.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (`want score`).
 */
#include "editor/passes/layoutscore.h"

#include <stdlib.h>

#include "editor/graph/memory.h"
#include "editor/passes/blockgraph.h"

/* Far enough that no jump across it scores. */
static const uint64_t far_bytes = 1 << 20;

/* Hot text (or the function's first range), a long gap, then the rest. */
static double fn_score(const struct fn *fn, bool original_order, double *weight)
{
	struct exttsp_graph g;
	uint32_t n = 0;

	if (!blockgraph_knows(fn))
		return 0;
	blockgraph_make(fn, original_order, far_bytes, &g);
	uint32_t *order = memory_new(g.nnode, sizeof(*order));
	for (int far = 0; far < 2; far++) {
		for (uint32_t i = 0; i < fn->nblock; i++) {
			uint32_t id = original_order ? i : fn->order[i];
			const struct block *b = &fn->block[id];

			if ((original_order ? b->range > 0 : b->cold || b->warm) == far)
				order[n++] = id;
		}
		if (!far)
			order[n++] = fn->nblock;
	}
	double score = exttsp_score(&g, order);
	for (uint32_t e = 0; e < g.nedge; e++)
		*weight += g.edge[e].weight;
	free(order);
	blockgraph_free(&g);
	return score;
}

double layoutscore_gain(const struct fn *fn)
{
	double weight = 0;

	return fn_score(fn, false, &weight) - fn_score(fn, true, &weight);
}

double layoutscore_sum(const struct prog *prog, bool original_order, double *edge_weight)
{
	double score = 0;

	*edge_weight = 0;
	for (uint32_t i = 0; i < prog->norder; i++)
		score += fn_score(&prog->fn[prog->order[i]], original_order, edge_weight);
	return score;
}
