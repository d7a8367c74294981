/* work_fleetcounts.c - exact counts for a fleet, and the fleet's beside a module's own
 *
 * GIVEN  is what counted runs told, brought to one sum of executions, so that no machine says
 *        more than another for having run longer.  One factor is for all of it, blocks, edges
 *        and calls, here as in the database: then what comes into a block goes out of it.
 *        Threads that lose counts can leave more executions of edges or calls than of their
 *        block, which then gets as many.
 * USED   are the fleet's counts of functions of which this machine has none that hold.  The
 *        Editor takes from them only how a function's blocks and edges are to each other,
 *        never how often it runs (editor/infer/relativeprofile.h).  Where own samples of a
 *        function contradict them, for it is used otherwise here or others lie, they are left
 *        out.
 *
 * Tested by tests/unit/manager/work/test_fleetcounts.c and tests/e2e/sharedaemon.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "manager/work/fleetwork.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/usage.h"

/* Executions of one contribution: a billionth of them still is one. */
static const double whole = 1 << 30;
/* Of a function's own samples, by how much they may differ from its executions: time is not
 * frequency.  bench/results/fleetlayout.md has what it brings. */
static const double contradicted = 0.5;
/* Fewer own samples of a function say nothing about that. */
static const double word = 16;

/* --- one sum --- */

/* What ran at all still does. */
static uint64_t rounded_up(double count)
{
	return count <= 1 ? 1 : count < (double)FLEET_COUNT_MAX ? (uint64_t)ceil(count)
								: FLEET_COUNT_MAX;
}

void work_fleet_level(struct store_profile *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->ncount; i++)
		sum += (double)p->count[i].samples;
	double factor = sum > 0 ? whole / sum : 1;
	for (uint32_t i = 0; i < p->ncount; i++)
		p->count[i].samples = rounded_up((double)p->count[i].samples * factor);
	for (uint32_t i = 0; i < p->edges.nedge; i++)
		p->edges.edge[i].count = rounded_up((double)p->edges.edge[i].count * factor);
	for (uint32_t i = 0; i < p->edges.ncall; i++)
		p->edges.call[i].count = rounded_up((double)p->edges.call[i].count * factor);
}

/* --- given --- */

static void raise_to(uint64_t *count, uint64_t least)
{
	if (*count < least)
		*count = least;
}

/* No edge or call of more executions than its block: count[] by block of the table. */
static void conserve(const struct edgecounts *e, const struct blocktable *t, uint64_t *count)
{
	uint64_t *in = memory_new(t->nblock, sizeof(*in)), out = 0;

	for (uint32_t i = 0; i < e->nedge; i++) {
		bool same = i && e->edge[i - 1].from == e->edge[i].from;

		out = e->edge[i].count + (same ? out : 0);
		raise_to(&count[e->edge[i].from], out);
		in[e->edge[i].to] += e->edge[i].count;
	}
	for (uint32_t i = 0; i < t->nblock; i++)
		raise_to(&count[i], in[i]);
	for (uint32_t i = 0; i < e->ncall; i++) {
		const struct edgecounts_call *c = &e->call[i], *p = c - 1;

		out = c->count + (i && p->block == c->block && p->at == c->at ? out : 0);
		raise_to(&count[c->block], out);
	}
	free(in);
}

/* Blocks of which only edges tell are in it as well. */
static void fill_up(struct store_profile *p, const struct blocktable *t)
{
	uint64_t *count = memory_new(t->nblock, sizeof(*count));

	for (uint32_t i = 0; i < p->ncount; i++)
		count[p->count[i].block] = p->count[i].samples;
	conserve(&p->edges, t, count);
	p->count = memory_grow(p->count, t->nblock, sizeof(*p->count));
	p->ncount = 0;
	for (uint32_t i = 0; i < t->nblock; i++)
		if (count[i])
			p->count[p->ncount++] = (struct store_count){ i, count[i] };
	free(count);
}

/* The executions of *p, ready to be given; *out is the caller's to free. */
static int to_executions(struct profile *p, const struct blocktable *t,
			 struct store_profile *out, struct err *err)
{
	const double most = (double)FLEET_COUNT_MAX;

	*out = (struct store_profile){ 0 };
	for (uint32_t i = 0; i < p->nedge; i++)
		p->edge[i].count = fmin(p->edge[i].count, most);
	for (uint32_t i = 0; i < p->ncall; i++)
		p->call[i].count = fmin(p->call[i].count, most);
	if (edgecounts_of(p, t, &out->edges, err) < 0)
		return -1;
	out->count = memory_new(p->nblock, sizeof(*out->count));
	for (uint32_t i = 0; i < p->nblock; i++) {
		uint32_t b = blocktable_find(t, p->block[i].addr);

		if (b != UINT32_MAX && t->base + t->block[b].off == p->block[i].addr &&
		    p->block[i].samples > 0)
			out->count[out->ncount++] = (struct store_count){
				b, rounded_up(p->block[i].samples) };
	}
	work_fleet_level(out);
	fill_up(out, t);
	return 0;
}

int work_fleet_counted(struct work *w, const struct store_module *m, struct bytes text,
		       struct err *err)
{
	struct store_profile given = { 0 };
	struct blocktable t = { 0 };
	struct store_giver g;
	struct profile p;

	if (!text.n || !work_fleet_gives_counts(w, m))
		return 0;
	struct arena *a = arena_new();
	int rc = work_table(w, m, &t, err);
	if (rc == 0)
		rc = profile_read(text, a, &p, err);
	if (rc == 0)
		rc = to_executions(&p, &t, &given, err);
	if (rc == 0 && given.ncount)
		rc = work_fleet_giver(w, &g, err);
	if (rc == 0 && given.ncount)
		rc = store_epoch_put(w->store, &g, &m->original, FLEET_EXECUTIONS, &given, err);
	store_profile_free(&given);
	blocktable_free(&t);
	arena_free(a);
	return rc;
}

/* --- used --- */

struct beside {				/* of one block */
	uint32_t fn, block;
	double theirs, own;		/* time: by executions, by samples */
};

struct choice {
	struct blocktable t;
	struct store_fleet fleet;
	struct arena *a;
	bool *taken;			/* [t.nfn]: the fleet's counts are */
};

static int by_function(const void *x, const void *y)
{
	const struct beside *a = x, *b = y;

	if (a->fn != b->fn)
		return a->fn < b->fn ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* Both ascend; sorted by function afterwards. */
static struct beside *stand_beside(const struct choice *c, const struct store_profile *own,
				   uint32_t *n)
{
	const struct store_profile *f = &c->fleet.profile;
	size_t most = (size_t)f->ncount + own->ncount;
	struct beside *v = arena_array(c->a, most, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0, k = 0; i < f->ncount || k < own->ncount; ) {
		uint32_t b = i < f->ncount ? f->count[i].block : UINT32_MAX;
		struct beside s = { 0 };

		if (k < own->ncount && own->count[k].block < b)
			b = own->count[k].block;
		s.block = b;
		if (i < f->ncount && f->count[i].block == b)
			s.theirs = (double)f->count[i++].samples;
		if (k < own->ncount && own->count[k].block == b)
			s.own = (double)own->count[k++].samples / STORE_UNIT;
		if (b >= c->t.nblock)
			continue;
		s.fn = c->t.block[b].fn;
		s.theirs *= c->t.block[b].ninsn;
		v[(*n)++] = s;
	}
	if (*n)
		qsort(v, *n, sizeof(*v), by_function);
	return v;
}

/* Of one function. */
static bool agree(const struct beside *v, uint32_t n, struct arena *a)
{
	struct usage theirs = { .count = arena_array(a, n, sizeof(*theirs.count)) };
	struct usage own = { .count = arena_array(a, n, sizeof(*own.count)) };

	for (uint32_t i = 0; i < n; i++) {
		if (v[i].theirs > 0)
			theirs.count[theirs.n++] =
				(struct usage_count){ v[i].block, v[i].theirs };
		if (v[i].own > 0)
			own.count[own.n++] = (struct usage_count){ v[i].block, v[i].own };
	}
	return theirs.n && (usage_total(&own) < word ||
			    usage_drift(&theirs, &own) < contradicted);
}

static void choose(struct choice *c, const struct store_profile *own,
		   const struct profile *counted, struct work_fleet_counts *out)
{
	bool *has = arena_array(c->a, c->t.nfn, sizeof(*has));
	uint32_t n, end;
	struct beside *v = stand_beside(c, own, &n);

	c->taken = arena_array(c->a, c->t.nfn, sizeof(*c->taken));
	for (uint32_t i = 0; i < counted->nblock; i++) {
		uint32_t b = blocktable_find(&c->t, counted->block[i].addr);

		if (b != UINT32_MAX && counted->block[i].samples > 0)
			has[c->t.block[b].fn] = true;
	}
	*out = (struct work_fleet_counts){ .contributors = c->fleet.contributors };
	for (uint32_t i = 0; i < n; i = end) {
		uint32_t fn = v[i].fn;
		bool theirs = false;

		for (end = i; end < n && v[end].fn == fn; end++)
			theirs |= v[end].theirs > 0;
		out->functions += theirs;
		c->taken[fn] = theirs && !has[fn] && agree(v + i, end - i, c->a);
		out->taken += c->taken[fn];
	}
}

static bool is_taken(const struct choice *c, uint32_t block)
{
	return block < c->t.nblock && c->taken[c->t.block[block].fn];
}

/* What the fleet has of the functions that are taken; in the arena. */
static void take(const struct choice *c, struct profile *out)
{
	const struct store_profile *f = &c->fleet.profile;
	const struct edgecounts *e = &f->edges;
	struct edgecounts taken = { .edge = arena_array(c->a, e->nedge, sizeof(*e->edge)),
				    .call = arena_array(c->a, e->ncall, sizeof(*e->call)) };

	out->block = arena_array(c->a, f->ncount, sizeof(*out->block));
	out->nblock = 0;
	for (uint32_t i = 0; i < f->ncount; i++) {
		uint32_t b = f->count[i].block;

		if (is_taken(c, b))
			out->block[out->nblock++] = (struct profile_block){
				c->t.base + c->t.block[b].off, (double)f->count[i].samples };
	}
	for (uint32_t i = 0; i < e->nedge; i++)
		if (is_taken(c, e->edge[i].from))
			taken.edge[taken.nedge++] = e->edge[i];
	for (uint32_t i = 0; i < e->ncall; i++)
		if (is_taken(c, e->call[i].block))
			taken.call[taken.ncall++] = e->call[i];
	edgecounts_to_profile(&taken, 1, &c->t, c->a, out);
}

static void *joined(struct arena *a, const void *x, uint32_t nx, const void *y, uint32_t ny,
		    size_t size)
{
	uint8_t *out = arena_array(a, (size_t)nx + ny, size);

	if (nx)
		memcpy(out, x, nx * size);
	if (ny)
		memcpy(out + nx * size, y, ny * size);
	return out;
}

/* No function is in both. */
static void join(struct arena *a, struct profile *p, const struct profile *with)
{
	p->block = joined(a, p->block, p->nblock, with->block, with->nblock, sizeof(*p->block));
	p->edge = joined(a, p->edge, p->nedge, with->edge, with->nedge, sizeof(*p->edge));
	p->call = joined(a, p->call, p->ncall, with->call, with->ncall, sizeof(*p->call));
	p->nblock += with->nblock;
	p->nedge += with->nedge;
	p->ncall += with->ncall;
	profile_sort(p);
}

/* 1: c and *counted, this machine's counts, are filled, and *out says what of the fleet's is
 * taken; 0: there are none, or they are not wanted; -1. */
static int look(struct work *w, const struct store_module *m, const struct policy *p,
		const struct store_profile *now, struct bytes own, struct choice *c,
		struct profile *counted, struct work_fleet_counts *out, struct err *err)
{
	*out = (struct work_fleet_counts){ 0 };
	*counted = (struct profile){ .module = m->path, .original = m->original,
				     .clock = "exact" };
	if (!work_fleet_takes(p))
		return 0;
	int rc = store_fleet_get(w->store, &m->original, FLEET_EXECUTIONS, &c->fleet, err);
	if (rc > 0 && (work_table(w, m, &c->t, err) < 0 ||
		       (own.n && profile_read(own, c->a, counted, err) < 0)))
		rc = -1;
	if (rc > 0)
		choose(c, now, counted, out);
	return rc;
}

static void choice_free(struct choice *c)
{
	store_profile_free(&c->fleet.profile);
	blocktable_free(&c->t);
	arena_free(c->a);
}

int work_fleet_counts(struct work *w, const struct store_module *m, const struct policy *p,
		      const struct store_profile *now, struct bytes own, struct wr *text,
		      struct work_fleet_counts *out, struct err *err)
{
	struct choice c = { .a = arena_new() };
	struct profile counted, fleet = { 0 };
	int rc = look(w, m, p, now, own, &c, &counted, out, err);

	if (rc > 0 && out->taken) {
		take(&c, &fleet);
		join(c.a, &counted, &fleet);
	}
	/* the Editor takes none without edges: whoever gave that keeps nobody from a layout */
	if (!counted.nedge)
		out->taken = 0;
	if (out->taken && text)
		profile_write(&counted, text);
	else if (rc >= 0 && text)
		wr_raw(text, own.p, own.n);
	choice_free(&c);
	return rc < 0 ? -1 : 0;
}
