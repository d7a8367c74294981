/* markov.h - how often each state of a Markov chain is visited; knows graphs and numbers only
 *
 * A chain is entered from outside at given rates, goes from state to state with given
 * probabilities, and leaves with what they lack to one.  The order of elimination is found
 * once, for any probabilities.
 */
#ifndef EDITOR_GRAPH_MARKOV_H
#define EDITOR_GRAPH_MARKOV_H

#include <stdint.h>

struct chain;

struct chain_step {
	uint32_t from, to;	/* states; parallel steps are allowed */
};

/* NULL when elimination would take more than *budget changes of a number; else they are
 * taken off it.  Memory is 2 bytes a change at most.  `step` is not kept. */
struct chain *chain_new(uint32_t nstate, const struct chain_step *step, uint32_t nstep,
			uint64_t *budget);
void chain_free(struct chain *c);	/* NULL is allowed */

/* Probabilities of the steps, in their order; may be NULL when there is none.  From every
 * state there must be a way out. */
void chain_set(struct chain *c, const double *probability);
/* Visits of each state when `rate` enters at each; in place. */
void chain_visits(const struct chain *c, double *rate);
/* If g[v] is what one visit of v is worth, what one entry at v is worth in all; in place. */
void chain_worth(const struct chain *c, double *g);

#endif
