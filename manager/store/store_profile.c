/* store_profile.c - stores block profiles: adds to them, fades them, keeps them in their budget
 *
 * Tested by tests/unit/manager/store/test_store_spool.c; the code by which they are kept by
 * test_profile_code.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

int store_profile_get(struct store *s, int64_t module, struct store_profile *out,
		      struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_PROFILE_GET, module, &q, err);

	if (rc != 1)
		return rc;
	rc = profile_decode(store_get_blob(q, 0), out);
	store_done(q);
	return rc < 0 ? store_damaged(s, "profile", err) : 1;
}

void store_profile_free(struct store_profile *p)
{
	free(p->count);
	edgecounts_free(&p->edges);
	*p = (struct store_profile){ 0 };
}

double store_profile_samples(const struct store_profile *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->ncount; i++)
		sum += (double)p->count[i].samples / STORE_UNIT;
	return sum;
}

int store_profile_put(struct store *s, int64_t module, const struct store_profile *p,
		      uint64_t max_bytes, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_PROFILE_PUT, err);
	struct wr w = { 0 };

	if (!q)
		return -1;
	profile_encode(p, max_bytes, &w);
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_double(q, 2, store_profile_samples(p));
	(void)sqlite3_bind_double(q, 3, (double)p->outside / STORE_UNIT);
	(void)sqlite3_bind_double(q, 4, (double)p->states / STORE_UNIT);
	(void)sqlite3_bind_int64(q, 5, (int64_t)store_now_ns());
	store_bind_blob(q, 6, wr_bytes(&w));
	int rc = store_run(s, q, err);
	wr_free(&w);
	return rc;
}

static uint64_t scaled(uint64_t count, double factor)
{
	double v = (double)count * factor;

	return !count || !(v > 0) ? 0 : v < 1 ? 1 : v < 0x1p62 ? (uint64_t)(v + 0.5)
								  : UINT64_C(1) << 62;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void store_profile_mix(struct store_profile *to, const struct store_profile *from,
		       double factor)
{
	struct store_profile sum = { .outside = to->outside, .states = to->states,
				     .edges = to->edges };
	struct edgecounts edges = { 0 };

	sum.count = memory_new((size_t)to->ncount + from->ncount + 1, sizeof(*sum.count));
	for (uint32_t i = 0, k = 0; i < to->ncount || k < from->ncount; ) {
		struct store_count *c = &sum.count[sum.ncount++];
		bool own = i < to->ncount && (k == from->ncount ||
					      to->count[i].block <= from->count[k].block);

		if (own)
			*c = to->count[i++];
		else
			c->block = from->count[k].block;
		if (k < from->ncount && from->count[k].block == c->block)
			c->samples = plus(c->samples, scaled(from->count[k++].samples, factor));
	}
	edgecounts_add(&edges, &from->edges, 1);
	for (uint32_t i = 0; i < edges.nedge; i++)
		edges.edge[i].count = scaled(edges.edge[i].count, factor);
	for (uint32_t i = 0; i < edges.ncall; i++)
		edges.call[i].count = scaled(edges.call[i].count, factor);
	edgecounts_add(&sum.edges, &edges, 1);
	edgecounts_free(&edges);
	free(to->count);
	*to = sum;
}

static uint64_t faded(uint64_t samples, double factor)
{
	return (uint64_t)llround((double)samples * factor);
}

/* What is beside the samples fades with them. */
static int fade_beside(struct store *s, enum store_sql id, int64_t module, double factor,
		       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, id, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_double(q, 2, factor);
	return store_run(s, q, err);
}

int store_profile_fade(struct store *s, int64_t module, double factor,
		       const struct store_profile *keep, struct err *err)
{
	struct store_profile p;
	uint64_t budget = 0;

	if (!(factor >= 0 && factor <= 1))
		return err_set(err, ERR_USAGE, "fading by a factor of %g, not within 0..1",
			       factor);
	int rc = store_profile_get(s, module, &p, err);
	if (rc != 1)
		return rc;
	uint32_t n = 0;
	for (uint32_t i = 0, k = 0; i < p.ncount; i++) {
		struct store_count *c = &p.count[i];
		uint64_t kept = 0;

		while (keep && k < keep->ncount && keep->count[k].block < c->block)
			k++;
		if (keep && k < keep->ncount && keep->count[k].block == c->block)
			kept = keep->count[k].samples;
		if (kept < c->samples)
			c->samples = kept + faded(c->samples - kept, factor);
		if (c->samples)
			p.count[n++] = *c;
	}
	p.ncount = n;
	p.outside = faded(p.outside, factor);
	p.states = faded(p.states, factor);
	edgecounts_scale(&p.edges, factor);
	rc = store_module_budget(s, module, PROFILE_ALL, &budget, err);
	if (rc >= 0)
		rc = store_whose_fade(s, module, factor, err);
	if (rc >= 0)
		rc = fade_beside(s, SQL_COUNTED_FADE, module, factor, err);
	if (rc >= 0)
		rc = fade_beside(s, SQL_INHERITED_FADE, module, factor, err);
	if (rc >= 0)
		rc = store_profile_put(s, module, &p, budget, err);
	store_profile_free(&p);
	return rc;
}

static uint64_t add_samples(uint64_t a, uint64_t samples)
{
	uint64_t b = samples > UINT64_MAX / STORE_UNIT ? UINT64_MAX : samples * STORE_UNIT;

	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

struct store_profile store_profile_sum(const struct store_profile *p,
				       const struct attribute_module *m)
{
	size_t most = (size_t)p->ncount + m->ncount;
	struct store_profile sum = { .outside = add_samples(p->outside, m->outside),
				     .count = memory_new(most + 1, sizeof(*sum.count)) };

	for (uint32_t i = 0, k = 0; i < p->ncount || k < m->ncount; ) {
		struct store_count *c = &sum.count[sum.ncount++];
		bool old = i < p->ncount &&
			   (k == m->ncount || p->count[i].block <= m->count[k].block);

		if (old)
			*c = p->count[i++];
		else
			c->block = m->count[k].block;
		if (k < m->ncount && m->count[k].block == c->block)
			c->samples = add_samples(c->samples, m->count[k++].samples);
	}
	return sum;
}

int store_profile_add(struct store *s, const struct attribute_module *m, uint64_t max_bytes,
		      struct err *err)
{
	int64_t id = (int64_t)m->module;
	struct store_profile p = { 0 };

	if (store_profile_get(s, id, &p, err) < 0)
		return -1;
	struct store_profile sum = store_profile_sum(&p, m);
	sum.states = add_samples(p.states, m->states);
	edgecounts_add(&sum.edges, &p.edges, 1);
	edgecounts_add(&sum.edges, &m->edges, STORE_UNIT);
	int rc = store_profile_put(s, id, &sum, max_bytes, err);
	store_profile_free(&p);
	store_profile_free(&sum);
	return rc;
}
