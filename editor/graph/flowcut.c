/* flowcut.c - leaves out of the likelihood fit what hardly runs
 *
 * Most blocks of a large program hardly run: of cc1's functions with any of 5,000 samples two
 * thirds of the blocks are expected to have less than a thousandth of a sample, and have none.
 * Their branches are what was guessed, before the fit and after it, but the fit walks through
 * them in every round.  Here they are cut off first:
 *
 *    an edge to a cut node   leads instead to the kept node where that way would most likely
 *                            come back, or out, at a toll: the samples that would have been
 *                            expected on the way.  There are so few that the unlikeliness of
 *                            having none is in proportion to how often the edge is taken
 *    a node is kept          if samples, seen edges or calls tell anything of it, if its part
 *                            is entered there, if it makes a notable part of the calls of an
 *                            entry, or if the likeliest way to a kept node leads over it:
 *                            evidence of where a way leads is evidence of every branch on it
 *    a cut node              keeps the probabilities that were guessed; how often it runs
 *                            follows in the end from those and from what was fitted, in the
 *                            whole graph
 *
 * Edges of a kept node stay edges, in their order, so each of the small graph is one of the
 * large one.
 */
#include "editor/graph/flowcut.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/markov.h"
#include "editor/graph/memory.h"

enum { ROUNDS = 50, MAX_CHANGES = 32000000 };
/* The limits are chosen; what the fit finds of kept nodes changes by them as little as by a few
 * rounds more or less. */
static const double NOTABLE = 0.02;	/* part of an entry's calls */
static const double NEAR = 0.01;	/* tolls that change by a smaller part are found */
static const double LEAST_PROBABILITY = 1e-4;

struct cut {
	struct likelihood *f, small;
	struct markov **markov;	/* [npart] of f; NULL: too much work */
	double *count;		/* [nnode] of f, as are all */
	double *toll;		/* [nnode] of what is cut off */
	double *way;		/* [nnode] how likely the likeliest way to the outlet is */
	uint32_t *outlet;	/* [nnode] that is kept; or LIKELIHOOD_EXIT */
	bool *keep;		/* [nnode] */
	uint32_t *node;		/* [nnode] in the small graph */
};

/* The first edge that leaves another node than edge i. */
static uint32_t group_end(const struct likelihood *f, uint32_t i)
{
	uint32_t end = i;

	while (end < f->nedge && f->edge[end].from == f->edge[i].from)
		end++;
	return end;
}

/* Makes the probabilities of edges [i, end), which leave one node, add up to 1. */
static void normalise(struct likelihood *f, uint32_t i, uint32_t end)
{
	double sum = 0;

	for (uint32_t k = i; k < end; k++) {
		struct likelihood_edge *s = &f->edge[k];

		s->probability = s->never && s->seen <= 0
					 ? LEAST_PROBABILITY
					 : fmax(s->probability, LEAST_PROBABILITY);
		sum += s->probability;
	}
	for (uint32_t k = i; k < end; k++)
		f->edge[k].probability /= sum;
}

/* Makes probabilities of where the search starts. */
static void start(struct likelihood *f)
{
	for (uint32_t i = 0, end; i < f->nedge; i = end) {
		end = group_end(f, i);
		normalise(f, i, end);
	}
}

static void make_markov(struct cut *c)
{
	const struct likelihood *f = c->f;
	struct markov_edge *edge = memory_new(f->nedge, sizeof(*edge));
	uint64_t budget = MAX_CHANGES;

	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t base = f->part[p].node, n = 0;

		for (uint32_t i = f->part[p].edge; i < likelihood_edges_end(f, p); i++)
			if (f->edge[i].to != LIKELIHOOD_EXIT)
				edge[n++] = (struct markov_edge){ f->edge[i].from - base,
								  f->edge[i].to - base };
		c->markov[p] = markov_new(likelihood_nodes_end(f, p) - base, edge, n, &budget);
	}
	free(edge);
}

/* count[] of the part's nodes: in: rates of entry; out: visits.  False when that is too much
 * work. */
static bool visit(struct cut *c, uint32_t p)
{
	const struct likelihood *f = c->f;
	uint32_t first = f->part[p].edge, end = likelihood_edges_end(f, p), n = 0;

	if (!c->markov[p])
		return false;
	double *probability = memory_new(end - first, sizeof(*probability));
	for (uint32_t i = first; i < end; i++)
		if (f->edge[i].to != LIKELIHOOD_EXIT)
			probability[n++] = f->edge[i].probability;
	markov_set(c->markov[p], probability);
	markov_visits(c->markov[p], c->count + f->part[p].node);
	free(probability);
	return true;
}

static void enter(struct cut *c)
{
	memset(c->count, 0, c->f->nnode * sizeof(*c->count));
	for (uint32_t s = 0; s < c->f->nentry; s++)
		c->count[c->f->entry[s].node] += c->f->entry[s].rate;
}

/* Counts with which each part is expected to have as many samples as it has. */
static void expect(struct cut *c)
{
	const struct likelihood *f = c->f;

	enter(c);
	for (uint32_t p = 0; p < f->npart; p++) {
		double samples = 0, expected = 0;
		bool found = visit(c, p);

		for (uint32_t v = f->part[p].node; v < likelihood_nodes_end(f, p); v++) {
			samples += f->node[v].samples;
			expected += c->count[v] * f->node[v].cost;
		}
		samples = samples > 0 ? samples : LIKELIHOOD_UNMET;
		for (uint32_t v = f->part[p].node; v < likelihood_nodes_end(f, p); v++) {
			c->count[v] *= expected > 0 ? samples / expected : 1;
			if (!found)
				c->count[v] = f->node[v].count;
			c->keep[v] = !found;
		}
	}
}

static void keep_call_sites(struct cut *c)
{
	const struct likelihood *f = c->f;
	double *called = memory_new(f->nentry, sizeof(*called));

	for (uint32_t i = 0; i < f->ncall; i++)
		called[f->call[i].entry] += f->call[i].probability * c->count[f->call[i].site];
	for (uint32_t i = 0; i < f->ncall; i++) {
		const struct likelihood_call *call = &f->call[i];

		if (call->seen > 0 ||
		    call->probability * c->count[call->site] >= NOTABLE * called[call->entry])
			c->keep[call->site] = true;
	}
	free(called);
}

/* Keeps the likeliest way to each kept node. */
static void keep_ways(struct cut *c)
{
	const struct likelihood *f = c->f;
	double *most = memory_new(f->nnode, sizeof(*most));
	uint32_t *from = memory_new(f->nnode, sizeof(*from));

	for (uint32_t i = 0; i < f->nedge; i++) {
		const struct likelihood_edge *s = &f->edge[i];
		double count = c->count[s->from] * s->probability;

		if (s->to == LIKELIHOOD_EXIT || count <= most[s->to])
			continue;
		most[s->to] = count;
		from[s->to] = s->from;
	}
	for (uint32_t v = 0; v < f->nnode; v++) {
		for (uint32_t u = v; c->keep[v] && most[u] > 0 && !c->keep[from[u]];
		     u = from[u])
			c->keep[from[u]] = true;
	}
	free(from);
	free(most);
}

static void choose(struct cut *c, double least)
{
	const struct likelihood *f = c->f;

	for (uint32_t v = 0; v < f->nnode; v++) {
		double cost = f->node[v].cost;

		c->keep[v] |=
			f->node[v].samples > 0 || c->count[v] * (cost > 0 ? cost : 1) >= least;
	}
	for (uint32_t s = 0; s < f->nentry; s++)
		c->keep[f->entry[s].node] = true;
	for (uint32_t i = 0; i < f->nedge; i++) {
		if (f->edge[i].seen <= 0)
			continue;
		c->keep[f->edge[i].from] = true;
		if (f->edge[i].to != LIKELIHOOD_EXIT)
			c->keep[f->edge[i].to] = true;
	}
	keep_call_sites(c);
	keep_ways(c);
}

/* The likeliest probabilities of what nothing but the guess is known of: those that the fit
 * would find. */
static void set_probabilities(struct cut *c)
{
	struct likelihood *f = c->f;

	for (uint32_t i = 0, end; i < f->nedge; i = end) {
		end = group_end(f, i);
		if (c->keep[f->edge[i].from])
			continue;
		for (uint32_t k = i; k < end; k++)
			f->edge[k].probability = f->edge[k].guess;
		normalise(f, i, end);
		for (uint32_t k = i; k < end; k++)
			f->edge[k].probability +=
				LIKELIHOOD_RARE * ((end - i) * f->edge[k].probability - 1);
		normalise(f, i, end);
	}
}

/* Of the node that edges [i, end) leave; true when anything changed. */
static bool set_toll(struct cut *c, uint32_t i, uint32_t end)
{
	uint32_t v = c->f->edge[i].from, outlet = LIKELIHOOD_EXIT;
	const struct likelihood_node *n = &c->f->node[v];
	double toll =
		n->trust > 0 ? n->cost * n->trust / (c->count[v] * n->cost + n->trust) : 0;
	double way = 0;

	for (; i < end; i++) {
		const struct likelihood_edge *s = &c->f->edge[i];
		bool inside = s->to != LIKELIHOOD_EXIT && !c->keep[s->to];
		double by = s->probability * (inside ? c->way[s->to] : 1);

		toll += inside ? s->probability * c->toll[s->to] : 0;
		if (by > way) {
			way = by;
			outlet = inside ? c->outlet[s->to] : s->to;
		}
	}
	bool changed = toll > c->toll[v] * (1 + NEAR) || way > c->way[v];
	c->toll[v] = toll;
	c->way[v] = way;
	c->outlet[v] = outlet;
	return changed;
}

/* Backwards, since most edges lead forwards; again where they do not. */
static void set_tolls(struct cut *c, uint32_t p)
{
	const struct likelihood *f = c->f;
	bool changed = true;

	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		uint32_t first = f->part[p].edge;

		for (uint32_t end = likelihood_edges_end(f, p), i; end > first; end = i) {
			for (i = end - 1; i > first &&
					  f->edge[i - 1].from == f->edge[end - 1].from;
			     i--)
				;
			if (!c->keep[f->edge[i].from])
				changed |= set_toll(c, i, end);
		}
	}
}

static void add_edges(struct cut *c, uint32_t p)
{
	const struct likelihood *f = c->f;

	for (uint32_t i = f->part[p].edge; i < likelihood_edges_end(f, p); i++) {
		struct likelihood_edge s = f->edge[i];

		if (!c->keep[s.from])
			continue;
		s.from = c->node[s.from];
		if (s.to != LIKELIHOOD_EXIT && !c->keep[s.to]) {
			s.toll = c->toll[s.to];
			s.to = c->outlet[s.to];
		}
		if (s.to != LIKELIHOOD_EXIT)
			s.to = c->node[s.to];
		c->small.edge[c->small.nedge++] = s;
	}
}

static void add_parts(struct cut *c)
{
	const struct likelihood *f = c->f;
	struct likelihood *g = &c->small;

	for (uint32_t p = 0; p < f->npart; p++) {
		g->part[g->npart++] = (struct likelihood_part){ g->nnode, g->nedge, false };
		for (uint32_t v = f->part[p].node; v < likelihood_nodes_end(f, p); v++) {
			c->outlet[v] = LIKELIHOOD_EXIT;	/* unless edges lead elsewhere */
			c->node[v] = g->nnode;
			if (c->keep[v])
				g->node[g->nnode++] = f->node[v];
		}
		set_tolls(c, p);
		add_edges(c, p);
	}
}

static void make_small(struct cut *c)
{
	const struct likelihood *f = c->f;
	struct likelihood *g = &c->small;
	struct likelihood_call *call = memory_new(f->ncall, sizeof(*call));
	uint32_t nnode = 0, nedge = 0;

	for (uint32_t v = 0; v < f->nnode; v++)
		nnode += c->keep[v];
	for (uint32_t i = 0; i < f->nedge; i++)
		nedge += c->keep[f->edge[i].from];
	g->node = memory_new(nnode, sizeof(*g->node));
	g->edge = memory_new(nedge, sizeof(*g->edge));
	g->part = memory_new(f->npart, sizeof(*g->part));
	g->entry = memory_new(f->nentry, sizeof(*g->entry));
	g->call = call;
	add_parts(c);
	for (; g->nentry < f->nentry; g->nentry++) {
		g->entry[g->nentry] = f->entry[g->nentry];
		g->entry[g->nentry].node = c->node[f->entry[g->nentry].node];
	}
	for (uint32_t i = 0; i < f->ncall; i++) {
		if (!c->keep[f->call[i].site])
			continue;
		call[g->ncall] = f->call[i];
		call[g->ncall++].site = c->node[f->call[i].site];
	}
}

static void read_small(struct cut *c)
{
	struct likelihood *f = c->f;
	const struct likelihood *g = &c->small;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nedge; i++)
		if (c->keep[f->edge[i].from])
			f->edge[i].probability = g->edge[n++].probability;
	for (uint32_t s = 0; s < f->nentry; s++)
		f->entry[s].rate = g->entry[s].rate;
	enter(c);
	for (uint32_t p = 0; p < f->npart; p++) {
		bool found = visit(c, p);

		f->part[p].fitted = g->part[p].fitted;
		if (!g->part[p].fitted)
			continue;
		for (uint32_t v = f->part[p].node; v < likelihood_nodes_end(f, p); v++)
			f->node[v].count = found ? c->count[v] : g->node[c->node[v]].count;
	}
}

/* Tolls are in the edges of the small graph now, and the fit needs the memory. */
static void drop_tolls(struct cut *c)
{
	free(c->toll);
	free(c->way);
	free(c->outlet);
}

static void cut_free(struct cut *c)
{
	for (uint32_t p = 0; p < c->f->npart; p++)
		markov_free(c->markov[p]);
	void *all[] = { c->markov,     c->count,      c->keep,	     c->node,
			c->small.node, c->small.edge, c->small.part, c->small.entry };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	free((void *)(uintptr_t)c->small.call);
}

void flowcut_fit(struct likelihood *f, double least)
{
	struct cut c = { .f = f };

	c.markov = memory_new(f->npart, sizeof(struct markov *));
	c.count = memory_new(f->nnode, sizeof(*c.count));
	c.toll = memory_new(f->nnode, sizeof(*c.toll));
	c.way = memory_new(f->nnode, sizeof(*c.way));
	c.outlet = memory_new(f->nnode, sizeof(*c.outlet));
	c.keep = memory_new(f->nnode, sizeof(*c.keep));
	c.node = memory_new(f->nnode, sizeof(*c.node));
	start(f);
	make_markov(&c);
	expect(&c);
	choose(&c, least);
	set_probabilities(&c);
	make_small(&c);
	drop_tolls(&c);
	likelihood_fit(&c.small);
	read_small(&c);
	cut_free(&c);
}
