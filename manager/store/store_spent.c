/* store_spent.c - stores what was done has cost: CPU time of jobs, and bytes written
 *
 * That has rows of its own: a job that was given up, or whose result was refused or not proven,
 * leaves no generation but has taken its time.  Each row is an owner's, for an hour and a
 * module, so that there are not many.
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include "lib/err.h"
#include "manager/store/store_db.h"

static int put(struct store *s, enum store_sql which, const struct store_cost *c,
	       uint64_t time_ns, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, c->module);
	(void)sqlite3_bind_int64(q, 2, c->owner);
	(void)sqlite3_bind_int64(q, 3, (int64_t)time_ns);
	(void)sqlite3_bind_double(q, 4, c->cpu_s);
	(void)sqlite3_bind_int64(q, 5, (int64_t)c->bytes);
	return store_run(s, q, err);
}

/* A row for each hour. */
int store_spent_add(struct store *s, const struct store_cost *c, uint64_t time_ns,
		    struct err *err)
{
	if (put(s, SQL_SPENT_MORE, c, time_ns, err) < 0 ||
	    (!sqlite3_changes(s->db) && put(s, SQL_SPENT_INSERT, c, time_ns, err) < 0))
		return -1;
	return store_do_with(s, SQL_SPENT_PRUNE, c->owner, err);
}

int store_spent_by(struct store *s, uint32_t owner, uint64_t since_ns, double *cpu_s,
		   double *bytes, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SPENT_BY_OWNER, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)since_ns);
	(void)sqlite3_bind_int64(q, 2, owner);
	if (store_step(s, q, err) != 1)
		return -1;
	bool ok = store_get_real(q, 0, cpu_s) && store_get_real(q, 1, bytes);
	store_done(q);
	return ok ? 0 : store_damaged(s, "spent", err);
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
