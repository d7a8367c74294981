/* store_log.c - stores generations, intents (operations under way) and history
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

const char *const store_state_name[] = {
	[0] = "",
	[STATE_MADE] = "made",
	[STATE_INSTALLED] = "installed",
	[STATE_RESTORED] = "restored",
	[STATE_REFUSED] = "refused",
	[STATE_REPLACED] = "replaced",
	[STATE_CRASHED] = "crashed",
	[STATE_SLOWER] = "slower",
	[STATE_BURST] = "counted in a process",
	NULL
};

/* --- generations --- */

int store_read_generation(struct store *s, sqlite3_stmt *q, struct store_generation *out,
			  struct err *err)
{
	uint32_t state = 0;

	memset(out, 0, sizeof(*out));
	out->id = sqlite3_column_int64(q, 0);
	out->module = sqlite3_column_int64(q, 1);
	bool ok = store_get_u32(q, 2, &out->number) && store_get_digest(q, 3, &out->digest) &&
		  store_get_digest(q, 4, &out->original) && store_get_u32(q, 5, &state) &&
		  store_get_text(q, 6, out->passes, sizeof(out->passes)) &&
		  store_get_text(q, 7, out->stats, sizeof(out->stats)) &&
		  store_get_text(q, 8, out->reason, sizeof(out->reason)) &&
		  store_get_real(q, 9, &out->samples);
	out->size_bytes = (uint64_t)sqlite3_column_int64(q, 10);
	out->made_ns = (uint64_t)sqlite3_column_int64(q, 11);
	ok = ok && store_get_real(q, 12, &out->cpu_s) &&
	     store_get_real(q, 13, &out->inherited);
	store_done(q);
	if (!ok || state < STATE_MADE || state > STATE_BURST || out->number == 0)
		return store_damaged(s, "generation", err);
	out->state = (enum store_state)state;
	return 1;
}

/* Of the module, what is older than `before`. */
static int forget(struct store *s, enum store_sql which, int64_t module, int64_t before,
		  struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, before);
	return store_run(s, q, err);
}

int store_generation_add(struct store *s, struct store_generation *g, struct bytes map,
			 const struct store_profile *made_from, struct err *err)
{
	struct wr profile = { 0 };
	uint64_t budget = 0;

	if (store_module_budget(s, g->module, PROFILE_MADE_FROM, &budget, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_INSERT, err);
	if (!q)
		return -1;
	if (!g->made_ns)
		g->made_ns = store_now_ns();
	if (made_from) {
		struct store_profile counts = *made_from;

		counts.edges = (struct edgecounts){ 0 };	/* it is to be compared with */
		profile_encode(&counts, budget, &profile);
	}
	(void)sqlite3_bind_int64(q, 1, g->module);
	(void)sqlite3_bind_int64(q, 2, g->number);
	store_bind_digest(q, 3, &g->digest);
	store_bind_digest(q, 4, &g->original);
	(void)sqlite3_bind_int(q, 5, g->state);
	store_bind_text(q, 6, g->passes);
	store_bind_text(q, 7, g->stats);
	store_bind_text(q, 8, g->reason);
	(void)sqlite3_bind_double(q, 9, g->samples);
	(void)sqlite3_bind_int64(q, 10, (int64_t)g->size_bytes);
	(void)sqlite3_bind_int64(q, 11, (int64_t)g->made_ns);
	(void)sqlite3_bind_double(q, 12, g->cpu_s);
	store_bind_blob(q, 13, map);
	store_bind_blob(q, 14, wr_bytes(&profile));
	(void)sqlite3_bind_double(q, 15, g->inherited);
	int rc = store_run(s, q, err);
	wr_free(&profile);
	if (rc < 0)
		return -1;
	g->id = sqlite3_last_insert_rowid(s->db);
	/* Only the newest one is compared with, and processes of the newest few run: what is
	 * kept does not grow with their number. */
	if (made_from && forget(s, SQL_GENERATION_OLDER, g->module, g->id, err) < 0)
		return -1;
	return forget(s, SQL_GENERATION_LONG_AGO, g->module, g->number, err);
}

int store_generation_crashed(struct store *s, int64_t module, bool *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_CRASHED, err);

	static_assert(STATE_CRASHED == 6, "the statement says so");
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	if (store_step(s, q, err) != 1)
		return -1;
	*out = sqlite3_column_int64(q, 0) > 0;
	store_done(q);
	return 0;
}

int store_generation_made_from(struct store *s, int64_t id, struct store_profile *out,
			       struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_GENERATION_MADE_FROM, id, &q, err);

	if (rc != 1)
		return rc;
	struct bytes b = store_get_blob(q, 0);
	*out = (struct store_profile){ 0 };
	if (b.n)		/* none is kept of generations of old */
		rc = profile_decode(b, out) < 0 ? -1 : 1;
	store_done(q);
	return rc < 0 ? store_damaged(s, "generation", err) : 1;
}

int store_generation_state(struct store *s, int64_t id, enum store_state state,
			   const char *reason, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_STATE, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int(q, 1, state);
	store_bind_text(q, 2, reason ? reason : "");
	(void)sqlite3_bind_int64(q, 3, id);
	return store_run(s, q, err);
}

int store_generation_by_digest(struct store *s, const struct digest *d,
			       struct store_generation *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_BY_DIGEST, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, d);
	int rc = store_step(s, q, err);
	return rc == 1 ? store_read_generation(s, q, out, err) : rc;
}

int store_generation_by_number(struct store *s, int64_t module, uint32_t number,
			       struct store_generation *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_BY_NUMBER, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, number);
	int rc = store_step(s, q, err);
	return rc == 1 ? store_read_generation(s, q, out, err) : rc;
}

static int find_newest(struct store *s, enum store_sql which, int64_t module,
		       const struct digest *original, struct store_generation *out,
		       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_digest(q, 2, original);
	int rc = store_step(s, q, err);
	return rc == 1 ? store_read_generation(s, q, out, err) : rc;
}

int store_generation_newest(struct store *s, int64_t module, const struct digest *original,
			    struct store_generation *out, struct err *err)
{
	return find_newest(s, SQL_GENERATION_NEWEST, module, original, out, err);
}

int store_generation_newest_layout(struct store *s, int64_t module,
				   const struct digest *original, struct store_generation *out,
				   struct err *err)
{
	static_assert(STATE_BURST == 8 && STATE_CRASHED == 6, "the statement says so");
	return find_newest(s, SQL_GENERATION_NEWEST_LAYOUT, module, original, out, err);
}

int store_generation_next(struct store *s, int64_t module, uint32_t *out, struct err *err)
{
	sqlite3_stmt *q;
	uint32_t max = 0;
	int rc = store_row_with(s, SQL_GENERATION_MAX, module, &q, err);

	if (rc < 0)
		return -1;
	bool ok = rc == 1 && store_get_u32(q, 0, &max) && max < UINT32_MAX;
	store_done(q);
	if (!ok)
		return store_damaged(s, "generation", err);
	*out = max + 1;
	return 0;
}

int store_generation_each(struct store *s, int64_t module,
			  bool (*f)(void *ctx, const struct store_generation *g), void *ctx,
			  struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_GENERATION_IDS, err);
	int64_t *id = NULL;
	uint32_t n = 0;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	int rc = store_ids(s, q, &id, &n, err);
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		struct store_generation g;

		rc = store_row_with(s, SQL_GENERATION_BY_ID, id[i], &q, err);
		if (rc == 1)
			rc = store_read_generation(s, q, &g, err);
		if (rc == 1 && !f(ctx, &g))
			break;
	}
	free(id);
	return rc < 0 ? -1 : 0;
}

/* --- intents --- */

int store_intent_begin(struct store *s, struct store_intent *i, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_INTENT_INSERT, err);

	if (!q)
		return -1;
	if (!i->begun_ns)
		i->begun_ns = store_now_ns();
	store_bind_text(q, 1, i->what);
	store_bind_text(q, 2, i->path);
	store_bind_digest(q, 3, &i->from);
	store_bind_digest(q, 4, &i->to);
	(void)sqlite3_bind_int64(q, 5, (int64_t)i->begun_ns);
	if (store_run(s, q, err) < 0)
		return -1;
	i->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_intent_end(struct store *s, int64_t id, struct err *err)
{
	return store_do_with(s, SQL_INTENT_DELETE, id, err);
}

/* 1 found, 0 gone. */
static int intent_get(struct store *s, int64_t id, struct store_intent *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_INTENT_BY_ID, id, &q, err);

	if (rc != 1)
		return rc;
	out->id = sqlite3_column_int64(q, 0);
	bool ok = store_get_text(q, 1, out->what, sizeof(out->what)) &&
		  store_get_text(q, 2, out->path, sizeof(out->path)) &&
		  store_get_digest(q, 3, &out->from) && store_get_digest(q, 4, &out->to);
	out->begun_ns = (uint64_t)sqlite3_column_int64(q, 5);
	store_done(q);
	return ok ? 1 : store_damaged(s, "intent", err);
}

int store_intent_each(struct store *s, bool (*f)(void *ctx, const struct store_intent *i),
		      void *ctx, struct err *err)
{
	int64_t *id = NULL;
	uint32_t n = 0;
	int rc = store_all_ids(s, SQL_INTENT_IDS, &id, &n, err);

	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		struct store_intent in;

		rc = intent_get(s, id[i], &in, err);
		if (rc == 1 && !f(ctx, &in))
			break;
	}
	free(id);
	return rc < 0 ? -1 : 0;
}

/* --- history --- */

int store_history_add(struct store *s, const char *path, const char *event, const char *detail,
		      struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_HISTORY_INSERT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)store_now_ns());
	store_bind_text(q, 2, path);
	(void)sqlite3_bind_text(q, 3, event, (int)strnlen(event, 31), SQLITE_STATIC);
	(void)sqlite3_bind_text(q, 4, detail, (int)strnlen(detail, 1023), SQLITE_STATIC);
	if (store_run(s, q, err) < 0)
		return -1;
	return store_do(s, SQL_HISTORY_PRUNE, err);
}

static int history_get(struct store *s, int64_t id, struct store_event *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_HISTORY_BY_ID, id, &q, err);

	if (rc != 1)
		return rc;
	out->time_ns = (uint64_t)sqlite3_column_int64(q, 0);
	bool ok = store_get_text(q, 1, out->path, sizeof(out->path)) &&
		  store_get_text(q, 2, out->event, sizeof(out->event)) &&
		  store_get_text(q, 3, out->detail, sizeof(out->detail));
	store_done(q);
	return ok ? 1 : store_damaged(s, "history", err);
}

static int each_event(struct store *s, sqlite3_stmt *q, const char *path, uint32_t limit,
		      bool (*f)(void *ctx, const struct store_event *e), void *ctx,
		      struct err *err)
{
	int64_t *id = NULL;
	uint32_t n = 0;

	if (path)
		store_bind_text(q, 1, path);
	(void)sqlite3_bind_int64(q, 2, limit);
	int rc = store_ids(s, q, &id, &n, err);
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		struct store_event e;

		rc = history_get(s, id[i], &e, err);
		if (rc == 1 && !f(ctx, &e))
			break;
	}
	free(id);
	return rc < 0 ? -1 : 0;
}

int store_history_each(struct store *s, const char *path, uint32_t limit,
		       bool (*f)(void *ctx, const struct store_event *e), void *ctx,
		       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_HISTORY_IDS, err);

	return q ? each_event(s, q, path, limit, f, ctx, err) : -1;
}

int store_history_of(struct store *s, const char *path, uint32_t owner, uint32_t limit,
		     bool (*f)(void *ctx, const struct store_event *e), void *ctx,
		     struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_HISTORY_IDS_OF, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 3, owner);
	return each_event(s, q, path, limit, f, ctx, err);
}
