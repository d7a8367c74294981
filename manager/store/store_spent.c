/* store_spent.c - stores what generations have cost: CPU time of their jobs, bytes written
 *
 * CPU time has rows of its own: a job that was given up, or whose result was refused or not
 * proven, leaves no generation but has taken its time.
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include "lib/err.h"
#include "manager/store/store_db.h"

int store_spent_add(struct store *s, int64_t module, uint64_t time_ns, double cpu_s,
		    struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SPENT_INSERT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, (int64_t)time_ns);
	(void)sqlite3_bind_double(q, 3, cpu_s);
	if (store_run(s, q, err) < 0)
		return -1;
	q = store_sql(s, SQL_SPENT_PRUNE, err);
	return q ? store_run(s, q, err) : -1;
}

static int sum(struct store *s, enum store_sql which, int64_t module, uint64_t since_ns,
	       double *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)since_ns);
	(void)sqlite3_bind_int64(q, 2, module);
	if (store_step(s, q, err) != 1)
		return -1;
	bool ok = store_get_real(q, 0, out);
	store_done(q);
	return ok ? 0 : store_damaged(s, "spent", err);
}

int store_spent(struct store *s, int64_t module, uint64_t since_ns, double *cpu_s,
		double *bytes, struct err *err)
{
	return sum(s, SQL_SPENT_CPU, module, since_ns, cpu_s, err) < 0 ? -1 :
	       sum(s, SQL_SPENT_BYTES, module, since_ns, bytes, err);
}
