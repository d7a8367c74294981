/* exttsp_score.c - the Extended TSP score of a whole order */
#include "editor/graph/exttsp_score.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

double exttsp_score(const struct exttsp_graph *g, const uint32_t *order)
{
	uint64_t *at = memory_grow(NULL, g->nnode, sizeof(*at)), off = 0;
	double score = 0;

	for (uint32_t i = 0; i < g->nnode; i++) {
		at[order[i]] = off;
		off += g->size[order[i]];
	}
	for (const struct exttsp_edge *e = g->edge; e < g->edge + g->nedge; e++)
		score += exttsp_score_edge(e->weight, e->kind, at[e->from] + g->size[e->from],
					   at[e->to]);
	free(at);
	return score;
}
