/* store_live.c - forms of generations for running processes, by digest
 *
 * A process gets a form of its module's generation whose new text is where that process has
 * room: another file with a block map of its own, and the same generation.  Of those that were
 * made last enough are kept for the processes that can have one.
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include "lib/err.h"
#include "manager/store/store_db.h"

int store_live_put(struct store *s, const struct digest *digest, int64_t generation,
		   struct bytes map, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_LIVE_DELETE, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, digest);
	if (store_run(s, q, err) < 0 || !(q = store_sql(s, SQL_LIVE_INSERT, err)))
		return -1;
	store_bind_digest(q, 1, digest);
	(void)sqlite3_bind_int64(q, 2, generation);
	store_bind_blob(q, 3, map);
	if (store_run(s, q, err) < 0 || !(q = store_sql(s, SQL_LIVE_PRUNE, err)))
		return -1;
	return store_run(s, q, err);
}

int store_live_generation(struct store *s, const struct digest *digest,
			  struct store_generation *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_LIVE_GENERATION, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, digest);
	int rc = store_step(s, q, err);
	return rc == 1 ? store_read_generation(s, q, out, err) : rc;
}

int store_live_map(struct store *s, const struct digest *digest, struct wr *out,
		   struct err *err)
{
	return store_blob_of(s, SQL_LIVE_MAP, digest, out, err);
}

int store_turns_put(struct store *s, const struct store_turns *t, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_TURNS_PUT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, t->module);
	(void)sqlite3_bind_int64(q, 2, t->generation);
	(void)sqlite3_bind_int(q, 3, (int)t->verdict);
	store_bind_text(q, 4, t->text);
	return store_run(s, q, err);
}

int store_turns_get(struct store *s, int64_t module, uint32_t generation,
		    struct store_turns *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_TURNS_GET, err);
	uint32_t verdict;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	*out = (struct store_turns){ .module = module, .generation = generation };
	bool ok = store_get_u32(q, 0, &verdict) && verdict <= SPEEDTEST_UNMEASURED &&
		  store_get_text(q, 1, out->text, sizeof(out->text));
	store_done(q);
	out->verdict = ok ? (enum speedtest_verdict)verdict : SPEEDTEST_OPEN;
	return ok ? 1 : store_damaged(s, "turns", err);
}

static void bind_left(sqlite3_stmt *q, const struct store_left *l)
{
	store_bind_text(q, 1, l->boot);
	(void)sqlite3_bind_int(q, 2, l->pid);
	(void)sqlite3_bind_int64(q, 3, (int64_t)l->start);
	(void)sqlite3_bind_int64(q, 4, l->module);
	(void)sqlite3_bind_int64(q, 5, l->generation);
}

int store_left_put(struct store *s, const struct store_left *l, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_LEFT_PUT, err);

	if (!q)
		return -1;
	bind_left(q, l);
	(void)sqlite3_bind_int64(q, 6, (int64_t)l->until_ns);
	if (store_run(s, q, err) < 0 || !(q = store_sql(s, SQL_LEFT_PRUNE, err)))
		return -1;
	store_bind_text(q, 1, l->boot);
	return store_run(s, q, err);
}

int store_left_get(struct store *s, struct store_left *l, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_LEFT_GET, err);

	if (!q)
		return -1;
	bind_left(q, l);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	l->until_ns = (uint64_t)sqlite3_column_int64(q, 0);
	store_done(q);
	return 1;
}
