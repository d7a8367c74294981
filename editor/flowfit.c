/* flowfit.c - maximum likelihood by descent
 *
 * A function is a Markov chain: rates of entry and probabilities of branches give how often each
 * node runs (chain.h), so whatever is tried is consistent flow.  What was seen is likely or not:
 *
 *   samples s of a node that is to have m = count * cost   Poisson with a mean that is off by an unknown
 *                        factor, since time is not frequency: negative binomial of size `trust`
 *        (s + trust) log(m + trust) - s log m
 *   steps seen           multinomial; many observations of one branch count for less than as many
 *                        of different ones, because which cases can be observed is no fair choice
 *        - sum of seen log probability, scaled to SEEN_LIMIT at most
 *   a function entered   as often as its callers call it, or more when not all are known
 *        CALL_WEIGHT * (sqrt(1 + (log ratio / CALL_SPREAD)^2) - 1)
 *
 * and a weak belief in a guess of what each step's part is, which gives way to evidence that it is RARE:
 *        - GUESS * sum of guess log (probability + RARE)
 *
 * The sum's gradient is found by one pass forward (visits) and one backward (chain_worth).  Searched
 * are logarithms: of rates, and of the proportions of a node's steps where it has several.
 */
#include "editor/flowfit.h"

#include <math.h>
#include <stdlib.h>

#include "editor/chain.h"
#include "editor/descent.h"
#include "editor/memory.h"

enum { ROUNDS = 100, MAX_CHANGES = 32000000 };	/* of all parts together, each round */
#define NEVER 1e-4			/* probability of a step that never happens */
#define LEAST 1e-12

struct fit {
	struct flowfit *f;
	struct chain **chain;		/* [npart] NULL: not fitted */
	struct chain_step *inner;	/* [nstep] steps that stay inside, by part */
	uint32_t *inner_of;		/* [nstep] their indices */
	uint32_t *ninner;		/* [npart]; a part's stand at its first step's index */
	double *probability;		/* [nstep] */
	double *inner_probability;	/* [nstep] */
	uint32_t nopen;			/* steps from nodes that have several: their proportions are x[0..] */
	double *weight;			/* [nstep] of its observations */
	double *belief;			/* [nstep] of the guess */
	double *total;			/* [nnode] of the weights of its steps */
	double *count;			/* [nnode] */
	double *worth;			/* [nnode] */
	double *called;			/* [nsource] */
	double *called_worth;		/* [nsource] */
};

static uint32_t part_end(const struct flowfit *f, uint32_t p, bool step)
{
	if (p + 1 == f->npart)
		return step ? f->nstep : f->nnode;
	return step ? f->part[p + 1].step : f->part[p + 1].node;
}

static uint32_t steps_end(const struct flowfit *f, uint32_t i)
{
	uint32_t end = i;

	while (end < f->nstep && f->step[end].from == f->step[i].from)
		end++;
	return end;
}

static void set_weights(struct fit *w)
{
	const struct flowfit *f = w->f;

	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		double seen = 0, open = 0;

		end = steps_end(f, i);
		for (uint32_t k = i; k < end; k++) {
			seen += f->step[k].seen;
			open += f->step[k].never ? 0 : f->step[k].guess;
		}
		double scale = FLOWFIT_SEEN_LIMIT / (FLOWFIT_SEEN_LIMIT + seen);
		for (uint32_t k = i; k < end; k++) {
			w->weight[k] = f->step[k].seen * scale;
			w->belief[k] = f->step[k].never || open <= 0 ? 0 :
				       FLOWFIT_GUESS * f->step[k].guess / open;
			w->total[f->step[k].from] += w->weight[k];
		}
	}
}

/* What is not fitted keeps its counts; only calls from there are of interest. */
static void leave_out(struct fit *w, uint32_t p)
{
	for (uint32_t i = w->f->part[p].step; i < part_end(w->f, p, true); i++) {
		w->weight[i] = w->belief[i] = 0;
		w->total[w->f->step[i].from] = 0;
	}
}

static void set_chains(struct fit *w)
{
	const struct flowfit *f = w->f;
	uint64_t budget = MAX_CHANGES;

	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t first = f->part[p].step, n = 0, node = f->part[p].node;

		for (uint32_t i = first; i < part_end(f, p, true); i++) {
			if (f->step[i].to == FLOWFIT_EXIT)
				continue;
			w->inner[first + n] = (struct chain_step){ f->step[i].from - node,
								   f->step[i].to - node };
			w->inner_of[first + n++] = i;
		}
		w->ninner[p] = n;
		w->chain[p] = chain_new(part_end(f, p, false) - node, w->inner + first, n, &budget);
		f->part[p].fitted = w->chain[p] != NULL;
		if (!w->chain[p])
			leave_out(w, p);
	}
}

/* Proportions to probabilities, node by node. */
static void set_probabilities(struct fit *w, const double *x)
{
	const struct flowfit *f = w->f;

	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		double most = -INFINITY, sum = 0;

		end = steps_end(f, i);
		if (end - i == 1) {
			w->probability[i] = 1;
			continue;
		}
		for (uint32_t k = 0; k < end - i; k++)
			most = fmax(most, x[k]);
		for (uint32_t k = 0; k < end - i; k++)
			sum += w->probability[i + k] = exp(x[k] - most);
		for (uint32_t k = i; k < end; k++)
			w->probability[k] = fmax(w->probability[k] / sum, LEAST);
		x += end - i;
	}
}

static void visit(struct fit *w, const double *rate)
{
	const struct flowfit *f = w->f;

	for (uint32_t v = 0; v < f->nnode; v++)
		w->count[v] = 0;
	for (uint32_t s = 0; s < f->nsource; s++)
		w->count[f->source[s].node] += exp(rate[s]);
	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t first = f->part[p].step;

		if (!w->chain[p]) {
			for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++)
				w->count[v] = f->node[v].count;
			continue;
		}
		for (uint32_t i = 0; i < w->ninner[p]; i++)
			w->inner_probability[i] = w->probability[w->inner_of[first + i]];
		chain_set(w->chain[p], w->inner_probability);
		chain_visits(w->chain[p], w->count + f->part[p].node);
	}
}

/* Of the samples of node v; *worth is what one more execution adds. */
static double judge_node(const struct flowfit_node *n, double count, double *worth)
{
	double m = count * n->cost + LEAST;

	*worth = 0;
	if (n->cost <= 0 || n->trust <= 0)
		return 0;
	*worth = n->cost * ((n->samples + n->trust) / (m + n->trust) - n->samples / m);
	return (n->samples + n->trust) * log(m + n->trust) -
	       (n->samples > 0 ? n->samples * log(m) : 0);
}

static double judge_samples(struct fit *w)
{
	const struct flowfit *f = w->f;
	double value = 0;

	for (uint32_t p = 0; p < f->npart; p++) {
		for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++) {
			w->worth[v] = 0;
			if (w->chain[p])
				value += judge_node(&f->node[v], w->count[v], &w->worth[v]);
		}
	}
	return value;
}

static double judge_calls(struct fit *w, const double *rate, double *slope)
{
	const struct flowfit *f = w->f;
	double value = 0;

	for (uint32_t s = 0; s < f->nsource; s++)
		w->called[s] = 0;
	for (uint32_t i = 0; i < f->ncall; i++)
		w->called[f->call[i].source] += f->call[i].share * w->count[f->call[i].site];
	for (uint32_t s = 0; s < f->nsource; s++) {
		w->called_worth[s] = 0;
		if (w->called[s] <= 0)
			continue;
		double r = (rate[s] - log(w->called[s])) / FLOWFIT_CALL_SPREAD, root = sqrt(1 + r * r);
		double weight = FLOWFIT_CALL_WEIGHT;
		if (r > 0 && !f->source[s].callers_known)
			weight *= FLOWFIT_CALL_UNKNOWN;
		value += weight * (root - 1);
		double d = weight * r / root / FLOWFIT_CALL_SPREAD;
		slope[s] += d;
		w->called_worth[s] = -d / w->called[s];
	}
	for (uint32_t i = 0; i < f->ncall; i++)
		w->worth[f->call[i].site] += f->call[i].share *
					     w->called_worth[f->call[i].source];
	return value;
}

/* Of steps [i, end), which leave one node; slope[0..] is theirs. */
static double judge_steps(const struct fit *w, uint32_t i, uint32_t end, double *slope)
{
	const struct flowfit *f = w->f;
	uint32_t from = f->step[i].from;
	double mean = 0, pull = 0, value = 0;

	for (uint32_t k = i; k < end; k++) {
		double p = w->probability[k];

		if (f->step[k].to != FLOWFIT_EXIT)
			mean += p * w->worth[f->step[k].to];
		if (w->weight[k] > 0)
			value -= w->weight[k] * log(p);
		value -= w->belief[k] * log(p + FLOWFIT_RARE);
		pull += w->belief[k] * p / (p + FLOWFIT_RARE);
	}
	for (uint32_t k = i; k < end; k++) {
		double to = f->step[k].to == FLOWFIT_EXIT ? 0 : w->worth[f->step[k].to];
		double p = w->probability[k];

		slope[k - i] = w->count[from] * p * (to - mean) + w->total[from] * p - w->weight[k] +
			   pull * p - w->belief[k] * p / (p + FLOWFIT_RARE);
	}
	return value;
}

static double judge(const double *x, double *slope, void *ctx)
{
	struct fit *w = ctx;
	const struct flowfit *f = w->f;
	const double *rate = x + w->nopen;
	double *rate_slope = slope + w->nopen;

	for (uint32_t s = 0; s < f->nsource; s++)
		rate_slope[s] = 0;
	set_probabilities(w, x);
	visit(w, rate);
	double value = judge_samples(w) + judge_calls(w, rate, rate_slope);
	for (uint32_t p = 0; p < f->npart; p++) {
		if (w->chain[p])
			chain_worth(w->chain[p], w->worth + f->part[p].node);
		for (uint32_t v = f->part[p].node; !w->chain[p] && v < part_end(f, p, false); v++)
			w->worth[v] = 0;
	}
	for (uint32_t s = 0; s < f->nsource; s++)
		rate_slope[s] += exp(rate[s]) * w->worth[f->source[s].node];
	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		end = steps_end(f, i);
		if (end - i == 1)
			continue;
		value += judge_steps(w, i, end, slope);
		slope += end - i;
	}
	return value;
}

static void start(struct fit *w, double *x)
{
	const struct flowfit *f = w->f;

	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		end = steps_end(f, i);
		for (uint32_t k = i; k < end && end - i > 1; k++)
			x[w->nopen++] = log(f->step[k].never && f->step[k].seen <= 0 ? NEVER :
					    fmax(f->step[k].share, NEVER));
	}
	for (uint32_t s = 0; s < f->nsource; s++)
		x[w->nopen + s] = log(fmax(f->source[s].rate, LEAST));
}

/* Rates at which every part would have as many samples as it has. */
static void balance(struct fit *w, double *x)
{
	const struct flowfit *f = w->f;
	double *by = memory_new(f->nnode, sizeof(*by));

	set_probabilities(w, x);
	visit(w, x + w->nopen);
	for (uint32_t p = 0; p < f->npart; p++) {
		double samples = 0, expected = LEAST;

		for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++) {
			samples += f->node[v].samples;
			expected += w->count[v] * f->node[v].cost;
		}
		for (uint32_t v = f->part[p].node; v < part_end(f, p, false); v++)
			by[v] = w->chain[p] && samples > 0 ? log(samples / expected) : 0;
	}
	for (uint32_t s = 0; s < f->nsource; s++)
		x[w->nopen + s] += by[f->source[s].node];
	free(by);
}

void flowfit(struct flowfit *f)
{
	struct fit w = { .f = f };
	double *x = memory_new((size_t)f->nstep + f->nsource, sizeof(*x));

	w.chain = memory_new(f->npart, sizeof(*w.chain));
	w.inner = memory_new(f->nstep, sizeof(*w.inner));
	w.inner_of = memory_new(f->nstep, sizeof(*w.inner_of));
	w.ninner = memory_new(f->npart, sizeof(*w.ninner));
	w.probability = memory_new(f->nstep, sizeof(double));
	w.inner_probability = memory_new(f->nstep, sizeof(double));
	w.belief = memory_new(f->nstep, sizeof(double));
	w.weight = memory_new(f->nstep, sizeof(double));
	w.total = memory_new(f->nnode, sizeof(double));
	w.count = memory_new(f->nnode, sizeof(double));
	w.worth = memory_new(f->nnode, sizeof(double));
	w.called = memory_new(f->nsource, sizeof(double));
	w.called_worth = memory_new(f->nsource, sizeof(double));
	set_weights(&w);
	set_chains(&w);
	start(&w, x);
	balance(&w, x);
	(void)descent(w.nopen + f->nsource, x, judge, &w, ROUNDS, 2 * ROUNDS);
	set_probabilities(&w, x);
	visit(&w, x + w.nopen);
	for (uint32_t n = 0; n < f->nnode; n++)
		f->node[n].count = w.count[n];
	for (uint32_t i = 0; i < f->nstep; i++)
		f->step[i].share = w.probability[i];
	for (uint32_t s = 0; s < f->nsource; s++)
		f->source[s].rate = exp(x[w.nopen + s]);
	for (uint32_t p = 0; p < f->npart; p++)
		chain_free(w.chain[p]);
	free(w.chain);
	free(w.inner);
	free(w.inner_of);
	free(w.ninner);
	free(w.probability);
	free(w.inner_probability);
	free(w.belief);
	free(w.weight);
	free(w.total);
	free(w.count);
	free(w.worth);
	free(w.called);
	free(w.called_worth);
	free(x);
}
