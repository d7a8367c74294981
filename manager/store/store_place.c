/* store_place.c - stores which instructions of a module had the samples of its blocks
 *
 * Profiles are by block, which is what a layout needs; where a function's cycles go is told by
 * instructions (morphctl annotate).  They are kept for the blocks of all modules that have most
 * samples: when there are more than STORE_PLACES_MAX, a quarter of the blocks goes, those with
 * the fewest.  So the blocks that are there are whole.  They fade with the profile.
 *
 * Tested by tests/unit/manager/store/test_place.c.
 */
#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"

static int add(struct store *s, int64_t module, const struct attribute_place *p,
	       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_PLACE_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, p->block);
	(void)sqlite3_bind_int64(q, 3, (int64_t)p->addr);
	(void)sqlite3_bind_double(q, 4, p->samples);
	return store_run(s, q, err);
}

static int fade(struct store *s, int64_t module, double factor, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_PLACE_FADE, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_double(q, 2, factor);
	return store_run(s, q, err);
}

int store_place_add(struct store *s, const struct attribute_module *m, double factor,
		    struct err *err)
{
	if (factor < 1 && fade(s, (int64_t)m->module, factor, err) < 0)
		return -1;
	for (uint32_t i = 0; i < m->nplace; i++)
		if (add(s, (int64_t)m->module, &m->place[i], err) < 0)
			return -1;
	return 0;
}

int store_place_limit(struct store *s, struct err *err)
{
	for (;;) {
		sqlite3_stmt *q = store_sql(s, SQL_PLACE_COUNT, err);

		if (!q || store_step(s, q, err) != 1)
			return -1;
		int64_t n = sqlite3_column_int64(q, 0);
		store_done(q);
		if (n <= STORE_PLACES_MAX)
			return 0;
		if (store_do(s, SQL_PLACE_PRUNE, err) < 0)
			return -1;
	}
}

int store_place_each(struct store *s, int64_t module,
		     void (*f)(void *ctx, const struct store_place *p), void *ctx,
		     struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_PLACE_GET, err);
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	while ((rc = store_step(s, q, err)) == 1) {
		struct store_place p = { .addr = (vaddr)sqlite3_column_int64(q, 1) };

		if (!store_get_u32(q, 0, &p.block) || !store_get_real(q, 2, &p.samples)) {
			store_done(q);
			return store_damaged(s, "place", err);
		}
		f(ctx, &p);
	}
	return rc;
}
