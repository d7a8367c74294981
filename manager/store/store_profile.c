/* store_profile.c - block profiles and what a spool file adds to them */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

enum { UNIT = 256 };		/* of fixed point samples */

int store_profile_get(struct store *s, int64_t module, struct store_profile *out,
		      struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_PROFILE_GET, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	rc = profile_decode(store_get_blob(q, 0), out);
	store_done(q);
	return rc < 0 ? store_damaged(s, "profile", err) : 1;
}

void store_profile_free(struct store_profile *p)
{
	free(p->count);
	edges_free(&p->edges);
	*p = (struct store_profile){ 0 };
}

double store_profile_samples(const struct store_profile *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->ncount; i++)
		sum += (double)p->count[i].samples / UNIT;
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
	(void)sqlite3_bind_double(q, 3, (double)p->outside / UNIT);
	(void)sqlite3_bind_double(q, 4, (double)p->states / UNIT);
	(void)sqlite3_bind_int64(q, 5, (int64_t)store_now_ns());
	store_bind_blob(q, 6, wr_bytes(&w));
	int rc = store_run(s, q, err);
	wr_free(&w);
	return rc;
}

int store_profile_discard(struct store *s, int64_t module, struct err *err)
{
	static const enum store_sql all[] = { SQL_PROFILE_DELETE, SQL_HABIT_DELETE,
					      SQL_PACE_DELETE };

	for (int i = 0; i < 3; i++) {
		sqlite3_stmt *q = store_sql(s, all[i], err);

		if (!q)
			return -1;
		(void)sqlite3_bind_int64(q, 1, module);
		if (store_run(s, q, err) < 0)
			return -1;
	}
	return 0;
}

/* Three fifths for the profile, one for the recent window, one for what a generation was
 * made from. */
int store_profile_budget(struct store *s, int64_t module, enum store_budget what, uint64_t *out,
			 struct err *err)
{
	struct store_module m;
	int rc = store_module_by_id(s, module, &m, err);

	if (rc == 1)
		*out = m.text_bytes / 100 * (what == PROFILE_ALL ? 3 : 1);
	return rc;
}

static uint64_t faded(uint64_t samples, double factor)
{
	return (uint64_t)llround((double)samples * factor);
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
	edges_scale(&p.edges, factor);
	rc = store_profile_budget(s, module, PROFILE_ALL, &budget, err);
	if (rc >= 0)
		rc = store_profile_put(s, module, &p, budget, err);
	store_profile_free(&p);
	return rc;
}

/* --- counters and the state between two spool files --- */

int store_counter_add(struct store *s, enum counter c, uint64_t n, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTER_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, c);
	(void)sqlite3_bind_int64(q, 2, (int64_t)n);
	return store_run(s, q, err);
}

int store_counters(struct store *s, uint64_t out[NCOUNTER], struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTER_GET, err);
	uint64_t counter[NCOUNTER] = { 0 };
	int rc;

	if (!q)
		return -1;
	while ((rc = store_step(s, q, err)) == 1) {
		int64_t id = sqlite3_column_int64(q, 0), n = sqlite3_column_int64(q, 1);

		if (id < 0 || id >= NCOUNTER || n < 0) {
			store_done(q);
			return store_damaged(s, "counter", err);
		}
		counter[id] = (uint64_t)n;
	}
	if (rc < 0)
		return -1;
	memcpy(out, counter, sizeof(counter));
	return 0;
}

static int state_put(struct store *s, const char *name, struct bytes value, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_STATE_PUT, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, name);
	store_bind_blob(q, 2, value);
	return store_run(s, q, err);
}

static int state_get(struct store *s, const char *name, struct wr *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_STATE_GET, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, name);
	int rc = store_step(s, q, err);
	if (rc == 1) {
		struct bytes b = store_get_blob(q, 0);

		wr_raw(out, b.p, b.n);
		store_done(q);
	}
	return rc;
}

int store_born(struct store *s, uint64_t *out_ns, struct err *err)
{
	uint64_t now_ns = store_now_ns();
	struct wr w = { 0 };
	int rc = state_get(s, "born", &w, err);

	if (rc == 0)
		rc = state_put(s, "born", (struct bytes){ (const uint8_t *)&now_ns,
							  sizeof(now_ns) }, err);
	else if (rc == 1 && w.n == sizeof(now_ns))
		memcpy(&now_ns, w.p, sizeof(now_ns));
	else if (rc == 1)
		rc = store_damaged(s, "state", err);
	wr_free(&w);
	if (rc < 0)
		return -1;
	*out_ns = now_ns;
	return 0;
}

int store_spool_last(struct store *s, char *out, size_t n, struct err *err)
{
	struct wr w = { 0 };
	int rc = state_get(s, "spool_last", &w, err);

	if (rc == 1 && (w.n >= n || memchr(wr_bytes(&w).p, 0, w.n))) {
		wr_free(&w);
		return store_damaged(s, "state", err);
	}
	if (rc >= 0) {
		memcpy(out, wr_bytes(&w).p, w.n);
		out[w.n] = '\0';
	}
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

int store_makers(struct store *s, struct names *out, struct err *err)
{
	struct wr w = { 0 };
	int rc = state_get(s, "makers", &w, err);

	if (rc == 1 && names_read(wr_bytes(&w), out, err) < 0)
		rc = store_damaged(s, "state", err);
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

static int add_makers(struct store *s, const struct names *made, struct err *err)
{
	struct names all = { 0 };
	struct wr w = { 0 };

	if (!made->n && !made->others)
		return 0;
	if (store_makers(s, &all, err) < 0)
		return -1;
	names_add_all(&all, made);
	names_write(&all, &w);
	int rc = state_put(s, "makers", wr_bytes(&w), err);
	wr_free(&w);
	names_free(&all);
	return rc;
}

int store_spaces_get(struct store *s, struct wr *out, struct err *err)
{
	return state_get(s, "spaces", out, err);
}

/* --- one spool file --- */

static uint64_t add_samples(uint64_t a, uint64_t samples)
{
	uint64_t b = samples > UINT64_MAX / UNIT ? UINT64_MAX : samples * UNIT;

	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

struct store_profile store_profile_sum(const struct store_profile *p,
				       const struct attribute_module *m)
{
	size_t most = (size_t)p->ncount + m->ncount;
	struct store_profile sum = { .outside = add_samples(p->outside, m->outside),
				     .count = calloc(most + 1, sizeof(*sum.count)) };

	if (!sum.count) {
		(void)fputs("out of memory\n", stderr);	/* exits anyway */
		exit(1);
	}
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

static int add_module(struct store *s, const struct attribute_module *m,
		      const struct store_fading *fading, struct err *err)
{
	int64_t id = (int64_t)m->module;
	struct store_profile p = { 0 }, sum;
	double factor = 1;
	uint64_t budget = 0;
	int rc = store_profile_budget(s, id, PROFILE_ALL, &budget, err);

	if (rc == 0)		/* forgotten while its samples were on the way */
		return store_counter_add(s, COUNTER_CHANGED, m->samples + m->outside, err);
	if (rc < 0 || store_habit_add(s, m, fading, &factor, err) < 0 ||
	    (factor < 1 && store_profile_fade(s, id, factor, NULL, err) < 0) ||
	    store_profile_get(s, id, &p, err) < 0)
		return -1;
	sum = store_profile_sum(&p, m);
	sum.states = add_samples(p.states, m->states);
	edges_add(&sum.edges, &p.edges, 1);
	edges_add(&sum.edges, &m->edges, UNIT);
	rc = store_profile_put(s, id, &sum, budget, err);
	store_profile_free(&p);
	store_profile_free(&sum);
	return rc;
}

static int add_all(struct store *s, const char *spool_file, const struct attribution *a,
		   struct bytes spaces, const struct store_fading *fading, struct err *err)
{
	char last[256];
	struct bytes name = { (const uint8_t *)spool_file, strlen(spool_file) };

	if (store_spool_last(s, last, sizeof(last), err) < 0)
		return -1;
	if (strcmp(spool_file, last) == 0)
		return err_set(err, ERR_USAGE, "spool file '%s' was done before", spool_file);
	for (uint32_t i = 0; i < a->nmodule; i++)
		if (add_module(s, &a->module[i], fading, err) < 0)
			return -1;
	if (store_pace_add(s, a, fading, err) < 0)
		return -1;
	for (int i = 0; i < NCOUNTER; i++)
		if (a->counter[i] &&
		    store_counter_add(s, (enum counter)i, a->counter[i], err) < 0)
			return -1;
	if (add_makers(s, &a->made, err) < 0 || state_put(s, "spaces", spaces, err) < 0)
		return -1;
	return state_put(s, "spool_last", name, err);
}

int store_add_attribution(struct store *s, const char *spool_file, const struct attribution *a,
			  struct bytes spaces, const struct store_fading *fading,
			  struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (add_all(s, spool_file, a, spaces, fading, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}
