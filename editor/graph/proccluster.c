/* proccluster.c - C3: each procedure goes behind its likeliest caller
 *
 * Procedures are looked at from the densest to the least dense one.  The cluster of each is put
 * behind that of the caller from which most of its calls come, unless that would make the
 * cluster too large, or the caller's cluster so much thinner that its hot code would be torn
 * apart.  Clusters come out by density: the hottest code on the fewest pages.
 *
 * INVARIANT  a cluster is a list through next[] from head to tail; cluster i exists while
 *            head[i] is
 * not NONE, and cluster_of[] names the live one of each procedure.
 */
#include "editor/graph/proclayout.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

#define NONE UINT32_MAX

/* of a procedure's calls, by its likeliest caller */
static const double least_share = 0.1;
/* density of the caller's cluster before and after */
static const double most_thinning = 8;
static const uint64_t most_bytes = 1 << 20;	/* of a cluster */

struct cluster {
	uint32_t head, tail;	/* head == NONE: it has become a part of another one */
	uint64_t size;
	double samples;
};

struct state {
	const struct proc_graph *g;
	struct cluster *cluster;	/* [nproc]; cluster i begins as procedure i */
	uint32_t *cluster_of, *next;	/* [nproc] */
	uint32_t *likely;		/* [nproc] likeliest caller, NONE if none */
	double *calls, *likely_calls;	/* [nproc] of all callers, of that one */
};

static double density(double samples, uint64_t size)
{
	return samples / (size ? (double)size : 1);
}

static int by_callee(const void *x, const void *y, void *edges)
{
	const struct proc_edge *edge = edges;
	const struct proc_edge *e = &edge[*(const uint32_t *)x],
			       *f = &edge[*(const uint32_t *)y];

	if (e->to != f->to)
		return e->to < f->to ? -1 : 1;
	return e->from < f->from ? -1 : e->from > f->from;
}

/* Parallel edges stand together, so that they add up. */
static void find_callers(struct state *s)
{
	const struct proc_graph *g = s->g;
	uint32_t *order = memory_new(g->nedge, sizeof(*order));

	for (uint32_t e = 0; e < g->nedge; e++)
		order[e] = e;
	if (g->nedge)
		qsort_r(order, g->nedge, sizeof(*order), by_callee, (void *)(uintptr_t)g->edge);
	for (uint32_t i = 0, next; i < g->nedge; i = next) {
		const struct proc_edge *e = &g->edge[order[i]];
		double weight = 0;

		for (next = i; next < g->nedge && by_callee(&order[i], &order[next],
							    (void *)(uintptr_t)g->edge) == 0;
		     next++)
			weight += g->edge[order[next]].weight;
		s->calls[e->to] += weight;
		if (e->from != e->to && weight > s->likely_calls[e->to]) {
			s->likely_calls[e->to] = weight;
			s->likely[e->to] = e->from;
		}
	}
	free(order);
}

static void join(struct state *s, uint32_t front, uint32_t behind)
{
	struct cluster *x = &s->cluster[front], *y = &s->cluster[behind];

	for (uint32_t p = y->head; p != NONE; p = s->next[p])
		s->cluster_of[p] = front;
	s->next[x->tail] = y->head;
	x->tail = y->tail;
	x->size += y->size;
	x->samples += y->samples;
	y->head = NONE;
}

static void place(struct state *s, uint32_t p)
{
	uint32_t caller = s->likely[p], behind = s->cluster_of[p];

	if (caller == NONE || s->cluster_of[caller] == behind ||
	    s->likely_calls[p] < least_share * s->calls[p])
		return;
	const struct cluster *x = &s->cluster[s->cluster_of[caller]], *y = &s->cluster[behind];
	if (x->size + y->size > most_bytes ||
	    density(x->samples, x->size) >
	    most_thinning * density(x->samples + y->samples, x->size + y->size))
		return;
	join(s, s->cluster_of[caller], behind);
}

static int by_density(const void *x, const void *y, void *ctx)
{
	const struct state *s = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	double a = density(s->cluster[i].samples, s->cluster[i].size);
	double b = density(s->cluster[j].samples, s->cluster[j].size);

	if (a != b)
		return a > b ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Procedures first, as they were; then clusters. */
static void sort_by_density(struct state *s, uint32_t *list, uint32_t n)
{
	if (n)
		qsort_r(list, n, sizeof(*list), by_density, s);
}

void proclayout_c3(const struct proc_graph *g, uint32_t *order)
{
	struct state s = { .g = g };
	uint32_t *list = memory_new(g->nproc, sizeof(*list)), nlist = 0, n = 0;

	s.cluster = memory_new(g->nproc, sizeof(*s.cluster));
	s.cluster_of = memory_new(g->nproc, sizeof(*s.cluster_of));
	s.next = memory_new(g->nproc, sizeof(*s.next));
	s.likely = memory_new(g->nproc, sizeof(*s.likely));
	s.calls = memory_new(g->nproc, sizeof(*s.calls));
	s.likely_calls = memory_new(g->nproc, sizeof(*s.likely_calls));
	for (uint32_t p = 0; p < g->nproc; p++) {
		s.cluster[p] = (struct cluster){ p, p, g->size[p], g->samples[p] };
		s.cluster_of[p] = list[p] = p;
		s.next[p] = s.likely[p] = NONE;
	}
	find_callers(&s);
	sort_by_density(&s, list, g->nproc);
	for (uint32_t i = 0; i < g->nproc; i++)
		place(&s, list[i]);
	for (uint32_t p = 0; p < g->nproc; p++) {
		if (s.cluster[p].head != NONE)
			list[nlist++] = p;
	}
	sort_by_density(&s, list, nlist);
	for (uint32_t i = 0; i < nlist; i++) {
		for (uint32_t p = s.cluster[list[i]].head; p != NONE; p = s.next[p])
			order[n++] = p;
	}
	free(list);
	free(s.cluster);
	free(s.cluster_of);
	free(s.next);
	free(s.likely);
	free(s.calls);
	free(s.likely_calls);
}
