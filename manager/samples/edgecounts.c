/* edgecounts.c - reads, adds and scales the counts of edges and calls of edgecounts.h
 *
 * Tested by tests/unit/manager/samples/test_attribute.c.
 */
#include "manager/samples/edgecounts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/memory.h"

static int by_edge(const void *a, const void *b)
{
	const struct edgecounts_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_call(const void *a, const void *b)
{
	const struct edgecounts_call *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Sorted, each place once. */
static void normalize(struct edgecounts *e)
{
	uint32_t n = 0;

	if (e->nedge)
		qsort(e->edge, e->nedge, sizeof(*e->edge), by_edge);
	for (uint32_t i = 0; i < e->nedge; i++) {
		if (n && by_edge(&e->edge[n - 1], &e->edge[i]) == 0)
			e->edge[n - 1].count = plus(e->edge[n - 1].count, e->edge[i].count);
		else
			e->edge[n++] = e->edge[i];
	}
	e->nedge = n;
	if (e->ncall)
		qsort(e->call, e->ncall, sizeof(*e->call), by_call);
	n = 0;
	for (uint32_t i = 0; i < e->ncall; i++) {
		if (n && by_call(&e->call[n - 1], &e->call[i]) == 0)
			e->call[n - 1].count = plus(e->call[n - 1].count, e->call[i].count);
		else
			e->call[n++] = e->call[i];
	}
	e->ncall = n;
}

void edgecounts_add(struct edgecounts *to, const struct edgecounts *from, uint64_t unit)
{
	size_t nedge = (size_t)to->nedge + from->nedge, ncall = (size_t)to->ncall + from->ncall;

	if (from->nedge)
		to->edge = memory_grow(to->edge, nedge, sizeof(*to->edge));
	for (uint32_t i = 0; i < from->nedge; i++) {
		to->edge[to->nedge] = from->edge[i];
		to->edge[to->nedge++].count = times(from->edge[i].count, unit);
	}
	if (from->ncall)
		to->call = memory_grow(to->call, ncall, sizeof(*to->call));
	for (uint32_t i = 0; i < from->ncall; i++) {
		to->call[to->ncall] = from->call[i];
		to->call[to->ncall++].count = times(from->call[i].count, unit);
	}
	normalize(to);
}

void edgecounts_scale(struct edgecounts *e, double factor)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->nedge; i++) {
		e->edge[i].count = (uint64_t)llround((double)e->edge[i].count * factor);
		if (e->edge[i].count)
			e->edge[n++] = e->edge[i];
	}
	e->nedge = n;
	n = 0;
	for (uint32_t i = 0; i < e->ncall; i++) {
		e->call[i].count = (uint64_t)llround((double)e->call[i].count * factor);
		if (e->call[i].count)
			e->call[n++] = e->call[i];
	}
	e->ncall = n;
}

uint64_t edgecounts_sum(const struct edgecounts *e)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < e->nedge; i++)
		sum = plus(sum, e->edge[i].count);
	for (uint32_t i = 0; i < e->ncall; i++)
		sum = plus(sum, e->call[i].count);
	return sum;
}

void edgecounts_free(struct edgecounts *e)
{
	free(e->edge);
	free(e->call);
	*e = (struct edgecounts){ 0 };
}

/* --- the job's text --- */

/* The block that begins at `addr`; UINT32_MAX: none does. */
static uint32_t block_at(const struct blocktable *t, vaddr addr)
{
	uint32_t b = blocktable_find(t, addr);

	return b != UINT32_MAX && t->base + t->block[b].off == addr ? b : UINT32_MAX;
}

int edgecounts_of(const struct profile *p, const struct blocktable *t, struct edgecounts *out,
		  struct err *err)
{
	struct edgecounts e = { .left_out = (uint64_t)llround(p->outside) };

	if (!digest_equal(&p->original, &t->original))
		return err_set(err, ERR_INPUT, "edges of another file");
	e.edge = memory_new((size_t)p->nedge + 1, sizeof(*e.edge));
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t from = block_at(t, p->edge[i].from), to = block_at(t, p->edge[i].to);
		uint64_t n = (uint64_t)llround(p->edge[i].count);

		if (from != UINT32_MAX && to != UINT32_MAX && n)
			e.edge[e.nedge++] = (struct edgecounts_edge){ from, to, n };
	}
	e.call = memory_new((size_t)p->ncall + 1, sizeof(*e.call));
	for (uint32_t i = 0; i < p->ncall; i++) {
		uint32_t b = blocktable_find(t, p->call[i].insn);
		uint32_t target = block_at(t, p->call[i].target);
		uint64_t n = (uint64_t)llround(p->call[i].count);

		if (b != UINT32_MAX && target != UINT32_MAX && n)
			e.call[e.ncall++] = (struct edgecounts_call){
				b, (uint32_t)(p->call[i].insn - t->base - t->block[b].off),
				target, n };
	}
	normalize(&e);
	*out = e;
	return 0;
}

int edgecounts_read(struct bytes text, const struct blocktable *t, struct edgecounts *out,
		    struct err *err)
{
	struct arena *a = arena_new();
	struct profile p;

	int rc = profile_read(text, a, &p, err);
	if (rc == 0 && p.nblock)
		rc = err_set(err, ERR_INPUT, "edges with blocks beside them");
	if (rc == 0)
		rc = edgecounts_of(&p, t, out, err);
	arena_free(a);
	return rc;
}

void edgecounts_to_profile(const struct edgecounts *e, uint64_t unit,
			   const struct blocktable *t, struct arena *a, struct profile *p)
{
	p->edge = arena_alloc(a, e->nedge * sizeof(*p->edge));
	p->call = arena_alloc(a, e->ncall * sizeof(*p->call));
	p->nedge = p->ncall = 0;
	for (uint32_t i = 0; i < e->nedge; i++) {
		const struct edgecounts_edge *x = &e->edge[i];

		if (x->from < t->nblock && x->to < t->nblock)
			p->edge[p->nedge++] = (struct profile_edge){
				t->base + t->block[x->from].off, t->base + t->block[x->to].off,
				(double)x->count / (double)unit };
	}
	for (uint32_t i = 0; i < e->ncall; i++) {
		const struct edgecounts_call *x = &e->call[i];

		if (x->block < t->nblock && x->target < t->nblock &&
		    x->at < t->block[x->block].size)
			p->call[p->ncall++] = (struct profile_call){
				t->base + t->block[x->block].off + x->at,
				t->base + t->block[x->target].off,
				(double)x->count / (double)unit };
	}
}
