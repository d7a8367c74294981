/* exttsp.h - basic block ordering by the Extended TSP score; knows graphs and numbers only
 *
 * Newell, Pupyrev: Improved Basic Block Reordering, 2018 (IEEE Trans. Computers 69(12), 2020).
 */
#ifndef EDITOR_GRAPH_EXTTSP_H
#define EDITOR_GRAPH_EXTTSP_H

#include <stdbool.h>
#include <stdint.h>

enum exttsp_kind {
	EXTTSP_CONDITIONAL,	/* one of two ways out of a node */
	EXTTSP_ONLY,	/* the only one: a jmp goes away where it falls through */
	EXTTSP_INDIRECT, /* a jump that never falls through, however close its target is */
};

struct exttsp_edge {
	uint32_t from, to;	/* node indices */
	double weight;
	uint8_t kind;		/* enum exttsp_kind */
};

struct exttsp_graph {
	uint32_t nnode, nedge;
	const uint64_t *size;		/* [nnode] bytes */
	const double *count;		/* [nnode] executions */
	const struct exttsp_edge *edge;
};

#define EXTTSP_JUMP 0.1			/* score of a jump over no bytes, of a fall-through's */
#define EXTTSP_ONLY_BONUS 1.05		/* score of a jmp that goes away */
/* bytes from which on a jump scores nothing */
enum { EXTTSP_FORWARD = 1024, EXTTSP_BACKWARD = 640 };

/* Score of one edge from a node that ends at `src_end` to one that begins at `dst`. */
static inline double exttsp_score_edge(double weight, enum exttsp_kind kind, uint64_t src_end,
				       uint64_t dst)
{
	uint64_t bytes = dst > src_end ? dst - src_end : src_end - dst;
	uint64_t reach = dst > src_end ? EXTTSP_FORWARD : EXTTSP_BACKWARD;

	if (bytes == 0 && kind != EXTTSP_INDIRECT)
		return kind == EXTTSP_ONLY ? EXTTSP_ONLY_BONUS * weight : weight;
	return bytes < reach ? EXTTSP_JUMP * weight * (1 - (double)bytes / (double)reach) : 0;
}

/* Score of laying the nodes out in `order` (a permutation) without gaps. */
double exttsp_score(const struct exttsp_graph *g, const uint32_t *order);
/* Exchanges segments of `order` as long as the score rises; order[0] stays. */
void exttsp_improve(const struct exttsp_graph *g, uint32_t *order);
/* Greedy chain merging, then exttsp_improve(); order[] gets a permutation that begins with
 * node 0.  The result never scores below the identity order.  Deterministic: ties go to
 * lower node indices. */
void exttsp_order(const struct exttsp_graph *g, uint32_t *order);

#endif
