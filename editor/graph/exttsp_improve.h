/* exttsp_improve.h - an order of basic blocks made better by exchanges of its segments */
#ifndef EDITOR_GRAPH_EXTTSP_IMPROVE_H
#define EDITOR_GRAPH_EXTTSP_IMPROVE_H

#include "editor/graph/exttsp_score.h"

/* Exchanges segments of `order`, a permutation of the nodes, as long as the score rises;
 * order[0] stays.  Deterministic; work is bounded. */
void exttsp_improve(const struct exttsp_graph *g, uint32_t *order);

#endif
