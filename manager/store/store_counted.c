/* store_counted.c - stores which modules are being counted, and what counting brought
 *
 * Both go with the module's profile when its original changes.
 *
 * Tested by tests/unit/manager/store/test_counted.c.
 */
#include "lib/err.h"
#include "manager/store/store_db.h"

int store_counting_put(struct store *s, const struct store_counting *c, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTING_PUT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, c->module);
	store_bind_digest(q, 2, &c->generation);
	store_bind_digest(q, 3, &c->original);
	(void)sqlite3_bind_int64(q, 4, (int64_t)c->begun_ns);
	(void)sqlite3_bind_int64(q, 5, c->runs);
	return store_run(s, q, err);
}

/* The one row of a query; 1, 0 without one. */
static int get(struct store *s, sqlite3_stmt *q, struct store_counting *out, struct err *err)
{
	int rc = store_step(s, q, err);

	if (rc != 1)
		return rc;
	out->module = sqlite3_column_int64(q, 0);
	out->begun_ns = (uint64_t)sqlite3_column_int64(q, 3);
	bool ok = store_get_digest(q, 1, &out->generation) &&
		  store_get_digest(q, 2, &out->original) && store_get_u32(q, 4, &out->runs);
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
	sqlite3_stmt *q = store_sql(s, SQL_COUNTING_IDS, err);

	return q ? store_ids(s, q, module, n, err) : -1;
}

static int delete(struct store *s, enum store_sql which, int64_t module, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	return store_run(s, q, err);
}

int store_counting_end(struct store *s, int64_t module, struct err *err)
{
	return delete(s, SQL_COUNTING_DELETE, module, err);
}

int store_counted_put(struct store *s, int64_t module, const struct digest *original,
		      uint32_t runs, struct bytes profile, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTED_PUT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_digest(q, 2, original);
	(void)sqlite3_bind_int64(q, 3, runs);
	store_bind_blob(q, 4, profile);
	return store_run(s, q, err);
}

int store_counted_get(struct store *s, int64_t module, const struct digest *original,
		      uint32_t *runs, struct wr *profile, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTED_GET, err);
	struct digest of;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	bool ok = store_get_digest(q, 0, &of) && store_get_u32(q, 1, runs);
	bool same = ok && digest_equal(&of, original);
	if (same)
		wr_raw(profile, store_get_blob(q, 2).p, store_get_blob(q, 2).n);
	store_done(q);
	return ok ? same : store_damaged(s, "counted", err);
}

int store_counted_delete(struct store *s, int64_t module, struct err *err)
{
	return delete(s, SQL_COUNTED_DELETE, module, err);
}
