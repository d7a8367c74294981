/* exttsp_improve.c - local search behind the greedy merging of exttsp.c
 *
 * Greedy merging never takes back what it joined but by splitting a chain, so it can end where one
 * exchange gains.  An exchange swaps two adjacent segments, A B C D -> A C B D, and makes three new
 * neighbours.  For every edge u -> v that does not fall through, heaviest first, the exchanges that
 * would bring v behind u are
 *
 *     ...u B | v...          B ends where v begins, C ends anywhere behind v
 *     ...u | C v...          C ends where v begins, B begins anywhere in front
 *     v... | ...u            B begins with v, C ends with u, cut anywhere between
 *
 * What the fall-throughs at the three joints gain costs a few additions; the best such exchanges of an
 * edge are scored in full, and made when the score rises.
 *
 * INVARIANTS
 *   I1  the score never falls, and node 0 stays first;
 *   I2  the work is bounded: rounds, and edges scored in all.
 */
#include "editor/exttsp.h"

#include <stdlib.h>
#include <string.h>

#include "editor/memory.h"

enum { MAX_ROUNDS = 10, TRIES = 3, MAX_WORK = 20000000 };
#define LEAST_GAIN 1e-7		/* of all edge weight */

struct exchange {
	uint32_t b, c, d;	/* where the segments B and C begin, and what is behind them */
	double gain;		/* at the joints */
};

struct search {
	const struct exttsp_graph *g;
	uint32_t *order, *place;	/* [nnode] inverse to each other */
	uint32_t n;			/* order[n..] has no edges of weight */
	uint32_t *first;		/* [nnode + 1] of out[] */
	uint32_t *out;			/* edges of weight, by source */
	uint32_t *heavy;		/* the same edges, heaviest first */
	uint32_t nheavy;
	uint64_t *at;			/* scratch, [nnode] */
	uint32_t *swap;			/* scratch, [nnode] */
	double score, least;
	uint64_t work;
};

static bool counts(const struct exttsp_edge *e)
{
	return e->weight > 0 && e->from != e->to;
}

/* What it scores that node y stands behind node x. */
static double joint(struct search *s, uint32_t x, uint32_t y)
{
	double score = 0;

	for (uint32_t i = s->first[x]; i < s->first[x + 1]; i++) {
		const struct exttsp_edge *e = &s->g->edge[s->out[i]];

		if (e->to == y)
			score += exttsp_score_edge(e->weight, e->kind, 0, 0);
	}
	return score;
}

static double score_now(struct search *s)
{
	double score = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		s->at[s->order[i]] = at;
		at += s->g->size[s->order[i]];
	}
	for (uint32_t i = 0; i < s->nheavy; i++) {
		const struct exttsp_edge *e = &s->g->edge[s->heavy[i]];

		score += exttsp_score_edge(e->weight, e->kind, s->at[e->from] + s->g->size[e->from],
					   s->at[e->to]);
	}
	s->work += s->nheavy + s->n;
	return score;
}

/* Swaps order[b..c) and order[c..d). */
static void exchange(struct search *s, uint32_t b, uint32_t c, uint32_t d)
{
	memcpy(s->swap, s->order + b, (c - b) * sizeof(*s->swap));
	memmove(s->order + b, s->order + c, (d - c) * sizeof(*s->swap));
	memcpy(s->order + b + (d - c), s->swap, (c - b) * sizeof(*s->swap));
	for (uint32_t i = b; i < d; i++)
		s->place[s->order[i]] = i;
}

/* Gain at the joints; joints with the end of the row count nothing. */
static double joints_gain(struct search *s, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t *o = s->order;
	double gain = joint(s, o[b - 1], o[c]) + joint(s, o[d - 1], o[b]) -
		      joint(s, o[b - 1], o[b]) - joint(s, o[c - 1], o[c]);

	s->work += 4;
	if (d < s->n)
		gain += joint(s, o[c - 1], o[d]) - joint(s, o[d - 1], o[d]);
	return gain;
}

/* Keeps the TRIES exchanges of most gain, best first. */
static void note(struct search *s, uint32_t b, uint32_t c, uint32_t d, struct exchange *best)
{
	struct exchange x = { b, c, d, joints_gain(s, b, c, d) };

	for (int i = 0; i < TRIES; i++) {
		if (x.gain > best[i].gain + s->least) {
			struct exchange t = best[i];

			best[i] = x;
			x = t;
		}
	}
}

static void find_exchanges(struct search *s, const struct exttsp_edge *e, struct exchange *best)
{
	uint32_t u = s->place[e->from], v = s->place[e->to];

	if (v == 0)
		return;
	if (v > u) {
		for (uint32_t d = v + 1; d <= s->n; d++)
			note(s, u + 1, v, d, best);
		for (uint32_t b = 1; b <= u; b++)
			note(s, b, u + 1, v, best);
	} else {
		for (uint32_t c = v + 1; c <= u; c++)
			note(s, v, c, u + 1, best);
	}
}

/* Makes the first of the best exchanges that raises the score. */
static bool improve_edge(struct search *s, const struct exttsp_edge *e)
{
	struct exchange best[TRIES] = { 0 };

	if (e->kind == EXTTSP_INDIRECT || s->place[e->to] == s->place[e->from] + 1)
		return false;
	find_exchanges(s, e, best);
	for (int i = 0; i < TRIES && best[i].gain > 0; i++) {
		uint32_t b = best[i].b, c = best[i].c, d = best[i].d;

		exchange(s, b, c, d);
		double score = score_now(s);
		if (score > s->score + s->least) {
			s->score = score;
			return true;
		}
		exchange(s, b, b + (d - c), d);
	}
	return false;
}

static int heavier(const void *x, const void *y, void *edges)
{
	const struct exttsp_edge *edge = edges;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;

	if (edge[i].weight != edge[j].weight)
		return edge[i].weight > edge[j].weight ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void search_init(struct search *s, const struct exttsp_graph *g, uint32_t *order)
{
	double weight = 0;

	*s = (struct search){ .g = g, .order = order };
	s->place = memory_new(g->nnode, sizeof(*s->place));
	s->first = memory_new((size_t)g->nnode + 2, sizeof(*s->first));
	s->out = memory_new(g->nedge, sizeof(*s->out));
	s->heavy = memory_new(g->nedge, sizeof(*s->heavy));
	s->at = memory_new(g->nnode, sizeof(*s->at));
	s->swap = memory_new(g->nnode, sizeof(*s->swap));
	for (uint32_t i = 0; i < g->nnode; i++)
		s->place[order[i]] = i;
	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct exttsp_edge *ed = &g->edge[e];
		uint32_t from = s->place[ed->from], to = s->place[ed->to];

		if (!counts(ed))
			continue;
		weight += ed->weight;
		s->heavy[s->nheavy++] = e;
		s->first[ed->from + 2]++;
		s->n = from >= s->n ? from + 1 : s->n;
		s->n = to >= s->n ? to + 1 : s->n;
	}
	for (uint32_t v = 0; v < g->nnode; v++)
		s->first[v + 2] += s->first[v + 1];
	for (uint32_t i = 0; i < s->nheavy; i++)
		s->out[s->first[g->edge[s->heavy[i]].from + 1]++] = s->heavy[i];
	if (s->nheavy)
		qsort_r(s->heavy, s->nheavy, sizeof(*s->heavy), heavier, (void *)(uintptr_t)g->edge);
	s->least = LEAST_GAIN * weight;
	s->score = score_now(s);
}

void exttsp_improve(const struct exttsp_graph *g, uint32_t *order)
{
	struct search s;
	bool improved = true;

	search_init(&s, g, order);
	for (int round = 0; round < MAX_ROUNDS && improved; round++) {
		improved = false;
		for (uint32_t i = 0; i < s.nheavy && s.work < MAX_WORK; i++)
			improved |= improve_edge(&s, &g->edge[s.heavy[i]]);
	}
	free(s.place);
	free(s.first);
	free(s.out);
	free(s.heavy);
	free(s.at);
	free(s.swap);
}
