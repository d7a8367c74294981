/* store_counter.c - stores counters of samples, and single values by name
 *
 * Tested by tests/unit/manager/store/test_store_spool.c.
 */
#include <string.h>

#include "lib/err.h"
#include "manager/store/store_db.h"

int store_counter_add(struct store *s, enum counter c, uint64_t n, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_COUNTER_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, c);
	/* what was lost is the monitor's word: it may be wrong, but not damage the rest */
	(void)sqlite3_bind_int64(q, 2, n < INT64_MAX ? (int64_t)n : INT64_MAX);
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

/* --- values by name --- */

int store_value_put(struct store *s, const char *name, struct bytes value, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_STATE_PUT, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, name);
	store_bind_blob(q, 2, value);
	return store_run(s, q, err);
}

int store_value_get(struct store *s, const char *name, struct wr *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_STATE_GET, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, name);
	return store_take_blob(s, q, out, err);
}

int store_born(struct store *s, uint64_t *out_ns, struct err *err)
{
	uint64_t now_ns = store_now_ns();
	struct wr w = { 0 };
	int rc = store_value_get(s, "born", &w, err);

	if (rc == 0)
		rc = store_value_put(s, "born", (struct bytes){ (const uint8_t *)&now_ns,
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
