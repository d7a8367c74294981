/* likelihood.h - the likeliest probabilities of branches and rates of entry, given all that was
 * seen; knows graphs and numbers only
 *
 * The graph consists of parts (functions), each a flow graph by itself: nodes (blocks) and
 * edges.  A part is entered from outside at its entries; calls connect a node of one part with
 * an entry of another.
 *
 * Rates and probabilities give how often each node runs, so whatever is tried is consistent
 * flow.  How unlikely it makes what was seen is the sum of
 *
 *   samples s of a node that is to have m = count * cost
 *                        Poisson with a mean that is off by an unknown factor, since time is
 *                        not frequency.  Stalls make it far too high for a few nodes, while
 *                        nothing makes it far too low.  So what many nodes agree in must not be
 *                        given up for one that has ten times as many samples: the pull on log m
 *                        has a bound,
 *        trust (s - m) / (m + room), with room = trust + EXCESS * s
 *                        and its integral is what counts.  Without EXCESS that is a negative
 *                        binomial of size `trust`, in which the pull of a node has no bound
 *   edges seen           multinomial; many observations of one branch count for less than as
 *                        many of different ones, since what can be observed is no fair choice
 *        - sum of seen log probability, scaled to SEEN_LIMIT at most
 *   a function entered   as often as its callers call it, or more when not all are known
 *        CALL_WEIGHT * (sqrt(1 + (log ratio / CALL_SPREAD)^2) - 1)
 *   callers seen         multinomial over the known calls of a function.  They are seen for as
 *                        long as the function runs, which need not be the same from everywhere,
 *                        so they count for little: CALLERS_LIMIT at most
 *        - sum of seen log part
 *   tolls                Poisson without samples
 *        mean
 *
 * and a weak belief in a guess of each edge's probability, which yields to evidence that the
 * edge is RARE:
 *        - GUESS * sum of guess log (probability + RARE)
 */
#ifndef EDITOR_GRAPH_LIKELIHOOD_H
#define EDITOR_GRAPH_LIKELIHOOD_H

#include <stdbool.h>
#include <stdint.h>

#define LIKELIHOOD_EXIT UINT32_MAX

/* How much is believed; likelihood.c says where each stands.  EXCESS, SEEN_LIMIT and
 * CALL_WEIGHT were measured together on eight programs against complete profiles
 * (bench/accuracy.c): half as much EXCESS and CALL_WEIGHT and 400 for SEEN_LIMIT overlap by
 * .799 with the true edges at 20,000 samples, these by .818; more of each costs at 1,000
 * samples.  The others are chosen. */
#define LIKELIHOOD_EXCESS 0.6
#define LIKELIHOOD_SEEN_LIMIT 150.0
#define LIKELIHOOD_GUESS 0.7
#define LIKELIHOOD_RARE 0.03
#define LIKELIHOOD_CALL_WEIGHT 8.0
#define LIKELIHOOD_CALL_SPREAD 0.3
#define LIKELIHOOD_CALL_UNKNOWN 0.5
#define LIKELIHOOD_CALLERS_LIMIT 10.0
/* A part without samples begins the search with a rate that lets so many be expected. */
#define LIKELIHOOD_UNMET 0.5

struct likelihood_node {
	double samples;			/* in */
	double cost;			/* in: samples expected of one execution */
	/* in: its time tells as much as so many samples, however many it has */
	double trust;
	/* in: what it stays at where its part cannot be fitted; out: executions */
	double count;
};

struct likelihood_edge {		/* grouped by `from`, ascending */
	uint32_t from, to;		/* in: nodes; `to` may be LIKELIHOOD_EXIT */
	/* in: observations of it; only ratios between the edges of one node tell something */
	double seen;
	double probability;		/* in: where the search starts; out */
	/* in: probability where nothing is known; adds up to 1 over a node's edges */
	double guess;
	bool never;			/* in: as good as never happens, unless it was seen */
	/* in: samples that one execution of it lets expect, where there are none (flowcut.c) */
	double toll;
};

struct likelihood_entry {
	uint32_t node;
	double rate;			/* in: where the search starts, > 0; out */
	bool callers_known;		/* in: all of them are among the calls */
};

struct likelihood_call {
	/* node: each of its executions goes to the entry with this probability */
	uint32_t site;
	uint32_t entry;
	double probability;
	/* observations that the entry was entered by this call; only their ratios tell */
	double seen;
};

struct likelihood_part {		/* what is connected but for calls: a function */
	uint32_t node, edge;		/* in: where it begins; it ends where the next begins */
	/* out: false if its graph is too entangled to be solved; its counts stay */
	bool fitted;
};

struct likelihood {
	uint32_t nnode, nedge, nentry, ncall, npart;
	struct likelihood_node *node;
	struct likelihood_edge *edge;
	struct likelihood_entry *entry;
	const struct likelihood_call *call;
	struct likelihood_part *part;
};

static inline uint32_t likelihood_nodes_end(const struct likelihood *f, uint32_t p)
{
	return p + 1 < f->npart ? f->part[p + 1].node : f->nnode;
}

static inline uint32_t likelihood_edges_end(const struct likelihood *f, uint32_t p)
{
	return p + 1 < f->npart ? f->part[p + 1].edge : f->nedge;
}

/* Fills the fields marked `out`.  Deterministic; work is bounded. */
void likelihood_fit(struct likelihood *f);

#endif
