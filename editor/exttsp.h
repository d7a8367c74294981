/* exttsp.h - basic block ordering by the Extended TSP score; knows graphs and numbers only
 *
 * Newell, Pupyrev: Improved Basic Block Reordering, 2018 (IEEE Trans. Computers 69(12), 2020).
 */
#ifndef EDITOR_EXTTSP_H
#define EDITOR_EXTTSP_H

#include <stdbool.h>
#include <stdint.h>

struct exttsp_edge {
	uint32_t from, to;	/* node indices */
	double weight;
	bool unconditional;
};

struct exttsp_graph {
	uint32_t nnode, nedge;
	const uint64_t *size;		/* [nnode] bytes */
	const double *count;		/* [nnode] executions */
	const struct exttsp_edge *edge;
};

/* Score of one edge from a node that ends at `src_end` to one that begins at `dst`. */
double exttsp_score_edge(double weight, bool unconditional, uint64_t src_end, uint64_t dst);
/* Score of laying the nodes out in `order` (a permutation) without gaps. */
double exttsp_score(const struct exttsp_graph *g, const uint32_t *order);
/* Greedy chain merging; order[] gets a permutation that begins with node 0.  The result never
 * scores below the identity order.  Deterministic: ties go to lower node indices. */
void exttsp_order(const struct exttsp_graph *g, uint32_t *order);

#endif
