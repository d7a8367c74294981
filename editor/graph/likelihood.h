/* likelihood.h - the likeliest probabilities of branches, and rates of entry, given all that
 * was seen; knows graphs and numbers only
 */
#ifndef EDITOR_GRAPH_LIKELIHOOD_H
#define EDITOR_GRAPH_LIKELIHOOD_H

#include <stdbool.h>
#include <stdint.h>

#define FLOWFIT_EXIT UINT32_MAX

/* How much is believed: see likelihood.c. */
#define FLOWFIT_EXCESS 0.6
#define FLOWFIT_SEEN_LIMIT 150.0
#define FLOWFIT_GUESS 0.7
#define FLOWFIT_RARE 0.03
#define FLOWFIT_CALL_WEIGHT 8.0
#define FLOWFIT_CALL_SPREAD 0.3
#define FLOWFIT_CALL_UNKNOWN 0.5
#define FLOWFIT_CALLERS_LIMIT 10.0
/* As how many samples' worth the search begins with a part that has none. */
#define FLOWFIT_UNMET 0.5

struct flowfit_node {
	double samples;			/* in */
	double cost;			/* in: samples expected of one execution */
	/* in: of how many samples at most its time tells as much */
	double trust;
	/* in: of nodes that cannot be fitted; out: executions */
	double count;
};

struct flowfit_step {			/* grouped by `from`, ascending */
	uint32_t from, to;		/* in: nodes; `to` may be FLOWFIT_EXIT */
	/* in: observations of it; ratios of one node's steps tell */
	double seen;
	double share;			/* in: where the search starts; out: probability */
	/* in: its part where nothing is known; 1 for one node's together */
	double guess;
	bool never;			/* in: as good as never happens, unless it was seen */
	/* in: samples expected of what goes it, of which there are none */
	double toll;
};

struct flowfit_source {
	uint32_t node;
	double rate;			/* in: where the search starts, > 0; out */
	bool callers_known;		/* in: all of them are among the calls */
};

struct flowfit_call {
	/* node: each execution enters the source `share` times */
	uint32_t site;
	uint32_t source;
	double share;
	/* observations that the source was entered so; their ratios tell */
	double seen;
};

struct flowfit_part {			/* what is connected but for calls: a function */
	uint32_t node, step;		/* in: where it begins; it ends where the next begins */
	/* out: false if too entangled; counts are then not set */
	bool fitted;
};

struct flowfit {
	uint32_t nnode, nstep, nsource, ncall, npart;
	struct flowfit_node *node;
	struct flowfit_step *step;
	struct flowfit_source *source;
	const struct flowfit_call *call;
	struct flowfit_part *part;
};

/* Fills the fields marked `out`.  Deterministic; work is bounded. */
void flowfit(struct flowfit *f);

#endif
