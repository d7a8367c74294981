/* markov.h - how often each state of a Markov chain is visited; knows graphs and numbers only
 *
 * States are entered from outside at given rates.  Each goes on to other states with given
 * probabilities, and is left for good with what these lack to one.
 */
#ifndef EDITOR_GRAPH_MARKOV_H
#define EDITOR_GRAPH_MARKOV_H

#include <stdint.h>

struct markov;

struct markov_edge {
	uint32_t from, to;	/* states; parallel edges are allowed */
};

/* Finds an order of elimination, which serves for any probabilities.  NULL when elimination
 * would change more than *budget numbers; else as many are taken off *budget.  Memory is at
 * most 2 bytes for each of them.  `edge` is not kept. */
struct markov *markov_new(uint32_t nstate, const struct markov_edge *edge, uint32_t nedge,
			uint64_t *budget);
void markov_free(struct markov *m);	/* NULL is allowed */

/* Sets the probabilities of the edges, in their order; NULL is allowed when there is no edge.
 * From every state there must be a way out. */
void markov_set(struct markov *m, const double *probability);
/* rate[nstate]: in: entries into each state from outside; out: visits of it. */
void markov_visits(const struct markov *m, double *rate);
/* worth[nstate]: in: what one visit of each state is worth; out: what one entry there is worth,
 * with all visits that follow from it. */
void markov_worth(const struct markov *m, double *worth);

#endif
