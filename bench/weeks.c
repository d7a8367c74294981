/* weeks.c - weeks of use in seconds: what the policy decides, and what that costs and gains
 *
 * A made-up program (functions that are chains of decisions) is used in patterns: how often
 * each function runs and which way each decision goes.  Hour by hour a scenario says which
 * pattern holds, samples are drawn from it, old ones fade, and decide() is asked as morphd
 * asks it.  A generation is what the real block ordering (exttsp.h) makes of the samples; what
 * it is worth in each hour is the share of that hour's control transfers that its Ext-TSP
 * score gains over the original order.  Beside it an oracle that knows each hour's use exactly
 * and makes a new layout every hour.
 *
 *	weeks [-v] [SEED]	table of scenarios; -v: and every decision
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "editor/graph/exttsp.h"
#include "policy/decide.h"
#include "policy/policy.h"

enum {
	NFN = 24,
	NDECISION = 8,
	NNODE = 3 * NDECISION +
		1,	/* each decision: head, then one of two sides; the last: return */
	NEDGE = 4 * NDECISION,
	NBLOCK = NFN * NNODE,
	HOURS = 28 * 24,
};

/* executions that stand for exactly known counts */
static const double fn_samples = 1 << 20;

struct pattern {
	double weight[NFN];			/* sums to 1 */
	double first[NFN][NDECISION];		/* probability of the first side */
};

struct layout {
	uint32_t order[NFN][NNODE];
};

struct counts {
	double block[NBLOCK];
};

/* --- random numbers: splitmix64, Steele, Lea, Flood 2014 --- */

static uint64_t state;

static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Poisson; the normal approximation where the mean is large. */
static double poisson(double mean)
{
	if (mean > 50) {
		double g = sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());

		return fmax(0, round(mean + sqrt(mean) * g));
	}
	double limit = exp(-mean), product = uniform();
	int n = 0;
	for (; product > limit; n++)
		product *= uniform();
	return n;
}

/* --- patterns --- */

/* A few functions take most of the time; most decisions nearly always go one way. */
static void pattern_make(struct pattern *h)
{
	double sum = 0;

	for (int f = 0; f < NFN; f++) {
		h->weight[f] = exp(4 * uniform());
		sum += h->weight[f];
		for (int d = 0; d < NDECISION; d++) {
			double p = 0.02 + 0.2 * uniform();

			h->first[f][d] = uniform() < 0.5 ? p : 1 - p;
		}
	}
	for (int f = 0; f < NFN; f++)
		h->weight[f] /= sum;
}

/* Another use of the same program: other functions matter, and some decisions go other ways. */
static void pattern_other(const struct pattern *a, struct pattern *b)
{
	pattern_make(b);
	for (int f = 0; f < NFN; f++) {
		for (int d = 0; d < NDECISION; d++) {
			if (uniform() < 0.5)
				b->first[f][d] = a->first[f][d];
		}
	}
}

static struct pattern pattern_mix(const struct pattern *a, const struct pattern *b,
				  double share_b)
{
	struct pattern h;

	for (int f = 0; f < NFN; f++) {
		h.weight[f] = (1 - share_b) * a->weight[f] + share_b * b->weight[f];
		for (int d = 0; d < NDECISION; d++)
			h.first[f][d] =
				(1 - share_b) * a->first[f][d] + share_b * b->first[f][d];
	}
	return h;
}

/* Executions of each block, `total` of functions in all. */
static void pattern_counts(const struct pattern *h, double total, struct counts *out)
{
	for (int f = 0; f < NFN; f++) {
		double *block = &out->block[f * NNODE], n = total * h->weight[f];

		for (int d = 0; d < NDECISION; d++) {
			block[3 * d] = n;
			block[3 * d + 1] = n * h->first[f][d];
			block[3 * d + 2] = n - block[3 * d + 1];
		}
		block[NNODE - 1] = n;
	}
}

/* --- layouts --- */

static void graph_make(const double *block, struct exttsp_edge *edge, uint64_t *size,
		       struct exttsp_graph *g)
{
	*g = (struct exttsp_graph){
		.nnode = NNODE, .nedge = NEDGE, .size = size, .count = block, .edge = edge
	};
	for (uint32_t i = 0; i < NNODE; i++)
		size[i] = 16;
	for (uint32_t d = 0; d < NDECISION; d++) {
		uint32_t head = 3 * d;

		for (uint32_t side = 0; side < 2; side++) {
			double n = block[head + 1 + side];

			edge[4 * d + side] =
				(struct exttsp_edge){ head, head + 1 + side, n, false };
			edge[4 * d + 2 + side] =
				(struct exttsp_edge){ head + 1 + side, head + 3, n, true };
		}
	}
}

static void layout_make(const struct counts *c, struct layout *out)
{
	struct exttsp_edge edge[NEDGE];
	uint64_t size[NNODE];
	struct exttsp_graph g;

	for (int f = 0; f < NFN; f++) {
		graph_make(&c->block[f * NNODE], edge, size, &g);
		exttsp_order(&g, out->order[f]);
	}
}

/* Share of the transfers of control that run straight on, or nearly. */
static double layout_score(const struct layout *l, const struct counts *c)
{
	struct exttsp_edge edge[NEDGE];
	uint64_t size[NNODE];
	struct exttsp_graph g;
	double score = 0, weight = 0;

	for (int f = 0; f < NFN; f++) {
		graph_make(&c->block[f * NNODE], edge, size, &g);
		score += exttsp_score(&g, l->order[f]);
		for (int e = 0; e < NEDGE; e++)
			weight += edge[e].weight;
	}
	return score / weight;
}

/* --- one module through the weeks --- */

struct scenario {
	const char *name;
	double samples_per_hour;
	/* Share of the second pattern in that hour. */
	double (*second)(int hour);
};

static double never(int hour) { (void)hour; return 0; }
static double gradually(int hour) { return (double)hour / HOURS; }
static double abruptly(int hour) { return hour >= 10 * 24; }
static double weekends(int hour) { return hour / 24 % 7 >= 5; }
static double nights(int hour) { return hour % 24 < 8; }

static const struct scenario scenario[] = {
	{ "never changes", 2000, never },
	{ "changes gradually", 2000, gradually },
	{ "changes abruptly", 2000, abruptly },
	{ "another on weekends", 2000, weekends },
	{ "another at night", 2000, nights },
	{ "never changes, little used", 40, never },
	{ "changes abruptly, little used", 40, abruptly },
};

struct run {
	const struct policy *policy;
	struct counts use, made, recent;
	struct layout layout;
	int made_at, window_at;
	unsigned jobs;
	double gain, oracle;
};

static struct usage usage_of(const struct counts *c, struct usage_count *room)
{
	struct usage u = { .count = room };

	for (uint32_t i = 0; i < NBLOCK; i++) {
		if (c->block[i] > 0)
			room[u.n++] = (struct usage_count){ i, c->block[i] };
	}
	return u;
}

static double total(const struct counts *c)
{
	double sum = 0;

	for (int i = 0; i < NBLOCK; i++)
		sum += c->block[i];
	return sum;
}

static void sample(struct run *r, const struct counts *truth, double n)
{
	double all = total(truth), fade = exp2(-1 / (24.0 * r->policy->half_life_d));

	for (int i = 0; i < NBLOCK; i++) {
		double k = poisson(n * truth->block[i] / all);

		r->use.block[i] = fade * r->use.block[i] + k;
		r->recent.block[i] += k;
	}
}

/* The window of recent samples has ended. */
static void consider(struct run *r, const char *name, int hour, bool verbose)
{
	static struct usage_count room[3][NBLOCK];
	struct decide_module m = {
		.use = usage_of(&r->use, room[0]), .made = usage_of(&r->made, room[1]),
		.recent = usage_of(&r->recent, room[2]), .time_share = 0.1,
		.full_gain = DECIDE_FULL_GAIN, .job_cpu_s = 1, .disk_mib = 1,
		.observed = true, .since_s = r->jobs ? 3600.0 * (hour - r->made_at) : -1,
	};
	double factor = decide_forget(&m.use, &m.recent);

	for (int i = 0; i < NBLOCK; i++)
		r->use.block[i] = r->recent.block[i] +
				  factor * fmax(0, r->use.block[i] - r->recent.block[i]);
	m.use = usage_of(&r->use, room[0]);
	struct decision d = decide(r->policy, &m);
	if (verbose)
		printf("# %s, day %.2f: %s; drift %.2f, forget %.2f, gain %.0f ppm\n", name,
		       hour / 24.0, decide_reason_text[d.reason], d.drift, 1 - factor,
		       1e6 * d.gain);
	if (d.act) {
		layout_make(&r->use, &r->layout);
		r->made = r->use;
		r->made_at = hour;
		r->jobs++;
	}
	r->recent = (struct counts){ 0 };
	r->window_at = hour;
}

/* *all: sums, each hour weighted by how much the program runs in it. */
static void play(const struct scenario *s, const struct policy *p, bool verbose,
		 struct run *all)
{
	static struct run r;
	struct layout original, ideal;
	struct pattern a, b;

	pattern_make(&a);
	pattern_other(&a, &b);
	memset(&r, 0, sizeof(r));
	r.policy = p;
	for (uint32_t f = 0; f < NFN; f++)
		for (uint32_t i = 0; i < NNODE; i++)
			original.order[f][i] = i;
	r.layout = original;
	for (int hour = 0; hour < HOURS; hour++) {
		struct pattern h = pattern_mix(&a, &b, s->second(hour));
		struct counts truth;

		pattern_counts(&h, fn_samples, &truth);
		layout_make(&truth, &ideal);
		double before = layout_score(&original, &truth);
		r.gain += layout_score(&r.layout, &truth) - before;
		r.oracle += layout_score(&ideal, &truth) - before;
		sample(&r, &truth, s->samples_per_hour);
		if (decide_window_ends(p, !r.jobs, total(&r.recent),
				       3600.0 * (hour - r.window_at)))
			consider(&r, s->name, hour, verbose);
	}
	printf("| %s | %.0f | %u | %d | %.1f %% | %.1f %% |\n", s->name, s->samples_per_hour,
	       r.jobs, HOURS, 100.0 * r.jobs / HOURS, 100 * r.gain / r.oracle);
	all->jobs += r.jobs;
	all->gain += s->samples_per_hour * r.gain;
	all->oracle += s->samples_per_hour * r.oracle;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	struct policy *p = policy_default();

	if (!p)
		return 1;
	state = argc > 1 + verbose ? strtoull(argv[1 + verbose], NULL, 0) : 1;
	puts("| use | samples an hour | jobs | oracle's jobs | work | gain |");
	puts("|---|---|---|---|---|---|");
	size_t n = sizeof(scenario) / sizeof(scenario[0]);
	static struct run all;
	for (size_t i = 0; i < n; i++)
		play(&scenario[i], p, verbose, &all);
	printf("| all, by time used | | %u | %zu | %.1f %% | %.1f %% |\n", all.jobs, n * HOURS,
	       100.0 * all.jobs / (double)(n * HOURS), 100 * all.gain / all.oracle);
	policy_free(p);
	return 0;
}
