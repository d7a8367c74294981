/* likelihood.h - the likeliest probabilities of branches, and rates of entry, given all that
 * was seen; knows graphs and numbers only
 */
#ifndef EDITOR_GRAPH_LIKELIHOOD_H
#define EDITOR_GRAPH_LIKELIHOOD_H

#include <stdbool.h>
#include <stdint.h>

#define LIKELIHOOD_EXIT UINT32_MAX

/* How much is believed: see likelihood.c. */
#define LIKELIHOOD_EXCESS 0.6
#define LIKELIHOOD_SEEN_LIMIT 150.0
#define LIKELIHOOD_GUESS 0.7
#define LIKELIHOOD_RARE 0.03
#define LIKELIHOOD_CALL_WEIGHT 8.0
#define LIKELIHOOD_CALL_SPREAD 0.3
#define LIKELIHOOD_CALL_UNKNOWN 0.5
#define LIKELIHOOD_CALLERS_LIMIT 10.0
/* As how many samples' worth the search begins with a part that has none. */
#define LIKELIHOOD_UNMET 0.5

struct likelihood_node {
	double samples;			/* in */
	double cost;			/* in: samples expected of one execution */
	/* in: of how many samples at most its time tells as much */
	double trust;
	/* in: of nodes that cannot be fitted; out: executions */
	double count;
};

struct likelihood_edge {		/* grouped by `from`, ascending */
	uint32_t from, to;		/* in: nodes; `to` may be LIKELIHOOD_EXIT */
	/* in: observations of it; ratios of one node's edges tell */
	double seen;
	double probability;		/* in: where the search starts; out */
	/* in: its part where nothing is known; 1 for one node's together */
	double guess;
	bool never;			/* in: as good as never happens, unless it was seen */
	/* in: samples expected of what goes it, of which there are none */
	double toll;
};

struct likelihood_entry {
	uint32_t node;
	double rate;			/* in: where the search starts, > 0; out */
	bool callers_known;		/* in: all of them are among the calls */
};

struct likelihood_call {
	/* node: each execution enters the entry `probability` times */
	uint32_t site;
	uint32_t entry;
	double probability;
	/* observations that the entry was entered so; their ratios tell */
	double seen;
};

struct likelihood_part {		/* what is connected but for calls: a function */
	uint32_t node, edge;		/* in: where it begins; it ends where the next begins */
	/* out: false if too entangled; counts are then not set */
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

/* Fills the fields marked `out`.  Deterministic; work is bounded. */
void likelihood_fit(struct likelihood *f);

#endif
