/* proccache.c - CDSort: calls short and hot code dense, by one gain
 *
 * As llvm-bolt and lld do since LLVM 17.
 *
 * Every procedure starts as a chain.  Of all pairs of chains with calls between them the one is
 * joined that gains most, end to end in whichever of eight ways makes the calls shortest, until
 * no pair gains.  A join gains
 *
 *     distance   for each call between the two, its weight / the fourth root of the distance
 *     density    SCALE * how many misses less there are in a cache of 16 lines of ENTRY bytes:
 *                a chain misses samples * (1 - what it has of an entry's samples)^16 times
 *
 * divided by the size of the smaller chain, so that small ones, which fit anywhere, find their
 * place early.  Chains come out by density.
 *
 * INVARIANTS
 *   I1  a live link joins two different live chains, and each of them lists it once;
 *   I2  at[] is the offset of a procedure in its chain;
 *   I3  the heap holds every live link that gains, with its present stamp.
 */
#include "editor/graph/proclayout.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/gainheap.h"
#include "editor/graph/larger.h"
#include "editor/graph/memory.h"

#define NONE UINT32_MAX

/* procedures: longer chains take long to join, and gain nothing */
enum { MAX_CHAIN = 128 };
static const double entry_bytes = 2048;
static const double density_scale = 0.25;

struct chain {
	uint32_t *proc;
	uint32_t nproc;
	uint64_t size;
	double samples;
	uint32_t *link;
	uint32_t nlink, cap_link;
};

struct link {
	uint32_t a, b;			/* chains; NONE, NONE when dead */
	uint32_t edge, edge_tail;	/* list through next_edge[] */
	uint32_t stamp;
	bool turn_a, turn_b, b_first;	/* of the best join */
};

struct state {
	const struct proc_graph *g;
	struct chain *chain;		/* [nproc]; chain i begins as procedure i */
	uint32_t *chain_of, *next_edge;
	uint64_t *at;
	struct link *link;
	uint32_t nlink;
	/* [nproc] scratch: link of the chain at hand to chain i */
	uint32_t *link_to;
	struct gainheap heap;
	double samples;			/* of all */
};

/* These powers are most of the work; pow() takes many times as long. */
static double fourth_root(double x)
{
	return sqrt(sqrt(x));
}

static double power_16(double x)
{
	double square = x * x, fourth = square * square, eighth = fourth * fourth;

	return eighth * eighth;
}

static double misses(const struct state *s, double samples, uint64_t size)
{
	double share = samples / (size ? (double)size : 1) * entry_bytes / s->samples;

	return share >= 1 ? 0 : samples * power_16(1 - share);
}

/* Where byte `off` of procedure p is when its chain is turned, or not, and begins at `base`. */
static double position(const struct state *s, uint32_t p, uint64_t off, bool turned,
		       double base)
{
	const struct chain *c = &s->chain[s->chain_of[p]];

	if (turned)
		return base + (double)(c->size - s->at[p] - s->g->size[p] + off);
	return base + (double)(s->at[p] + off);
}

static double distance_gain(const struct state *s, const struct link *l, bool turn_a,
			    bool turn_b, bool b_first)
{
	double gain = 0;
	double base_a = b_first ? (double)s->chain[l->b].size : 0;
	double base_b = b_first ? 0 : (double)s->chain[l->a].size;

	for (uint32_t e = l->edge; e != NONE; e = s->next_edge[e]) {
		const struct proc_edge *edge = &s->g->edge[e];
		bool from_a = s->chain_of[edge->from] == l->a;
		double from = position(s, edge->from, edge->off, from_a ? turn_a : turn_b,
				       from_a ? base_a : base_b);
		double to = position(s, edge->to, 0, from_a ? turn_b : turn_a,
				     from_a ? base_b : base_a);
		double d = fabs(to - from);

		gain += edge->weight / fourth_root(larger(d, 1));
	}
	return gain;
}

static void find_best(struct state *s, uint32_t li)
{
	struct link *l = &s->link[li];
	const struct chain *a = &s->chain[l->a], *b = &s->chain[l->b];
	double best = 0;

	l->stamp++;
	if (a->nproc + b->nproc > MAX_CHAIN)
		return;
	for (int way = 0; way < 8; way++) {
		double gain = distance_gain(s, l, way & 1, way & 2, way & 4);

		if (gain > best) {
			best = gain;
			l->turn_a = way & 1;
			l->turn_b = way & 2;
			l->b_first = way & 4;
		}
	}
	best += density_scale *
		(misses(s, a->samples, a->size) + misses(s, b->samples, b->size) -
		 misses(s, a->samples + b->samples, a->size + b->size));
	uint64_t smaller = a->size < b->size ? a->size : b->size;
	if (best > 0)
		gainheap_push(&s->heap, best / (smaller ? (double)smaller : 1), li, l->stamp);
}

static void turn(struct chain *c)
{
	for (uint32_t i = 0, j = c->nproc; i + 1 < j; i++) {
		uint32_t t = c->proc[--j];

		c->proc[j] = c->proc[i];
		c->proc[i] = t;
	}
}

static void join_procs(struct state *s, uint32_t ai, uint32_t bi)
{
	struct chain *a = &s->chain[ai], *b = &s->chain[bi];
	uint64_t off = 0;

	a->proc = memory_grow(a->proc, (size_t)a->nproc + b->nproc, sizeof(*a->proc));
	memcpy(a->proc + a->nproc, b->proc, b->nproc * sizeof(*a->proc));
	a->nproc += b->nproc;
	a->size += b->size;
	a->samples += b->samples;
	for (uint32_t i = 0; i < a->nproc; i++) {
		s->chain_of[a->proc[i]] = ai;
		s->at[a->proc[i]] = off;
		off += s->g->size[a->proc[i]];
	}
	free(b->proc);
	b->proc = NULL;
	b->nproc = 0;
}

static void add_link(struct chain *c, uint32_t link)
{
	if (c->nlink == c->cap_link) {
		c->cap_link = c->cap_link ? 2 * c->cap_link : 4;
		c->link = memory_grow(c->link, c->cap_link, sizeof(*c->link));
	}
	c->link[c->nlink++] = link;
}

static uint32_t other_end(const struct link *l, uint32_t chain)
{
	return l->a == chain ? l->b : l->a;
}

/* The links of b become links of a; two links to the same third chain become one. */
static void join_links(struct state *s, uint32_t ai, uint32_t bi)
{
	struct chain *a = &s->chain[ai], *b = &s->chain[bi];
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->nlink; i++) {
		if (s->link[a->link[i]].a == NONE)
			continue;
		s->link_to[other_end(&s->link[a->link[i]], ai)] = a->link[i];
		a->link[n++] = a->link[i];
	}
	a->nlink = n;
	for (uint32_t i = 0; i < b->nlink; i++) {
		struct link *l = &s->link[b->link[i]];

		if (l->a == NONE)
			continue;
		uint32_t other = other_end(l, bi), to = s->link_to[other];
		if (to == NONE) {
			*(l->a == bi ? &l->a : &l->b) = ai;
			add_link(a, b->link[i]);
			s->link_to[other] = b->link[i];
			continue;
		}
		s->next_edge[s->link[to].edge_tail] = l->edge;
		s->link[to].edge_tail = l->edge_tail;
		l->a = l->b = NONE;
	}
	for (uint32_t i = 0; i < a->nlink; i++)
		s->link_to[other_end(&s->link[a->link[i]], ai)] = NONE;
	free(b->link);
	b->link = NULL;
	b->nlink = b->cap_link = 0;
}

static void join_chains(struct state *s)
{
	struct gainheap_entry top;

	while (gainheap_pop(&s->heap, &top)) {
		struct link *l = &s->link[top.item];

		if (l->a == NONE || l->stamp != top.stamp)
			continue;
		if (l->turn_a)
			turn(&s->chain[l->a]);
		if (l->turn_b)
			turn(&s->chain[l->b]);
		uint32_t front = l->b_first ? l->b : l->a, behind = l->b_first ? l->a : l->b;
		l->a = l->b = NONE;
		join_procs(s, front, behind);
		join_links(s, front, behind);
		for (uint32_t i = 0; i < s->chain[front].nlink; i++)
			find_best(s, s->chain[front].link[i]);
	}
}

static int by_pair(const void *x, const void *y, void *edges)
{
	const struct proc_edge *edge = edges;
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

/* One link for all edges between two procedures. */
static void make_links(struct state *s)
{
	uint32_t *sorted = memory_new(s->g->nedge, sizeof(*sorted)), n = 0;

	for (uint32_t e = 0; e < s->g->nedge; e++) {
		if (s->g->edge[e].from != s->g->edge[e].to && s->g->edge[e].weight > 0)
			sorted[n++] = e;
	}
	if (n)
		qsort_r(sorted, n, sizeof(*sorted), by_pair, (void *)(uintptr_t)s->g->edge);
	for (uint32_t i = 0; i < n; i++) {
		const struct proc_edge *e = &s->g->edge[sorted[i]];
		uint32_t lo = e->from < e->to ? e->from : e->to, hi = e->from ^ e->to ^ lo;
		struct link *last = s->nlink ? &s->link[s->nlink - 1] : NULL;

		s->next_edge[sorted[i]] = NONE;
		if (last && last->a == lo && last->b == hi) {
			s->next_edge[last->edge_tail] = sorted[i];
			last->edge_tail = sorted[i];
			continue;
		}
		s->link[s->nlink] = (struct link){ .a = lo, .b = hi, .edge = sorted[i],
						   .edge_tail = sorted[i] };
		add_link(&s->chain[lo], s->nlink);
		add_link(&s->chain[hi], s->nlink++);
	}
	free(sorted);
}

static int by_density(const void *x, const void *y, void *ctx)
{
	const struct state *s = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct chain *a = &s->chain[i], *b = &s->chain[j];
	double da = a->samples / (a->size ? (double)a->size : 1);
	double db = b->samples / (b->size ? (double)b->size : 1);

	if (da != db)
		return da > db ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void write_order(struct state *s, uint32_t *order)
{
	uint32_t *live = memory_new(s->g->nproc, sizeof(*live)), nlive = 0, n = 0;

	for (uint32_t i = 0; i < s->g->nproc; i++) {
		if (s->chain[i].nproc)
			live[nlive++] = i;
	}
	if (nlive)
		qsort_r(live, nlive, sizeof(*live), by_density, s);
	for (uint32_t i = 0; i < nlive; i++) {
		const struct chain *c = &s->chain[live[i]];

		memcpy(order + n, c->proc, c->nproc * sizeof(*order));
		n += c->nproc;
	}
	free(live);
}

static void state_init(struct state *s, const struct proc_graph *g)
{
	*s = (struct state){ .g = g };
	s->chain = memory_new(g->nproc, sizeof(*s->chain));
	s->chain_of = memory_new(g->nproc, sizeof(*s->chain_of));
	s->at = memory_new(g->nproc, sizeof(*s->at));
	s->link_to = memory_new(g->nproc, sizeof(*s->link_to));
	s->next_edge = memory_new(g->nedge, sizeof(*s->next_edge));
	s->link = memory_new(g->nedge, sizeof(*s->link));
	for (uint32_t i = 0; i < g->nproc; i++) {
		s->chain[i] = (struct chain){ .proc = memory_new(1, sizeof(uint32_t)),
					      .nproc = 1, .size = g->size[i],
					      .samples = g->samples[i] };
		s->chain[i].proc[0] = i;
		s->chain_of[i] = i;
		s->link_to[i] = NONE;
		s->samples += g->samples[i];
	}
	s->samples = s->samples > 0 ? s->samples : 1;
}

void proclayout_cdsort(const struct proc_graph *g, uint32_t *order)
{
	struct state s;

	state_init(&s, g);
	make_links(&s);
	for (uint32_t l = 0; l < s.nlink; l++)
		find_best(&s, l);
	join_chains(&s);
	write_order(&s, order);
	for (uint32_t i = 0; i < g->nproc; i++) {
		free(s.chain[i].proc);
		free(s.chain[i].link);
	}
	free(s.chain);
	free(s.chain_of);
	free(s.at);
	free(s.link_to);
	free(s.next_edge);
	free(s.link);
	gainheap_free(&s.heap);
}
