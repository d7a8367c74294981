/* proclayout.c - closest is best: Pettis and Hansen's order
 *
 * Every procedure starts as a chain of its own.  The heaviest edge between two chains is taken;
 * of the four ways to put the two chains end to end (each may be turned round) the one is
 * chosen that brings the two procedures of the heaviest original edge between them closest
 * together.  Chains come out by density, single procedures without edges behind them, by
 * density too.
 *
 * INVARIANTS
 *   I1  arcs of a chain (`adj`) are merged when two chains are: at most one live arc joins two
 *       chains, and its weight is the sum of all original edges between them;
 *   I2  the heap holds every live arc with its present weight; outdated entries are recognised
 *       by their stamp.
 */
#include "editor/graph/proclayout.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/gainheap.h"
#include "editor/graph/memory.h"

#define NONE UINT32_MAX

struct arc {
	uint32_t a, b;		/* chains; a == NONE: dead */
	uint32_t edge;		/* the heaviest original edge between them */
	double weight;
	uint32_t stamp;		/* of its present weight in the heap */
};

struct chain {
	uint32_t *proc;
	uint32_t nproc;
	uint64_t size;
	double samples;
	uint32_t *arc;
	uint32_t narc, cap_arc;
};

struct state {
	const uint64_t *size;		/* of procedures */
	const struct proc_edge *edge;
	struct chain *chain;
	uint32_t *chain_of;
	uint32_t *arc_to;		/* scratch: arc of the chain at hand to chain i */
	struct arc *arc;
	uint32_t narc;
	struct gainheap heap;
};

static void add_arc(struct chain *c, uint32_t arc)
{
	if (c->narc == c->cap_arc) {
		c->cap_arc = c->cap_arc ? 2 * c->cap_arc : 4;
		c->arc = memory_grow(c->arc, c->cap_arc, sizeof(*c->arc));
	}
	c->arc[c->narc++] = arc;
}

static int edge_cmp(const void *x, const void *y, void *ctx)
{
	const struct proc_edge *edge = ctx;
	const struct proc_edge *e = &edge[*(const uint32_t *)x],
			       *f = &edge[*(const uint32_t *)y];
	uint32_t elo = e->from < e->to ? e->from : e->to, ehi = e->from ^ e->to ^ elo;
	uint32_t flo = f->from < f->to ? f->from : f->to, fhi = f->from ^ f->to ^ flo;

	if (elo != flo)
		return elo < flo ? -1 : 1;
	if (ehi != fhi)
		return ehi < fhi ? -1 : 1;
	return *(const uint32_t *)x < *(const uint32_t *)y ? -1 : 1;
}

/* One arc for all edges between two procedures. */
static void make_arcs(struct state *s, uint32_t nedge)
{
	uint32_t *by_pair = memory_grow(NULL, nedge, sizeof(*by_pair)), n = 0;

	for (uint32_t e = 0; e < nedge; e++) {
		if (s->edge[e].from != s->edge[e].to && s->edge[e].weight > 0)
			by_pair[n++] = e;
	}
	qsort_r(by_pair, n, sizeof(*by_pair), edge_cmp, (void *)(uintptr_t)s->edge);
	s->arc = memory_grow(NULL, n, sizeof(*s->arc));
	for (uint32_t i = 0; i < n; i++) {
		const struct proc_edge *e = &s->edge[by_pair[i]];
		uint32_t lo = e->from < e->to ? e->from : e->to, hi = e->from ^ e->to ^ lo;
		struct arc *last = s->narc ? &s->arc[s->narc - 1] : NULL;

		if (last && last->a == lo && last->b == hi) {
			last->weight += e->weight;
			continue;
		}
		s->arc[s->narc] = (struct arc){ lo, hi, by_pair[i], e->weight, 0 };
		add_arc(&s->chain[lo], s->narc);
		add_arc(&s->chain[hi], s->narc++);
	}
	for (uint32_t i = 0; i < s->narc; i++)
		gainheap_push(&s->heap, s->arc[i].weight, i, s->arc[i].stamp);
	free(by_pair);
}

/* Bytes in front of and behind procedure `p` in its chain. */
static void around(const struct state *s, uint32_t p, uint64_t *front, uint64_t *behind)
{
	const struct chain *c = &s->chain[s->chain_of[p]];

	*front = 0;
	for (uint32_t i = 0; c->proc[i] != p; i++)
		*front += s->size[c->proc[i]];
	*behind = c->size - *front - s->size[p];
}

static void reverse(struct chain *c)
{
	for (uint32_t i = 0, j = c->nproc; i + 1 < j; i++) {
		uint32_t t = c->proc[--j];

		c->proc[j] = c->proc[i];
		c->proc[i] = t;
	}
}

/* Chain y behind chain x, both turned so that the ends of `edge` come closest; x goes on. */
static void join_procs(struct state *s, uint32_t xi, uint32_t yi, const struct proc_edge *edge)
{
	struct chain *x = &s->chain[xi], *y = &s->chain[yi];
	uint32_t px = s->chain_of[edge->from] == xi ? edge->from : edge->to;
	uint64_t xfront, xbehind, yfront, ybehind;

	around(s, px, &xfront, &xbehind);
	around(s, edge->from ^ edge->to ^ px, &yfront, &ybehind);
	if (xfront < xbehind)
		reverse(x);
	if (ybehind < yfront)
		reverse(y);
	x->proc = memory_grow(x->proc, x->nproc + y->nproc, sizeof(*x->proc));
	memcpy(x->proc + x->nproc, y->proc, y->nproc * sizeof(*x->proc));
	x->nproc += y->nproc;
	x->size += y->size;
	x->samples += y->samples;
	for (uint32_t i = 0; i < y->nproc; i++)
		s->chain_of[y->proc[i]] = xi;
	free(y->proc);
	y->proc = NULL;
	y->nproc = 0;
}

static void join_arcs(struct state *s, uint32_t xi, uint32_t yi)
{
	struct chain *x = &s->chain[xi], *y = &s->chain[yi];
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->narc; i++) {
		struct arc *arc = &s->arc[x->arc[i]];

		if (arc->a == NONE)
			continue;
		x->arc[n++] = x->arc[i];
		s->arc_to[arc->a == xi ? arc->b : arc->a] = x->arc[i];
	}
	x->narc = n;
	for (uint32_t i = 0; i < y->narc; i++) {
		struct arc *arc = &s->arc[y->arc[i]];

		if (arc->a == NONE)
			continue;
		uint32_t other = arc->a == yi ? arc->b : arc->a, to = s->arc_to[other];
		if (to == NONE) {
			*(arc->a == yi ? &arc->a : &arc->b) = xi;
			add_arc(x, y->arc[i]);
			s->arc_to[other] = y->arc[i];
			continue;
		}
		s->arc[to].weight += arc->weight;
		if (s->edge[arc->edge].weight > s->edge[s->arc[to].edge].weight)
			s->arc[to].edge = arc->edge;
		arc->a = NONE;
		gainheap_push(&s->heap, s->arc[to].weight, to, ++s->arc[to].stamp);
	}
	for (uint32_t i = 0; i < x->narc; i++) {
		const struct arc *arc = &s->arc[x->arc[i]];

		s->arc_to[arc->a == xi ? arc->b : arc->a] = NONE;
	}
	free(y->arc);
	y->arc = NULL;
	y->narc = y->cap_arc = 0;
}

static void merge_chains(struct state *s)
{
	struct gainheap_entry top;

	while (gainheap_pop(&s->heap, &top)) {
		struct arc *arc = &s->arc[top.item];

		if (arc->a == NONE || arc->stamp != top.stamp)
			continue;
		uint32_t a = arc->a, b = arc->b;
		/* The larger chain takes the other in, so that no procedure moves often. */
		bool swap = s->chain[a].nproc < s->chain[b].nproc;
		arc->a = NONE;
		join_procs(s, swap ? b : a, swap ? a : b, &s->edge[arc->edge]);
		join_arcs(s, swap ? b : a, swap ? a : b);
	}
}

static int chain_cmp(const void *x, const void *y, void *ctx)
{
	const struct state *s = ctx;
	const struct chain *a = &s->chain[*(const uint32_t *)x];
	const struct chain *b = &s->chain[*(const uint32_t *)y];

	if ((a->nproc > 1) != (b->nproc > 1))
		return a->nproc > 1 ? -1 : 1;
	double da = a->samples / (a->size ? (double)a->size : 1);
	double db = b->samples / (b->size ? (double)b->size : 1);
	if (da != db)
		return da > db ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void write_order(struct state *s, uint32_t nproc, uint32_t *order)
{
	uint32_t *live = memory_grow(NULL, nproc, sizeof(*live)), nlive = 0, n = 0;

	for (uint32_t i = 0; i < nproc; i++) {
		if (s->chain[i].nproc)
			live[nlive++] = i;
	}
	qsort_r(live, nlive, sizeof(*live), chain_cmp, s);
	for (uint32_t i = 0; i < nlive; i++) {
		const struct chain *c = &s->chain[live[i]];

		memcpy(order + n, c->proc, c->nproc * sizeof(*order));
		n += c->nproc;
	}
	free(live);
}

void proclayout_closest(const struct proc_graph *g, uint32_t *order)
{
	struct state s = { .size = g->size, .edge = g->edge };
	uint32_t nproc = g->nproc;

	s.chain = memory_grow(NULL, nproc, sizeof(*s.chain));
	s.chain_of = memory_grow(NULL, nproc, sizeof(*s.chain_of));
	s.arc_to = memory_grow(NULL, nproc, sizeof(*s.arc_to));
	for (uint32_t i = 0; i < nproc; i++) {
		s.chain[i] = (struct chain){ .proc = memory_grow(NULL, 1, sizeof(uint32_t)),
			.nproc = 1, .size = g->size[i], .samples = g->samples[i] };
		s.chain[i].proc[0] = i;
		s.chain_of[i] = i;
		s.arc_to[i] = NONE;
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		assert(g->edge[e].from < g->nproc && g->edge[e].to < g->nproc);
	make_arcs(&s, g->nedge);
	merge_chains(&s);
	write_order(&s, nproc, order);
	for (uint32_t i = 0; i < nproc; i++) {
		free(s.chain[i].proc);
		free(s.chain[i].arc);
	}
	free(s.chain);
	free(s.chain_of);
	free(s.arc_to);
	free(s.arc);
	gainheap_free(&s.heap);
}
