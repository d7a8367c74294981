/* cycles.h - which nodes of a graph can be come back to from each other */
#ifndef EDITOR_GRAPH_CYCLES_H
#define EDITOR_GRAPH_CYCLES_H

#include <stdint.h>

struct cycles_edge {
	uint32_t to;
	uint32_t next;		/* index + 1 of the node's next edge; 0: it has no more */
};

/* cycle[v], for n nodes, `first` being index + 1 of each one's first edge: a number that
 * exactly the nodes share that lie on cycles together.  Numbers are below n; the directions
 * of all edges may as well be the other way round. */
void cycles_find(uint32_t n, const uint32_t *first, const struct cycles_edge *edge,
		 uint32_t *cycle);

#endif
