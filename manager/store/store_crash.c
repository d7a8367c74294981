/* store_crash.c - remembers processes that a fault killed, by module and user
 *
 * So many are kept of each user; nobody can take the room of others'.
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/store_db.h"
#include "policy/blame.h"

int store_crash_add(struct store *s, int64_t module, uint32_t generation, uint32_t uid,
		    struct err *err)
{
	for (int prune = 0; prune < 2; prune++) {
		sqlite3_stmt *q =
			store_sql(s, prune ? SQL_CRASH_PRUNE : SQL_CRASH_INSERT, err);

		if (!q)
			return -1;
		(void)sqlite3_bind_int64(q, 1, module);
		(void)sqlite3_bind_int64(q, 2, generation);
		(void)sqlite3_bind_int64(q, 3, uid);
		if (!prune)
			(void)sqlite3_bind_int64(q, 4, (int64_t)store_now_ns());
		if (store_run(s, q, err) < 0)
			return -1;
	}
	return 0;
}

int store_crash_users(struct store *s, int64_t module, uint32_t generation, uint64_t since_ns,
		      struct blame_user **out, uint32_t *n, struct err *err)
{
	struct blame_user *user = NULL, u;
	uint32_t nuser = 0, deaths, before;
	sqlite3_stmt *q = store_sql(s, SQL_CRASH_USERS, err);
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	(void)sqlite3_bind_int64(q, 3, (int64_t)since_ns);
	while ((rc = store_step(s, q, err)) == 1) {
		if (!store_get_u32(q, 0, &u.uid) || !store_get_u32(q, 1, &deaths) ||
		    !store_get_u32(q, 2, &before)) {
			store_done(q);
			free(user);
			return store_damaged(s, "crash", err);
		}
		u.deaths = deaths;
		u.deaths_before = before;
		user = memory_grow(user, nuser + (size_t)1, sizeof(*user));
		user[nuser++] = u;
	}
	if (rc < 0) {
		free(user);
		return -1;
	}
	*out = user;
	*n = nuser;
	return 0;
}
