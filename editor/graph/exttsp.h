/* exttsp.h - orders basic blocks for a high Extended TSP score; knows graphs only */
#ifndef EDITOR_GRAPH_EXTTSP_H
#define EDITOR_GRAPH_EXTTSP_H

#include "editor/graph/exttsp_score.h"

/* Greedy merging of chains of blocks, then exttsp_improve(); order[] gets a permutation that
 * begins with node 0.  The result never scores below the identity order.  Deterministic: ties
 * go to lower node indices.  Work is bounded. */
void exttsp_order(const struct exttsp_graph *g, uint32_t *order);

#endif
