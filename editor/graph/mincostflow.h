/* mincostflow.h - minimum-cost flow by successive shortest paths; knows graphs and numbers only
 *
 * Ahuja, Magnanti, Orlin: Network Flows (1993), 9.7; potentials keep reduced costs >= 0.
 */
#ifndef EDITOR_GRAPH_MINCOSTFLOW_H
#define EDITOR_GRAPH_MINCOSTFLOW_H

#include <stdint.h>

struct mcf;

enum { MCF_INF = INT32_MAX };		/* unlimited capacity */

struct mcf *mcf_new(uint32_t nnode, uint32_t nedge_hint);
void mcf_free(struct mcf *m);
/* Capacity >= 0, cost >= 0 per unit.  Returns the edge's index, for mcf_flow(). */
uint32_t mcf_add(struct mcf *m, uint32_t from, uint32_t to, int64_t capacity, int64_t cost);
/* Sends as much flow from source to sink as fits, at least cost.  Returns the amount; total
 * cost in *cost if not NULL.  Stops early, with a feasible flow, after max_work elementary
 * steps (0 = no limit).  To be called once. */
int64_t mcf_solve(struct mcf *m, uint32_t source, uint32_t sink, uint64_t max_work,
		  int64_t *cost);
int64_t mcf_flow(const struct mcf *m, uint32_t edge);

#endif
