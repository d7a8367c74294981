/* spanningtree.h - which edges of a flow graph to count so that all others follow; knows graphs
 * and numbers only
 */
#ifndef EDITOR_GRAPH_SPANNINGTREE_H
#define EDITOR_GRAPH_SPANNINGTREE_H

#include <stdbool.h>
#include <stdint.h>

struct spanningtree_edge {
	uint32_t from, to;	/* in: nodes; the same one is allowed */
	double cost;		/* in: of counting it, 0 or more */
	bool blind;		/* in: cannot be counted */
	bool counted;		/* out of choose, in of solve */
	/* out of choose: neither counted nor does it follow; solve gives 0 */
	bool untold;
	int64_t count;		/* of counted edges in, of the others out of solve */
};

struct spanningtree {
	uint32_t nnode, nedge;
	struct spanningtree_edge *edge;
};

/* As much flow comes into every node as goes out, the outside being a node of its own.  Sets
 * `counted` for edges of least total cost that determine all but the untold ones, which are
 * there only where blind edges form a circle.  Returns how many are counted.  Deterministic. */
uint32_t spanningtree_choose(struct spanningtree *t);
/* Counts of all edges from those of the counted ones, modulo 2^64.  A difference in a
 * counted edge is a difference of the same size in others, never a larger one. */
void spanningtree_solve(struct spanningtree *t);

#endif
