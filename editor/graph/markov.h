/* markov.h - how often each state of a Markov chain is visited; knows graphs and numbers only
 *
 * A chain is entered from outside at given rates, goes from state to state with given
 * probabilities, and leaves with what they lack to one.  The order of elimination is found
 * once, for any probabilities.
 */
#ifndef EDITOR_GRAPH_MARKOV_H
#define EDITOR_GRAPH_MARKOV_H

#include <stdint.h>

struct markov;

struct markov_edge {
	uint32_t from, to;	/* states; parallel edges are allowed */
};

/* NULL when elimination would take more than *budget changes of a number; else they are
 * taken off it.  Memory is 2 bytes a change at most.  `edge` is not kept. */
struct markov *markov_new(uint32_t nstate, const struct markov_edge *edge, uint32_t nedge,
			uint64_t *budget);
void markov_free(struct markov *m);	/* NULL is allowed */

/* Probabilities of the edges, in their order; may be NULL when there is none.  From every
 * state there must be a way out. */
void markov_set(struct markov *m, const double *probability);
/* Visits of each state when `rate` enters at each; in place. */
void markov_visits(const struct markov *m, double *rate);
/* If g[v] is what one visit of v is worth, what one entry at v is worth in all; in place. */
void markov_worth(const struct markov *m, double *g);

#endif
