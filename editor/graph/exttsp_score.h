/* exttsp_score.h - the Extended TSP score of an order of basic blocks, and the graph that it is
 * of; knows graphs and numbers only
 *
 * Newell, Pupyrev: Improved Basic Block Reordering, 2018 (IEEE Trans. Computers 69(12), 2020).
 * The score is about the number of fall-throughs: a taken jump counts for a tenth of one or less.
 * The constants are those of LLVM 17 (CodeLayout.cpp), which follow the paper.
 */
#ifndef EDITOR_GRAPH_EXTTSP_SCORE_H
#define EDITOR_GRAPH_EXTTSP_SCORE_H

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

/* Score of laying the nodes out in `order` (a permutation of them) without gaps. */
double exttsp_score(const struct exttsp_graph *g, const uint32_t *order);

#endif
