/* store_whose.c - how many samples of a module's profile are of which user
 *
 * Kept only while the policy asks for it.  They fade with the profile, by the same factor:
 * where that keeps recent samples (store_profile_fade()), these here become fewer than the
 * profile has, and what is missing counts as of a user who is not known.
 *
 * Tested by tests/unit/manager/store/test_whose.c.
 */
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"
#include "policy/share.h"

static int add(struct store *s, const struct attribute_whose *w, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_CONTRIBUTOR_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)w->module);
	(void)sqlite3_bind_int64(q, 2, w->uid);
	(void)sqlite3_bind_double(q, 3, w->samples);
	return store_run(s, q, err);
}

int store_whose_add(struct store *s, const struct attribution *a, struct err *err)
{
	for (uint32_t i = 0; i < a->nwhose; i++)
		if (add(s, &a->whose[i], err) < 0)
			return -1;
	return 0;
}

int store_whose_fade(struct store *s, int64_t module, double factor, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_CONTRIBUTOR_FADE, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_double(q, 2, factor);
	if (store_run(s, q, err) < 0)
		return -1;
	q = store_sql(s, SQL_CONTRIBUTOR_PRUNE, err);
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	return store_run(s, q, err);
}

int store_whose_get(struct store *s, int64_t module, struct share_use **out, uint32_t *n,
		    struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_CONTRIBUTOR_LIST, err);
	struct share_use *use = NULL;
	uint32_t count = 0;
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	while ((rc = store_step(s, q, err)) == 1) {
		use = memory_grow(use, count + (size_t)1, sizeof(*use));
		if (!store_get_u32(q, 0, &use[count].uid) ||
		    !store_get_real(q, 1, &use[count].samples)) {
			store_done(q);
			free(use);
			return store_damaged(s, "contributor", err);
		}
		count++;
	}
	if (rc < 0) {
		free(use);
		return -1;
	}
	*out = use;
	*n = count;
	return 0;
}

int store_whose_clear(struct store *s, struct err *err)
{
	return store_do(s, SQL_CONTRIBUTOR_CLEAR, err);
}
