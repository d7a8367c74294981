/* store_counted.c - stores which modules are being counted, and what counting brought
 *
 * Both go with the module's profile when its original changes, and counts fade as it does.
 *
 * Tested by tests/unit/manager/store/test_counted.c.
 */
#include <math.h>
#include <string.h>

#include "lib/err.h"
#include "lib/rd.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

static void write_figures(const struct store_counting *c, struct wr *w)
{
	const struct store_counting_speed *p = &c->speed;

	wr_uleb(w, p->samples);
	store_write_double(w, p->all_s);
	store_write_double(w, p->run_s);
	store_write_double(w, p->usual_run_s);
	store_write_double(w, p->module_s);
	store_write_double(w, p->usual_module_s);
	store_write_double(w, c->took_s);
}

/* Nothing: of before there was such a thing. */
static bool read_figures(struct bytes b, struct store_counting *c)
{
	struct store_counting_speed *p = &c->speed;
	struct rd r = rd_of(b);

	*p = (struct store_counting_speed){ 0 };
	c->took_s = 0;
	if (!b.n)
		return true;
	p->samples = rd_uleb(&r);
	p->all_s = store_read_double(&r);
	p->run_s = store_read_double(&r);
	p->usual_run_s = store_read_double(&r);
	p->module_s = store_read_double(&r);
	p->usual_module_s = store_read_double(&r);
	if (rd_left(&r))		/* of before it was known: it ends with the daemon */
		c->took_s = store_read_double(&r);
	return !r.bad && !rd_left(&r);
}

int store_counting_put(struct store *s, const struct store_counting *c, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTING_PUT, err);
	struct wr speed = { 0 };

	if (!q)
		return -1;
	write_figures(c, &speed);
	(void)sqlite3_bind_int64(q, 1, c->module);
	store_bind_digest(q, 2, &c->generation);
	store_bind_digest(q, 3, &c->original);
	(void)sqlite3_bind_int64(q, 4, (int64_t)c->begun_ns);
	(void)sqlite3_bind_int64(q, 5, c->runs);
	(void)sqlite3_bind_double(q, 6, c->expected_s);
	(void)sqlite3_bind_double(q, 7, c->gain);
	store_bind_blob(q, 8, wr_bytes(&speed));
	(void)sqlite3_bind_double(q, 9, c->most_s);
	(void)sqlite3_bind_double(q, 10, c->burst_s);
	(void)sqlite3_bind_int64(q, 11, (int64_t)c->ended_ns);
	int rc = store_run(s, q, err);
	wr_free(&speed);
	return rc;
}

/* The one row of a query; 1, 0 without one. */
static int get(struct store *s, sqlite3_stmt *q, struct store_counting *out, struct err *err)
{
	int rc = store_step(s, q, err);

	if (rc != 1)
		return rc;
	out->module = sqlite3_column_int64(q, 0);
	out->begun_ns = (uint64_t)sqlite3_column_int64(q, 3);
	out->ended_ns = (uint64_t)sqlite3_column_int64(q, 10);
	bool ok = store_get_digest(q, 1, &out->generation) &&
		  store_get_digest(q, 2, &out->original) && store_get_u32(q, 4, &out->runs) &&
		  store_get_real(q, 5, &out->expected_s) && store_get_real(q, 6, &out->gain) &&
		  read_figures(store_get_blob(q, 7), out) &&
		  store_get_real(q, 8, &out->most_s) && store_get_real(q, 9, &out->burst_s);
	store_done(q);
	return ok ? 1 : store_damaged(s, "counting", err);
}

int store_counting_get(struct store *s, int64_t module, struct store_counting *out,
		       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTING_GET, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	return get(s, q, out, err);
}

int store_counting_by_generation(struct store *s, const struct digest *generation,
				 struct store_counting *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTING_BY_GENERATION, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, generation);
	return get(s, q, out, err);
}

int store_counting_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err)
{
	return store_all_ids(s, SQL_COUNTING_IDS, module, n, err);
}

int store_counting_end(struct store *s, int64_t module, struct err *err)
{
	return store_do_with(s, SQL_COUNTING_DELETE, module, err);
}

/* --- what it costs --- */

int store_counting_spent(struct store *s, int64_t module, uint64_t now_ns, double *cpu_s,
			 struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNT_SPENT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)store_day_before(now_ns));
	(void)sqlite3_bind_int64(q, 2, module);
	if (store_step(s, q, err) != 1)
		return -1;
	bool ok = store_get_real(q, 0, cpu_s);
	store_done(q);
	return ok ? 0 : store_damaged(s, "count_spent", err);
}

int store_counting_spend(struct store *s, int64_t module, uint64_t now_ns, double cpu_s,
			 struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNT_SPENT_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, (int64_t)now_ns);
	(void)sqlite3_bind_double(q, 3, cpu_s);
	if (store_run(s, q, err) < 0 ||
	    store_own_add(s, STORE_OWN_COUNTING, now_ns, cpu_s, err) < 0)
		return -1;
	return store_do(s, SQL_COUNT_SPENT_PRUNE, err);
}

/* --- what it brought --- */

int store_counted_put(struct store *s, int64_t module, const struct store_counted *c,
		      struct err *err)
{
	struct store_profile samples = c->use;
	struct wr use = { 0 };
	uint64_t budget = 0;

	if (store_module_budget(s, module, PROFILE_MADE_FROM, &budget, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_COUNTED_PUT, err);
	if (!q)
		return -1;
	samples.edges = (struct edgecounts){ 0 };	/* it is there to be compared with */
	profile_encode(&samples, budget, &use);
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_digest(q, 2, &c->original);
	(void)sqlite3_bind_int64(q, 3, c->runs);
	store_bind_blob(q, 4, wr_bytes(&c->profile));
	(void)sqlite3_bind_double(q, 5, c->weight);
	(void)sqlite3_bind_double(q, 6, c->cost_s);
	(void)sqlite3_bind_double(q, 7, c->gain);
	store_bind_blob(q, 8, wr_bytes(&use));
	(void)sqlite3_bind_double(q, 9, c->burst_s);
	int rc = store_run(s, q, err);
	wr_free(&use);
	return rc;
}

void store_counted_free(struct store_counted *c)
{
	wr_free(&c->profile);
	store_profile_free(&c->use);
	*c = (struct store_counted){ 0 };
}

/* Counts of before their use was kept with them have none. */
static bool read_use(struct bytes b, struct store_profile *out)
{
	return !b.n || profile_decode(b, out) == 0;
}

int store_counted_get(struct store *s, int64_t module, const struct digest *original,
		      struct store_counted *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_COUNTED_GET, module, &q, err);

	*out = (struct store_counted){ 0 };
	if (rc != 1)
		return rc;
	bool ok = store_get_digest(q, 0, &out->original) && store_get_u32(q, 1, &out->runs) &&
		  store_get_real(q, 3, &out->weight) && store_get_real(q, 4, &out->cost_s) &&
		  store_get_real(q, 5, &out->gain) && store_get_real(q, 7, &out->burst_s);
	bool same = ok && digest_equal(&out->original, original);
	if (same) {
		wr_raw(&out->profile, store_get_blob(q, 2).p, store_get_blob(q, 2).n);
		ok = read_use(store_get_blob(q, 6), &out->use);
	}
	store_done(q);
	if (!ok || !same)
		store_counted_free(out);
	return ok ? same : store_damaged(s, "counted", err);
}

int store_counted_weight(struct store *s, int64_t module, const struct digest *original,
			 double *weight, struct err *err)
{
	struct digest of;
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_COUNTED_WEIGHT, module, &q, err);

	*weight = 0;
	if (rc != 1)
		return rc;
	bool ok = store_get_digest(q, 0, &of) && store_get_real(q, 1, weight);
	store_done(q);
	if (ok && !digest_equal(&of, original))
		*weight = 0;
	return ok ? 0 : store_damaged(s, "counted", err);
}

int store_counted_delete(struct store *s, int64_t module, struct err *err)
{
	return store_do_with(s, SQL_COUNTED_DELETE, module, err);
}
