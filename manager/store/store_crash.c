/* store_crash.c - remembers processes that a signal killed, by the modules they had mapped
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include "lib/err.h"
#include "manager/store/store_db.h"

int store_crash_add(struct store *s, int64_t module, uint32_t generation, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_CRASH_INSERT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	(void)sqlite3_bind_int64(q, 3, (int64_t)store_now_ns());
	if (store_run(s, q, err) < 0)
		return -1;
	q = store_sql(s, SQL_CRASH_PRUNE, err);
	return q ? store_run(s, q, err) : -1;
}

int store_crash_count(struct store *s, int64_t module, uint32_t generation, uint64_t since_ns,
		      uint32_t *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_CRASH_COUNT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	(void)sqlite3_bind_int64(q, 3, (int64_t)since_ns);
	if (store_step(s, q, err) != 1)
		return -1;
	bool ok = store_get_u32(q, 0, out);
	store_done(q);
	return ok ? 0 : store_damaged(s, "crash", err);
}
