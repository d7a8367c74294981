/* likelihood.c - maximum likelihood by L-BFGS
 *
 * A function is a Markov chain: rates of entry and probabilities of branches give how often
 * each node runs (markov.h), so any trial is consistent flow.  What was seen is likely or not:
 *
 *   samples s of a node that is to have m = count * cost
 *                        Poisson with a mean that is off by an unknown factor, since time is
 *                        not frequency.  Stalls make it far too high for a few nodes, while
 *                        nothing makes it far too low, so what many nodes agree in is not given
 *                        up for one that has ten times as many samples: the pull on log m is
 *        trust (s - m) / (m + room), with room = trust + EXCESS * s
 *                        of which the integral is judged; without EXCESS it is a negative
 *                        binomial of size `trust`, whose pull by a node has no bound
 *   edges seen           multinomial; many observations of one branch count for less than as
 *                        many of different ones: what can be observed is no fair choice
 *        - sum of seen log probability, scaled to SEEN_LIMIT at most
 *   a function entered   as often as its callers call it, or more when not all are known
 *        CALL_WEIGHT * (sqrt(1 + (log ratio / CALL_SPREAD)^2) - 1)
 *   callers seen         multinomial of the part of all known calls of a function that is made
 *                        from each place. They are seen for as long as the function runs, which
 *                        need not be the same from everywhere, so they count for little:
 *                        CALLERS_LIMIT at most
 *        - sum of seen log part
 *
 *   tolls                Poisson without samples
 *        mean
 *
 * and a weak belief in a guess of each edge's part, which yields to evidence that it is RARE:
 *        - GUESS * sum of guess log (probability + RARE)
 *
 * The gradient is found by one pass forward (visits) and one backward (markov_worth).  Searched
 * are logarithms: of rates, and of the proportions of a node's edges where it has several.
 * Parts depend on each other by calls only.  Each by itself is searched at little cost, because
 * L-BFGS then remembers the curvature in a few numbers only; but what many parts change only
 * together, above all their rates, hardly moves so.  So there are SWEEPS: first the scale of
 * every part is searched, its proportions kept, then each part alone; last, all together.
 */
#include "editor/graph/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/markov.h"
#include "editor/graph/lbfgs.h"
#include "editor/graph/groups.h"
#include "editor/graph/larger.h"
#include "editor/graph/memory.h"

enum {
	SWEEPS = 2,
	ROUNDS_SCALE = 20,
	ROUNDS = 10,			/* of each part by itself, at most */
	ROUNDS_ALL = 40,		/* of all together */
	MAX_CHANGES = 32000000,		/* of all parts together, each round */
};
#define NEVER 1e-4			/* probability of an edge that never happens */
#define LEAST 1e-12
#define ROUNDING 1e-9
#define LITTLE 3e-3
#define LEAST_GAIN 0.01	/* of likelihood: search ends where no more is promised */

struct branch {				/* edges [first, end) of a node that has several */
	uint32_t first, end;
};

struct fit {
	struct likelihood *f;
	struct branch *branch;		/* by part, each part's in the order of its edges */
	uint32_t *branch_first;		/* [npart + 1] */
	uint32_t *tolled;		/* edges with a toll, by part */
	uint32_t *tolled_first;		/* [npart + 1] */
	struct markov **markov;		/* [npart] NULL: not fitted */
	struct markov_edge *inner;	/* [nedge] edges that stay inside, by part */
	uint32_t *inner_of;		/* [nedge] their indices */
	uint32_t *ninner;		/* [npart]; a part's stand at its first edge's index */
	double *probability;		/* [nedge] */
	double *inner_probability;	/* of one part's edges */
	double *weight;			/* [nedge] of its observations */
	double *belief;			/* [nedge] of the guess */
	double *total;			/* [nnode] of the weights of its edges */
	double *count;			/* [nnode] */
	double *worth;			/* [nnode] */
	struct groups entry;		/* by the part entered */
	struct groups call;		/* by the part that calls */
	double *log_rate;		/* [nentry] */
	double *called;			/* [nentry] how often by all callers */
	double *elsewhere;	/* [nentry] of these, by other parts than the one at hand */
	double *called_worth;		/* [nentry] */
	double *log_rate_gradient;		/* [nentry] */
	double *call_weight;		/* [ncall] of what was seen of it */
	double *called_weight;		/* [nentry] of all of these */
	double *unscaled;		/* [nnode] */
	double *unscaled_rate;		/* [nentry] */
	/* [nedge + nentry] what is searched, part by part: where a node has two edges the
	 * log of their ratio, where more the log of each one's proportion; then log rates of
	 * its entries */
	double *x;
	uint32_t *x_first;		/* [npart + 1] */
	/* of the parts at hand */
	uint32_t first, end;
	uint32_t *touched, ntouched;	/* entries that they have or call */
	uint32_t *touched_in, turn;	/* [nentry] the turn that listed it last */
};

static uint32_t part_end(const struct likelihood *f, uint32_t p, bool edge)
{
	if (p + 1 == f->npart)
		return edge ? f->nedge : f->nnode;
	return edge ? f->part[p + 1].edge : f->part[p + 1].node;
}

/* What every round looks at again. */
static void list_edges(struct fit *w)
{
	const struct likelihood *f = w->f;
	uint32_t nbranch = 0, ntolled = 0;

	for (uint32_t p = 0; p < f->npart; p++) {
		for (uint32_t i = f->part[p].edge, end; i < part_end(f, p, true); i = end) {
			for (end = i; end < part_end(f, p, true) &&
				      f->edge[end].from == f->edge[i].from; end++)
				if (f->edge[end].toll > 0)
					w->tolled[ntolled++] = end;
			w->probability[i] = 1;
			if (end - i > 1)
				w->branch[nbranch++] = (struct branch){ i, end };
		}
		w->branch_first[p + 1] = nbranch;
		w->tolled_first[p + 1] = ntolled;
	}
}

static void set_weights(struct fit *w)
{
	const struct likelihood *f = w->f;
	const struct branch *end = w->branch + w->branch_first[f->npart];

	for (const struct branch *b = w->branch; b < end; b++) {
		double seen = 0, open = 0;

		for (uint32_t k = b->first; k < b->end; k++) {
			seen += f->edge[k].seen;
			open += f->edge[k].never ? 0 : f->edge[k].guess;
		}
		double scale = LIKELIHOOD_SEEN_LIMIT / (LIKELIHOOD_SEEN_LIMIT + seen);
		for (uint32_t k = b->first; k < b->end; k++) {
			w->weight[k] = f->edge[k].seen * scale;
			w->belief[k] = f->edge[k].never || open <= 0
					       ? 0
					       : LIKELIHOOD_GUESS * f->edge[k].guess / open;
			w->total[f->edge[k].from] += w->weight[k];
		}
	}
}

static void set_call_weights(struct fit *w)
{
	const struct likelihood *f = w->f;
	double *seen = memory_new(f->nentry, sizeof(*seen));

	for (uint32_t i = 0; i < f->ncall; i++)
		seen[f->call[i].entry] += f->call[i].seen;
	for (uint32_t i = 0; i < f->ncall; i++) {
		const struct likelihood_call *c = &f->call[i];

		w->call_weight[i] = c->seen * LIKELIHOOD_CALLERS_LIMIT /
				    (LIKELIHOOD_CALLERS_LIMIT + seen[c->entry]);
		w->called_weight[c->entry] += w->call_weight[i];
	}
	free(seen);
}

/* What is not fitted keeps its counts; only calls from there are of interest. */
static void leave_out(struct fit *w, uint32_t p)
{
	for (uint32_t i = w->f->part[p].edge; i < part_end(w->f, p, true); i++) {
		w->weight[i] = w->belief[i] = 0;
		w->total[w->f->edge[i].from] = 0;
	}
}

static void set_markov(struct fit *w)
{
	const struct likelihood *f = w->f;
	uint64_t budget = MAX_CHANGES;

	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t first = f->part[p].edge, n = 0, node = f->part[p].node;
		for (uint32_t i = first; i < part_end(f, p, true); i++) {
			if (f->edge[i].to == LIKELIHOOD_EXIT)
				continue;
			w->inner[first + n].from = f->edge[i].from - node;
			w->inner[first + n].to = f->edge[i].to - node;
			w->inner_of[first + n++] = i;
		}
		uint32_t nnode = part_end(f, p, false) - node;
		w->ninner[p] = n;
		w->markov[p] = markov_new(nnode, w->inner + first, n, &budget);
		f->part[p].fitted = w->markov[p] != NULL;
		if (!w->markov[p])
			leave_out(w, p);
	}
}

/* Probabilities of a part's edges; returns where the log rates begin. */
static const double *set_probabilities(struct fit *w, uint32_t p, const double *x)
{
	for (uint32_t b = w->branch_first[p]; b < w->branch_first[p + 1]; b++) {
		uint32_t i = w->branch[b].first, n = w->branch[b].end - i;
		double most = -INFINITY, sum = 0;

		if (n == 2) {
			double e = exp(-fabs(*x)), less = larger(e / (1 + e), LEAST);

			w->probability[i + !(*x < 0)] = less;
			w->probability[i + (*x < 0)] = 1 / (1 + e);
			x++;
			continue;
		}
		for (uint32_t k = 0; k < n; k++)
			most = larger(x[k], most);
		for (uint32_t k = 0; k < n; k++)
			sum += w->probability[i + k] = exp(x[k] - most);
		for (uint32_t k = i; k < i + n; k++)
			w->probability[k] = larger(w->probability[k] / sum, LEAST);
		x += n;
	}
	return x;
}

/* As the probabilities of the part's edges and the log rates of its entries have it. */
static void visit(struct fit *w, uint32_t p)
{
	const struct likelihood *f = w->f;
	uint32_t first = f->part[p].edge;

	for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++)
		w->count[v] = w->markov[p] ? 0 : f->node[v].count;
	if (!w->markov[p])
		return;
	for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++) {
		uint32_t s = w->entry.item[i];

		w->count[f->entry[s].node] += exp(w->log_rate[s]);
	}
	for (uint32_t i = 0; i < w->ninner[p]; i++)
		w->inner_probability[i] = w->probability[w->inner_of[first + i]];
	markov_set(w->markov[p], w->inner_probability);
	markov_visits(w->markov[p], w->count + f->part[p].node);
}

/* What follows from the part's variables; returns where the next part's begin. */
static const double *set_part(struct fit *w, uint32_t p, const double *x)
{
	x = set_probabilities(w, p, x);
	for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++)
		w->log_rate[w->entry.item[i]] = *x++;
	visit(w, p);
	return x;
}

/* Most nodes hardly run: the first terms of its series are enough then. */
static double log_1_and(double part)
{
	if (part >= LITTLE)
		return log(1 + part);
	return part * (1 - part * (1. / 2 - part * (1. / 3 - part / 4)));
}

/* Of the samples of node v; *worth is what one more execution adds. */
static double judge_node(const struct likelihood_node *n, double count, double *worth)
{
	double m = count * n->cost + LEAST, s = n->samples;
	double room = n->trust + LIKELIHOOD_EXCESS * s;

	*worth = 0;
	if (n->cost <= 0 || n->trust <= 0)
		return 0;
	*worth = n->cost * n->trust * (m - s) / (m * (m + room));
	return n->trust / room * ((s + room) * log_1_and(m / room) - (s > 0 ? s * log(m) : 0));
}

/* Of samples missing where edges lead: in proportion to how often they do. */
static double judge_tolls(struct fit *w, uint32_t p)
{
	const struct likelihood *f = w->f;
	double value = 0;

	for (uint32_t t = w->tolled_first[p]; w->markov[p] && t < w->tolled_first[p + 1]; t++) {
		uint32_t i = w->tolled[t];
		double toll = w->probability[i] * f->edge[i].toll;

		w->worth[f->edge[i].from] += toll;
		value += w->count[f->edge[i].from] * toll;
	}
	return value;
}

static double judge_samples(struct fit *w, uint32_t p)
{
	const struct likelihood *f = w->f;
	uint32_t end = part_end(f, p, false);
	double value = 0;

	for (uint32_t v = f->part[p].node; v < end; v++) {
		w->worth[v] = 0;
		if (w->markov[p])
			value += judge_node(&f->node[v], w->count[v], &w->worth[v]);
	}
	return value + judge_tolls(w, p);
}

static void count_calls(struct fit *w)
{
	for (uint32_t i = 0; i < w->ntouched; i++)
		w->called[w->touched[i]] = w->elsewhere[w->touched[i]];
	for (uint32_t i = w->call.first[w->first]; i < w->call.first[w->end]; i++) {
		const struct likelihood_call *c = &w->f->call[w->call.item[i]];

		w->called[c->entry] += c->probability * w->count[c->site];
	}
}

/* Of a seen call of parts at hand: its part of all calls, judged with their entry. */
static double judge_caller(struct fit *w, uint32_t i)
{
	const struct likelihood_call *c = &w->f->call[i];
	double by = c->probability * w->count[c->site] + LEAST;

	if (w->call_weight[i] <= 0)
		return 0;
	w->worth[c->site] -= c->probability * w->call_weight[i] / by;
	return -w->call_weight[i] * log(by);
}

/* Of all entries that the parts at hand have or call. */
static double judge_calls(struct fit *w)
{
	const struct likelihood *f = w->f;
	double value = 0;

	count_calls(w);
	for (uint32_t i = 0; i < w->ntouched; i++) {
		uint32_t s = w->touched[i];

		w->called_worth[s] = w->log_rate_gradient[s] = 0;
		if (w->called[s] <= 0)
			continue;
		double r = (w->log_rate[s] - log(w->called[s])) / LIKELIHOOD_CALL_SPREAD;
		double root = sqrt(1 + r * r), weight = LIKELIHOOD_CALL_WEIGHT;
		if (r > 0 && !f->entry[s].callers_known)
			weight *= LIKELIHOOD_CALL_UNKNOWN;
		value += weight * (root - 1);
		w->log_rate_gradient[s] = weight * r / root / LIKELIHOOD_CALL_SPREAD;
		w->called_worth[s] = w->called_weight[s] - w->log_rate_gradient[s];
		w->called_worth[s] /= w->called[s];
		value += w->called_weight[s] * log(w->called[s]);
	}
	for (uint32_t i = w->call.first[w->first]; i < w->call.first[w->end]; i++) {
		const struct likelihood_call *c = &f->call[w->call.item[i]];

		w->worth[c->site] += c->probability * w->called_worth[c->entry];
		value += judge_caller(w, w->call.item[i]);
	}
	return value;
}

static double edge_worth(const struct fit *w, uint32_t i)
{
	const struct likelihood_edge *s = &w->f->edge[i];

	return s->toll + (s->to == LIKELIHOOD_EXIT ? 0 : w->worth[s->to]);
}

/* Of edges [i, end), which leave one node; gradient[0..] is theirs. */
static double judge_edges(const struct fit *w, uint32_t i, uint32_t end, double *gradient)
{
	const struct likelihood *f = w->f;
	uint32_t from = f->edge[i].from;
	double mean = 0, pull = 0, value = 0;

	for (uint32_t k = i; k < end; k++) {
		double p = w->probability[k];

		gradient[k - i] = edge_worth(w, k);
		mean += p * gradient[k - i];
		if (w->weight[k] > 0)
			value -= w->weight[k] * log(p);
		value -= w->belief[k] * log(p + LIKELIHOOD_RARE);
		pull += w->belief[k] * p / (p + LIKELIHOOD_RARE);
	}
	for (uint32_t k = i; k < end; k++) {
		double p = w->probability[k];

		gradient[k - i] = w->count[from] * p * (gradient[k - i] - mean) +
				  w->total[from] * p - w->weight[k] + pull * p -
				  w->belief[k] * p / (p + LIKELIHOOD_RARE);
	}
	return value;
}

/* Of edges at branches and of the part's rates; returns where the next part's gradient
 * begins. */
static double *judge_part(struct fit *w, uint32_t p, double *gradient, double *value)
{
	const struct likelihood *f = w->f;

	if (w->markov[p])
		markov_worth(w->markov[p], w->worth + f->part[p].node);
	for (uint32_t v = f->part[p].node; !w->markov[p] && v < part_end(f, p, false); v++)
		w->worth[v] = 0;
	for (uint32_t b = w->branch_first[p]; b < w->branch_first[p + 1]; b++) {
		uint32_t i = w->branch[b].first, end = w->branch[b].end;
		double both[2];

		if (end - i == 2) {
			*value += judge_edges(w, i, end, both);
			*gradient++ = both[0];
		} else {
			*value += judge_edges(w, i, end, gradient);
			gradient += end - i;
		}
	}
	for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++) {
		uint32_t s = w->entry.item[i];

		double worth = w->worth[f->entry[s].node];
		*gradient++ = w->log_rate_gradient[s] + exp(w->log_rate[s]) * worth;
	}
	return gradient;
}

/* Unlikeliness of all that depends on the parts at hand. */
static double judge(const double *x, double *gradient, void *ctx)
{
	struct fit *w = ctx;
	double value = 0;

	for (uint32_t p = w->first; p < w->end; p++) {
		x = set_part(w, p, x);
		value += judge_samples(w, p);
	}
	value += judge_calls(w);
	for (uint32_t p = w->first; p < w->end; p++)
		gradient = judge_part(w, p, gradient, &value);
	return value;
}

/* Unlikeliness of all when each fitted part runs so many times as often, by logarithm. */
static double judge_scale(const double *x, double *gradient, void *ctx)
{
	struct fit *w = ctx;
	const struct likelihood *f = w->f;
	double value = 0;

	for (uint32_t p = 0; p < f->npart; p++) {
		double by = w->markov[p] ? exp(x[p]) : 1;

		for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++)
			w->count[v] = by * w->unscaled[v];
		for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++) {
			uint32_t s = w->entry.item[i];
			w->log_rate[s] = w->unscaled_rate[s] + x[p];
		}
		value += judge_samples(w, p);
	}
	value += judge_calls(w);
	for (uint32_t p = 0; p < f->npart; p++) {
		gradient[p] = 0;
		uint32_t end = w->markov[p] ? part_end(f, p, false) : 0;
		for (uint32_t v = f->part[p].node; v < end; v++)
			gradient[p] += w->count[v] * w->worth[v];
		for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++)
			gradient[p] += w->log_rate_gradient[w->entry.item[i]];
	}
	return value;
}

static double log_probability(const struct likelihood_edge *s)
{
	return log(s->never && s->seen <= 0 ? NEVER : larger(s->probability, NEVER));
}

static void start(struct fit *w)
{
	const struct likelihood *f = w->f;
	double *x = w->x;

	for (uint32_t p = 0; p < f->npart; p++) {
		for (uint32_t b = w->branch_first[p]; b < w->branch_first[p + 1]; b++) {
			uint32_t i = w->branch[b].first, end = w->branch[b].end;

			if (end - i == 2)
				*x++ = log_probability(&f->edge[i]) -
				       log_probability(&f->edge[i + 1]);
			for (uint32_t k = i; k < end && end - i > 2; k++)
				*x++ = log_probability(&f->edge[k]);
		}
		for (uint32_t i = w->entry.first[p]; i < w->entry.first[p + 1]; i++)
			*x++ = log(larger(f->entry[w->entry.item[i]].rate, LEAST));
		w->x_first[p + 1] = (uint32_t)(x - w->x);
	}
}

/* Rates at which the part would have as many samples as it has. */
static void balance(struct fit *w, uint32_t p)
{
	const struct likelihood *f = w->f;
	uint32_t end = w->x_first[p + 1];
	double samples = 0, expected = LEAST;

	(void)set_part(w, p, w->x + w->x_first[p]);
	for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++) {
		samples += f->node[v].samples;
		expected += w->count[v] * f->node[v].cost;
	}
	if (!w->markov[p])
		return;
	samples = samples > 0 ? samples : LIKELIHOOD_UNMET;
	for (uint32_t i = end - (w->entry.first[p + 1] - w->entry.first[p]); i < end; i++)
		w->x[i] += log(samples / expected);
	(void)set_part(w, p, w->x + w->x_first[p]);
}

static void touch(struct fit *w, uint32_t s)
{
	if (w->touched_in[s] == w->turn)
		return;
	w->touched_in[s] = w->turn;
	w->touched[w->ntouched++] = s;
	w->elsewhere[s] = w->called[s];
}

/* Takes parts [first, end) in hand: calls by other parts stand as they are. */
static void take(struct fit *w, uint32_t first, uint32_t end)
{
	const struct likelihood *f = w->f;

	w->first = first;
	w->end = end;
	w->ntouched = 0;
	w->turn++;
	for (uint32_t i = w->entry.first[first]; i < w->entry.first[end]; i++)
		touch(w, w->entry.item[i]);
	for (uint32_t i = w->call.first[first]; i < w->call.first[end]; i++) {
		const struct likelihood_call *c = &f->call[w->call.item[i]];

		touch(w, c->entry);
		w->elsewhere[c->entry] -= c->probability * w->count[c->site];
	}
	/* What is left of nothing is rounding. */
	for (uint32_t i = 0; i < w->ntouched; i++) {
		uint32_t s = w->touched[i];

		if (w->elsewhere[s] < ROUNDING * w->called[s])
			w->elsewhere[s] = 0;
	}
}

static void search(struct fit *w, uint32_t first, uint32_t end, uint32_t rounds)
{
	struct lbfgs_limits limits = { rounds, 2 * rounds, LEAST_GAIN };
	double *x = w->x + w->x_first[first];

	take(w, first, end);
	(void)lbfgs_minimize(w->x_first[end] - w->x_first[first], x, judge, w, limits);
}

static void search_scale(struct fit *w)
{
	const struct likelihood *f = w->f;
	struct lbfgs_limits limits = { ROUNDS_SCALE, 2 * ROUNDS_SCALE, LEAST_GAIN };
	double *x = memory_new(f->npart, sizeof(*x));

	take(w, 0, f->npart);
	memcpy(w->unscaled, w->count, f->nnode * sizeof(double));
	memcpy(w->unscaled_rate, w->log_rate, f->nentry * sizeof(double));
	(void)lbfgs_minimize(f->npart, x, judge_scale, w, limits);
	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t end = w->x_first[p + 1];

		for (uint32_t i = end - (w->entry.first[p + 1] - w->entry.first[p]); i < end;
		     i++)
			w->x[i] += x[p];
		(void)set_part(w, p, w->x + w->x_first[p]);
	}
	count_calls(w);
	free(x);
}

static void group_by_part(struct fit *w)
{
	const struct likelihood *f = w->f;
	uint32_t *part_of = memory_new(f->nnode, sizeof(*part_of));
	uint32_t *of = memory_new((size_t)f->nentry + f->ncall, sizeof(*of));

	for (uint32_t p = 0; p < f->npart; p++) {
		for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++)
			part_of[v] = p;
	}
	for (uint32_t s = 0; s < f->nentry; s++)
		of[s] = part_of[f->entry[s].node];
	groups_make(&w->entry, f->npart, of, f->nentry);
	for (uint32_t i = 0; i < f->ncall; i++)
		of[i] = part_of[f->call[i].site];
	groups_make(&w->call, f->npart, of, f->ncall);
	free(of);
	free(part_of);
}

/* Of one part. */
static uint32_t most_edges(const struct likelihood *f)
{
	uint32_t most = 0;

	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t n = part_end(f, p, true) - f->part[p].edge;

		most = n > most ? n : most;
	}
	return most;
}

static void fit_new(struct fit *w)
{
	const struct likelihood *f = w->f;

	w->markov = memory_new(f->npart, sizeof(*w->markov));
	w->inner = memory_new(f->nedge, sizeof(*w->inner));
	w->inner_of = memory_new(f->nedge, sizeof(*w->inner_of));
	w->ninner = memory_new(f->npart, sizeof(*w->ninner));
	w->branch = memory_new(f->nedge / 2, sizeof(*w->branch));
	w->branch_first = memory_new((size_t)f->npart + 1, sizeof(*w->branch_first));
	w->tolled = memory_new(f->nedge, sizeof(*w->tolled));
	w->tolled_first = memory_new((size_t)f->npart + 1, sizeof(*w->tolled_first));
	w->probability = memory_new(f->nedge, sizeof(double));
	w->inner_probability = memory_new(most_edges(f), sizeof(double));
	w->belief = memory_new(f->nedge, sizeof(double));
	w->weight = memory_new(f->nedge, sizeof(double));
	w->total = memory_new(f->nnode, sizeof(double));
	w->count = memory_new(f->nnode, sizeof(double));
	w->worth = memory_new(f->nnode, sizeof(double));
	w->log_rate = memory_new(f->nentry, sizeof(double));
	w->called = memory_new(f->nentry, sizeof(double));
	w->elsewhere = memory_new(f->nentry, sizeof(double));
	w->called_worth = memory_new(f->nentry, sizeof(double));
	w->log_rate_gradient = memory_new(f->nentry, sizeof(double));
	w->call_weight = memory_new(f->ncall, sizeof(double));
	w->called_weight = memory_new(f->nentry, sizeof(double));
	w->x = memory_new((size_t)f->nedge + f->nentry, sizeof(double));
	w->x_first = memory_new((size_t)f->npart + 1, sizeof(*w->x_first));
	w->unscaled = memory_new(f->nnode, sizeof(double));
	w->unscaled_rate = memory_new(f->nentry, sizeof(double));
	w->touched = memory_new(f->nentry, sizeof(*w->touched));
	w->touched_in = memory_new(f->nentry, sizeof(*w->touched_in));
}

static void fit_free(struct fit *w)
{
	for (uint32_t p = 0; p < w->f->npart; p++)
		markov_free(w->markov[p]);
	void *all[] = { w->markov,
			w->inner,
			w->inner_of,
			w->ninner,
			w->probability,
			w->inner_probability,
			w->belief,
			w->weight,
			w->total,
			w->count,
			w->worth,
			w->log_rate,
			w->called,
			w->elsewhere,
			w->called_worth,
			w->log_rate_gradient,
			w->x,
			w->x_first,
			w->touched,
			w->touched_in,
			w->unscaled,
			w->unscaled_rate,
			w->call_weight,
			w->called_weight,
			w->branch,
			w->branch_first,
			w->tolled,
			w->tolled_first };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	groups_free(&w->entry);
	groups_free(&w->call);
}

void likelihood_fit(struct likelihood *f)
{
	struct fit w = { .f = f };

	fit_new(&w);
	group_by_part(&w);
	list_edges(&w);
	set_weights(&w);
	set_call_weights(&w);
	set_markov(&w);
	start(&w);
	for (uint32_t p = 0; p < f->npart; p++)
		balance(&w, p);
	take(&w, 0, f->npart);
	count_calls(&w);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		search_scale(&w);
		for (uint32_t p = 0; p < f->npart; p++)
			search(&w, p, p + 1, ROUNDS);
	}
	search(&w, 0, f->npart, ROUNDS_ALL);
	for (uint32_t n = 0; n < f->nnode; n++)
		f->node[n].count = w.count[n];
	for (uint32_t i = 0; i < f->nedge; i++)
		f->edge[i].probability = w.probability[i];
	for (uint32_t s = 0; s < f->nentry; s++)
		f->entry[s].rate = exp(w.log_rate[s]);
	fit_free(&w);
}
