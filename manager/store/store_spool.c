/* store_spool.c - what one spool file brought, entered in one transaction
 *
 * Either everything of a file is in the store (profiles, windows of use, speed tests, counters,
 * address spaces, the file's name) or nothing.  Uses all other parts of the store.  Tested by
 * tests/unit/manager/store/test_store_spool.c and test_suspend.c.
 */
#include <string.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"
#include "manager/store/store_made.h"
#include "manager/store/store_ran.h"

int store_spool_last(struct store *s, char *out, size_t n, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, "spool_last", &w, err);

	if (rc == 1 && (w.n >= n || memchr(wr_bytes(&w).p, 0, w.n))) {
		wr_free(&w);
		return store_damaged(s, "state", err);
	}
	if (rc >= 0) {
		memcpy(out, wr_bytes(&w).p, w.n);
		out[w.n] = '\0';
	}
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

static int get_names(struct store *s, const char *of, struct topnames *out, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, of, &w, err);

	if (rc == 1 && topnames_read(wr_bytes(&w), out, err) < 0)
		rc = store_damaged(s, "state", err);
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

static int add_names(struct store *s, const char *of, const struct topnames *more,
		     struct err *err)
{
	struct topnames all = { 0 };
	struct wr w = { 0 };

	if (!more->n && !more->others)
		return 0;
	if (get_names(s, of, &all, err) < 0)
		return -1;
	topnames_add_all(&all, more);
	topnames_write(&all, &w);
	int rc = store_value_put(s, of, wr_bytes(&w), err);
	wr_free(&w);
	topnames_free(&all);
	return rc;
}

int store_kernel(struct store *s, struct topnames *out, struct err *err)
{
	return get_names(s, "kernel", out, err);
}

int store_user_samples(struct store *s, struct usersums *out, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, "users", &w, err);

	if (rc == 1 && usersums_read(wr_bytes(&w), out, err) < 0)
		rc = store_damaged(s, "state", err);
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

static int add_users(struct store *s, const struct usersums *user, struct err *err)
{
	struct usersums all = { 0 };
	struct wr w = { 0 };

	if (!user->n)
		return 0;
	if (store_user_samples(s, &all, err) < 0)
		return -1;
	usersums_add_all(&all, user);
	usersums_write(&all, &w);
	int rc = store_value_put(s, "users", wr_bytes(&w), err);
	wr_free(&w);
	usersums_free(&all);
	return rc;
}

int store_spaces_get(struct store *s, struct wr *out, struct err *err)
{
	return store_value_get(s, "spaces", out, err);
}

int store_space_change(void *ctx, uint32_t pid, struct bytes row, struct err *err)
{
	struct store *s = ctx;
	sqlite3_stmt *q = store_sql(s, row.p ? SQL_SPACE_PUT : SQL_SPACE_DELETE, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, pid);
	if (row.p)
		store_bind_blob(q, 2, row);
	return store_run(s, q, err);
}

int store_space_each(struct store *s,
		     int (*f)(void *ctx, uint32_t pid, struct bytes row, struct err *err),
		     void *ctx, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SPACE_ALL, err);
	int rc;

	if (!q)
		return -1;
	while ((rc = store_step(s, q, err)) == 1) {
		uint32_t pid;

		if (!store_get_u32(q, 0, &pid) || f(ctx, pid, store_get_blob(q, 1), err) < 0) {
			store_done(q);
			return -1;
		}
	}
	return rc;
}

/* --- one spool file --- */

static int add_module(struct store *s, const struct attribute_module *m,
		      const struct store_fading *fading, struct err *err)
{
	int64_t id = (int64_t)m->module;
	double factor = 1;
	uint64_t budget = 0;
	int rc = store_module_budget(s, id, PROFILE_ALL, &budget, err);

	if (rc == 0)		/* forgotten while its samples were on the way */
		return store_counter_add(s, COUNTER_CHANGED, m->samples + m->outside, err);
	if (rc < 0 || store_use_add(s, m, fading, &factor, err) < 0 ||
	    (factor < 1 && store_profile_fade(s, id, factor, NULL, err) < 0) ||
	    store_place_add(s, m, factor, err) < 0)
		return -1;
	return store_profile_add(s, m, budget, err);
}

static int add_all(struct store *s, const char *spool_file, const struct attribution *a,
		   struct bytes spaces, const struct store_fading *fading, struct err *err)
{
	char last[256];
	struct bytes name = { (const uint8_t *)spool_file, strlen(spool_file) };

	if (store_spool_last(s, last, sizeof(last), err) < 0)
		return -1;
	if (strcmp(spool_file, last) == 0)
		return err_set(err, ERR_USAGE, "spool file '%s' was done before", spool_file);
	for (uint32_t i = 0; i < a->nmodule; i++)
		if (add_module(s, &a->module[i], fading, err) < 0)
			return -1;
	if (store_place_limit(s, err) < 0 || store_ran_add(s, a, err) < 0 ||
	    store_whose_add(s, a, err) < 0 ||
	    store_speed_add(s, a, fading, err) < 0)
		return -1;
	for (int i = 0; i < NCOUNTER; i++)
		if (a->counter[i] &&
		    store_counter_add(s, (enum counter)i, a->counter[i], err) < 0)
			return -1;
	if (store_made_add(s, a, fading, err) < 0 ||
	    add_names(s, "kernel", &a->kernel, err) < 0 ||
	    add_users(s, &a->user, err) < 0 ||
	    store_value_put(s, "spaces", spaces, err) < 0)
		return -1;
	return store_value_put(s, "spool_last", name, err);
}

int store_add_attribution(struct store *s, const char *spool_file, const struct attribution *a,
			  struct bytes spaces, const struct store_fading *fading,
			  struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (add_all(s, spool_file, a, spaces, fading, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}
