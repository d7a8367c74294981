/* flowcut.c - leaves out of a fit what hardly runs
 *
 * Most blocks of a large program hardly run: of cc1's functions with any of 5,000 samples two
 * thirds of the blocks are expected to have less than a thousandth of a sample, and have none.
 * Their branches are what was guessed, before the fit and after it, but the fit walks through
 * them in every round.  Here they are cut off first:
 *
 *    what goes there   leads to where it would most likely come back to what is kept, or leave,
 *                      at a toll: the samples that it would have had on the way. So few as they
 *                      are, how unlikely it is to have none is in proportion to how often that
 *                      way is gone
 *    kept is           what samples, seen edges or calls tell anything of, where the part is
 *                      entered, what makes a notable part of the calls of a source, and the
 *                      likeliest way to each of these: evidence about where it leads is
 *                      evidence about every branch of it
 *    what was cut off  has the shares that were guessed; how often it runs follows in the end
 *                      from those and from what was fitted, in the whole graph
 *
 * Steps of a kept node stay steps, in their order, so that each of the small graph is one of
 * the large one.
 */
#include "editor/graph/flowcut.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/markov.h"
#include "editor/graph/memory.h"

enum { ROUNDS = 50, MAX_CHANGES = 32000000 };
static const double NOTABLE = 0.02;	/* part of a source's calls */
static const double NEAR = 0.01;	/* tolls that change by a smaller part are found */
static const double LEAST_SHARE = 1e-4;

struct cut {
	struct flowfit *f, small;
	struct chain **chain;	/* [npart] of f; NULL: too much work */
	double *count;		/* [nnode] of f, as are all */
	double *toll;		/* [nnode] of what is cut off */
	double *way;		/* [nnode] how likely the likeliest way to the outlet is */
	uint32_t *outlet;	/* [nnode] that is kept; or FLOWFIT_EXIT */
	bool *keep;		/* [nnode] */
	uint32_t *node;		/* [nnode] in the small graph */
};

static uint32_t nodes_end(const struct flowfit *f, uint32_t p)
{
	return p + 1 < f->npart ? f->part[p + 1].node : f->nnode;
}

static uint32_t steps_end(const struct flowfit *f, uint32_t p)
{
	return p + 1 < f->npart ? f->part[p + 1].step : f->nstep;
}

/* The first step that leaves another node than step i. */
static uint32_t group_end(const struct flowfit *f, uint32_t i)
{
	uint32_t end = i;

	while (end < f->nstep && f->step[end].from == f->step[i].from)
		end++;
	return end;
}

/* Makes probabilities of the shares of steps [i, end), which leave one node. */
static void normalise(struct flowfit *f, uint32_t i, uint32_t end)
{
	double sum = 0;

	for (uint32_t k = i; k < end; k++) {
		struct flowfit_step *s = &f->step[k];

		s->share = s->never && s->seen <= 0 ? LEAST_SHARE : fmax(s->share, LEAST_SHARE);
		sum += s->share;
	}
	for (uint32_t k = i; k < end; k++)
		f->step[k].share /= sum;
}

/* Where the search starts, as probabilities. */
static void start(struct flowfit *f)
{
	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		end = group_end(f, i);
		normalise(f, i, end);
	}
}

static void make_chains(struct cut *c)
{
	const struct flowfit *f = c->f;
	struct chain_step *step = memory_new(f->nstep, sizeof(*step));
	uint64_t budget = MAX_CHANGES;

	for (uint32_t p = 0; p < f->npart; p++) {
		uint32_t base = f->part[p].node, n = 0;

		for (uint32_t i = f->part[p].step; i < steps_end(f, p); i++)
			if (f->step[i].to != FLOWFIT_EXIT)
				step[n++] = (struct chain_step){ f->step[i].from - base,
								 f->step[i].to - base };
		c->chain[p] = chain_new(nodes_end(f, p) - base, step, n, &budget);
	}
	free(step);
}

/* From the rates at which the part's nodes are entered to their visits; false when that is
 * too much work. */
static bool visit(struct cut *c, uint32_t p)
{
	const struct flowfit *f = c->f;
	uint32_t first = f->part[p].step, n = 0;

	if (!c->chain[p])
		return false;
	double *probability = memory_new(steps_end(f, p) - first, sizeof(*probability));
	for (uint32_t i = first; i < steps_end(f, p); i++)
		if (f->step[i].to != FLOWFIT_EXIT)
			probability[n++] = f->step[i].share;
	chain_set(c->chain[p], probability);
	chain_visits(c->chain[p], c->count + f->part[p].node);
	free(probability);
	return true;
}

static void enter(struct cut *c)
{
	memset(c->count, 0, c->f->nnode * sizeof(*c->count));
	for (uint32_t s = 0; s < c->f->nsource; s++)
		c->count[c->f->source[s].node] += c->f->source[s].rate;
}

/* Counts by which each part would have as many samples as it has. */
static void expect(struct cut *c)
{
	const struct flowfit *f = c->f;

	enter(c);
	for (uint32_t p = 0; p < f->npart; p++) {
		double samples = 0, expected = 0;
		bool found = visit(c, p);

		for (uint32_t v = f->part[p].node; v < nodes_end(f, p); v++) {
			samples += f->node[v].samples;
			expected += c->count[v] * f->node[v].cost;
		}
		samples = samples > 0 ? samples : FLOWFIT_UNMET;
		for (uint32_t v = f->part[p].node; v < nodes_end(f, p); v++) {
			c->count[v] *= expected > 0 ? samples / expected : 1;
			if (!found)
				c->count[v] = f->node[v].count;
			c->keep[v] = !found;
		}
	}
}

static void keep_call_sites(struct cut *c)
{
	const struct flowfit *f = c->f;
	double *called = memory_new(f->nsource, sizeof(*called));

	for (uint32_t i = 0; i < f->ncall; i++)
		called[f->call[i].source] += f->call[i].share * c->count[f->call[i].site];
	for (uint32_t i = 0; i < f->ncall; i++) {
		const struct flowfit_call *call = &f->call[i];

		if (call->seen > 0 ||
		    call->share * c->count[call->site] >= NOTABLE * called[call->source])
			c->keep[call->site] = true;
	}
	free(called);
}

/* The likeliest way to what is kept is kept. */
static void keep_ways(struct cut *c)
{
	const struct flowfit *f = c->f;
	double *most = memory_new(f->nnode, sizeof(*most));
	uint32_t *from = memory_new(f->nnode, sizeof(*from));

	for (uint32_t i = 0; i < f->nstep; i++) {
		const struct flowfit_step *s = &f->step[i];
		double count = c->count[s->from] * s->share;

		if (s->to == FLOWFIT_EXIT || count <= most[s->to])
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
	const struct flowfit *f = c->f;

	for (uint32_t v = 0; v < f->nnode; v++) {
		double cost = f->node[v].cost;

		c->keep[v] |=
			f->node[v].samples > 0 || c->count[v] * (cost > 0 ? cost : 1) >= least;
	}
	for (uint32_t s = 0; s < f->nsource; s++)
		c->keep[f->source[s].node] = true;
	for (uint32_t i = 0; i < f->nstep; i++) {
		if (f->step[i].seen <= 0)
			continue;
		c->keep[f->step[i].from] = true;
		if (f->step[i].to != FLOWFIT_EXIT)
			c->keep[f->step[i].to] = true;
	}
	keep_call_sites(c);
	keep_ways(c);
}

/* The likeliest shares of what nothing but the guess is known of: those that the fit would
 * find. */
static void set_shares(struct cut *c)
{
	struct flowfit *f = c->f;

	for (uint32_t i = 0, end; i < f->nstep; i = end) {
		end = group_end(f, i);
		if (c->keep[f->step[i].from])
			continue;
		for (uint32_t k = i; k < end; k++)
			f->step[k].share = f->step[k].guess;
		normalise(f, i, end);
		for (uint32_t k = i; k < end; k++)
			f->step[k].share += FLOWFIT_RARE * ((end - i) * f->step[k].share - 1);
		normalise(f, i, end);
	}
}

/* Of the node that steps [i, end) leave; true when anything changed. */
static bool set_toll(struct cut *c, uint32_t i, uint32_t end)
{
	uint32_t v = c->f->step[i].from, outlet = FLOWFIT_EXIT;
	const struct flowfit_node *n = &c->f->node[v];
	double toll =
		n->trust > 0 ? n->cost * n->trust / (c->count[v] * n->cost + n->trust) : 0;
	double way = 0;

	for (; i < end; i++) {
		const struct flowfit_step *s = &c->f->step[i];
		bool inside = s->to != FLOWFIT_EXIT && !c->keep[s->to];
		double by = s->share * (inside ? c->way[s->to] : 1);

		toll += inside ? s->share * c->toll[s->to] : 0;
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

/* Backwards, since most steps lead forwards; again where they do not. */
static void set_tolls(struct cut *c, uint32_t p)
{
	const struct flowfit *f = c->f;
	bool changed = true;

	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (uint32_t end = steps_end(f, p), i; end > f->part[p].step; end = i) {
			for (i = end - 1; i > f->part[p].step &&
					  f->step[i - 1].from == f->step[end - 1].from; i--)
				;
			if (!c->keep[f->step[i].from])
				changed |= set_toll(c, i, end);
		}
	}
}

static void add_steps(struct cut *c, uint32_t p)
{
	const struct flowfit *f = c->f;

	for (uint32_t i = f->part[p].step; i < steps_end(f, p); i++) {
		struct flowfit_step s = f->step[i];

		if (!c->keep[s.from])
			continue;
		s.from = c->node[s.from];
		if (s.to != FLOWFIT_EXIT && !c->keep[s.to]) {
			s.toll = c->toll[s.to];
			s.to = c->outlet[s.to];
		}
		if (s.to != FLOWFIT_EXIT)
			s.to = c->node[s.to];
		c->small.step[c->small.nstep++] = s;
	}
}

static void add_parts(struct cut *c)
{
	const struct flowfit *f = c->f;
	struct flowfit *g = &c->small;

	for (uint32_t p = 0; p < f->npart; p++) {
		g->part[g->npart++] = (struct flowfit_part){ g->nnode, g->nstep, false };
		for (uint32_t v = f->part[p].node; v < nodes_end(f, p); v++) {
			c->outlet[v] = FLOWFIT_EXIT;	/* unless steps lead elsewhere */
			c->node[v] = g->nnode;
			if (c->keep[v])
				g->node[g->nnode++] = f->node[v];
		}
		set_tolls(c, p);
		add_steps(c, p);
	}
}

static void make_small(struct cut *c)
{
	const struct flowfit *f = c->f;
	struct flowfit *g = &c->small;
	struct flowfit_call *call = memory_new(f->ncall, sizeof(*call));
	uint32_t nnode = 0, nstep = 0;

	for (uint32_t v = 0; v < f->nnode; v++)
		nnode += c->keep[v];
	for (uint32_t i = 0; i < f->nstep; i++)
		nstep += c->keep[f->step[i].from];
	g->node = memory_new(nnode, sizeof(*g->node));
	g->step = memory_new(nstep, sizeof(*g->step));
	g->part = memory_new(f->npart, sizeof(*g->part));
	g->source = memory_new(f->nsource, sizeof(*g->source));
	g->call = call;
	add_parts(c);
	for (; g->nsource < f->nsource; g->nsource++) {
		g->source[g->nsource] = f->source[g->nsource];
		g->source[g->nsource].node = c->node[f->source[g->nsource].node];
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
	struct flowfit *f = c->f;
	const struct flowfit *g = &c->small;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nstep; i++)
		if (c->keep[f->step[i].from])
			f->step[i].share = g->step[n++].share;
	for (uint32_t s = 0; s < f->nsource; s++)
		f->source[s].rate = g->source[s].rate;
	enter(c);
	for (uint32_t p = 0; p < f->npart; p++) {
		bool found = visit(c, p);

		f->part[p].fitted = g->part[p].fitted;
		for (uint32_t v = f->part[p].node; v < nodes_end(f, p) && f->part[p].fitted;
		     v++)
			f->node[v].count = found ? c->count[v] : g->node[c->node[v]].count;
	}
}

/* They are in the small graph's steps; the fit needs the memory. */
static void drop_tolls(struct cut *c)
{
	free(c->toll);
	free(c->way);
	free(c->outlet);
}

static void cut_free(struct cut *c)
{
	for (uint32_t p = 0; p < c->f->npart; p++)
		chain_free(c->chain[p]);
	void *all[] = { c->chain,      c->count,      c->keep,	     c->node,
			c->small.node, c->small.step, c->small.part, c->small.source };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	free((void *)(uintptr_t)c->small.call);
}

void flowcut_fit(struct flowfit *f, double least)
{
	struct cut c = { .f = f };

	c.chain = memory_new(f->npart, sizeof(struct chain *));
	c.count = memory_new(f->nnode, sizeof(*c.count));
	c.toll = memory_new(f->nnode, sizeof(*c.toll));
	c.way = memory_new(f->nnode, sizeof(*c.way));
	c.outlet = memory_new(f->nnode, sizeof(*c.outlet));
	c.keep = memory_new(f->nnode, sizeof(*c.keep));
	c.node = memory_new(f->nnode, sizeof(*c.node));
	start(f);
	make_chains(&c);
	expect(&c);
	choose(&c, least);
	set_shares(&c);
	make_small(&c);
	drop_tolls(&c);
	flowfit(&c.small);
	read_small(&c);
	cut_free(&c);
}
