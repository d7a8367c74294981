/* store_fleet.c - evidence for a fleet: this machine's by epoch until it was given, the fleet's
 *
 * An epoch's row grows until the epoch ends, and its sequence with it; it is the queue: a row
 * waits as long as its sequence is above the one that was given.  So what is given twice is the
 * same row again, and what changes meanwhile waits for the next time.
 *
 * Tested by tests/unit/manager/store/test_fleet.c.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

static void bind_key(sqlite3_stmt *q, const struct digest *original, uint32_t kind,
		     uint32_t epoch)
{
	store_bind_digest(q, 1, original);
	(void)sqlite3_bind_int64(q, 2, kind);
	(void)sqlite3_bind_int64(q, 3, epoch);
}

/* A row's sequence and what of it was given; 1, 0, -1.  *out, zeroed, may be NULL. */
static int get(struct store *s, const struct digest *original, uint32_t kind, uint32_t epoch,
	       int64_t number[2], struct store_profile *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_GET, err);

	number[0] = number[1] = 0;
	if (!q)
		return -1;
	bind_key(q, original, kind, epoch);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	number[0] = sqlite3_column_int64(q, 0);
	number[1] = sqlite3_column_int64(q, 1);
	rc = out ? profile_decode(store_get_blob(q, 2), out) : 0;
	store_done(q);
	return rc < 0 || number[0] < 1 || number[1] < 0 ? store_damaged(s, "epoch", err) : 1;
}

static int put(struct store *s, const struct digest *original, uint32_t kind, uint32_t epoch,
	       const int64_t number[2], struct bytes data, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_PUT, err);

	if (!q)
		return -1;
	bind_key(q, original, kind, epoch);
	(void)sqlite3_bind_int64(q, 4, number[0] + 1);
	(void)sqlite3_bind_int64(q, 5, number[1]);
	store_bind_blob(q, 6, data);
	return store_run(s, q, err);
}

int store_epoch_add(struct store *s, const struct digest *original, uint32_t epoch,
		    const struct attribute_module *m, struct err *err)
{
	struct store_profile old = { 0 };
	struct wr w = { 0 };
	int64_t number[2];

	if (!m->ncount)
		return 0;
	if (get(s, original, 0, epoch, number, &old, err) < 0)
		return -1;
	struct store_profile sum = store_profile_sum(&old, m);
	sum.outside = 0;
	edgecounts_add(&sum.edges, &old.edges, 1);
	edgecounts_add(&sum.edges, &m->edges, STORE_UNIT);
	profile_encode(&sum, 0, &w);
	int rc = put(s, original, 0, epoch, number, wr_bytes(&w), err);
	store_profile_free(&old);
	store_profile_free(&sum);
	wr_free(&w);
	return rc;
}

int store_epoch_put(struct store *s, const struct digest *original, uint32_t kind,
		    uint32_t epoch, const struct store_profile *p, struct err *err)
{
	struct wr w = { 0 };
	int64_t number[2];

	if (get(s, original, kind, epoch, number, NULL, err) < 0)
		return -1;
	profile_encode(p, 0, &w);
	int rc = put(s, original, kind, epoch, number, wr_bytes(&w), err);
	wr_free(&w);
	return rc;
}

/* A row of EPOCH_WAITING; false: it cannot be. */
static bool read_row(sqlite3_stmt *q, struct store_epoch *e)
{
	int64_t sequence = sqlite3_column_int64(q, 3);

	*e = (struct store_epoch){ .sequence = (uint64_t)sequence };
	return store_get_digest(q, 0, &e->original) && store_get_u32(q, 1, &e->kind) &&
	       store_get_u32(q, 2, &e->epoch) && sequence > 0 &&
	       profile_decode(store_get_blob(q, 4), &e->profile) == 0;
}

int store_epoch_each(struct store *s, bool (*f)(void *ctx, const struct store_epoch *e),
		     void *ctx, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_WAITING, err);
	int rc;

	if (!q)
		return -1;
	while ((rc = store_step(s, q, err)) == 1) {
		struct store_epoch e;

		if (!read_row(q, &e)) {
			store_done(q);
			return store_damaged(s, "epoch", err);
		}
		bool more = f(ctx, &e);
		store_profile_free(&e.profile);
		if (!more) {
			store_done(q);
			return 0;
		}
	}
	return rc;
}

int store_epoch_given(struct store *s, const struct store_epoch *e, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_GIVEN, err);

	if (!q)
		return -1;
	bind_key(q, &e->original, e->kind, e->epoch);
	(void)sqlite3_bind_int64(q, 4, (int64_t)e->sequence);
	return store_run(s, q, err);
}

int store_epoch_size(struct store *s, struct store_epochs *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_SIZE, err);

	if (!q || store_step(s, q, err) < 0)
		return -1;
	*out = (struct store_epochs){ (uint64_t)sqlite3_column_int64(q, 0),
				      (uint64_t)sqlite3_column_int64(q, 1),
				      (uint64_t)sqlite3_column_int64(q, 2) };
	store_done(q);
	return 0;
}

static int drop_oldest(struct store *s, uint32_t *dropped, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_OLDEST, err);
	struct digest original;
	int64_t number[2];
	uint32_t kind, epoch;

	if (!q || store_step(s, q, err) < 0)
		return -1;
	bool good = store_get_digest(q, 0, &original) && store_get_u32(q, 1, &kind) &&
		    store_get_u32(q, 2, &epoch);
	store_done(q);
	if (!good)
		return store_damaged(s, "epoch", err);
	if (get(s, &original, kind, epoch, number, NULL, err) < 0)
		return -1;
	*dropped += number[0] > number[1];
	q = store_sql(s, SQL_EPOCH_DELETE, err);
	if (!q)
		return -1;
	bind_key(q, &original, kind, epoch);
	return store_run(s, q, err);
}

int store_epoch_prune(struct store *s, uint32_t now, uint64_t max_bytes, uint32_t *dropped,
		      struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_PRUNE, err);
	struct store_epochs size;

	*dropped = 0;
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, now);
	if (store_run(s, q, err) < 0 || store_epoch_size(s, &size, err) < 0)
		return -1;
	while (size.rows && size.bytes > max_bytes)
		if (drop_oldest(s, dropped, err) < 0 || store_epoch_size(s, &size, err) < 0)
			return -1;
	return 0;
}

/* --- the fleet's --- */

int store_fleet_put(struct store *s, const struct digest *original, uint32_t kind,
		    const struct store_fleet *f, uint64_t max_bytes, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_FLEET_PUT, err);
	struct wr w = { 0 };

	if (!q)
		return -1;
	profile_encode(&f->profile, max_bytes, &w);
	store_bind_digest(q, 1, original);
	(void)sqlite3_bind_int64(q, 2, kind);
	(void)sqlite3_bind_int64(q, 3, f->contributors);
	(void)sqlite3_bind_int64(q, 4, f->epoch);
	store_bind_blob(q, 5, wr_bytes(&w));
	int rc = store_run(s, q, err);
	wr_free(&w);
	return rc;
}

int store_fleet_get(struct store *s, const struct digest *original, uint32_t kind,
		    struct store_fleet *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_FLEET_GET, err);

	*out = (struct store_fleet){ 0 };
	if (!q)
		return -1;
	store_bind_digest(q, 1, original);
	(void)sqlite3_bind_int64(q, 2, kind);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	bool good = store_get_u32(q, 0, &out->contributors) &&
		    store_get_u32(q, 1, &out->epoch) &&
		    profile_decode(store_get_blob(q, 2), &out->profile) == 0;
	store_done(q);
	return good ? 1 : store_damaged(s, "fleet", err);
}

int store_fleet_prune(struct store *s, struct err *err)
{
	return store_do(s, SQL_FLEET_PRUNE, err);
}

int store_fleet_first(struct store *s, int64_t **module, uint32_t *n, struct err *err)
{
	return store_all_ids(s, SQL_FLEET_FIRST, module, n, err);
}

int store_fleet_clear(struct store *s, struct err *err)
{
	return store_do(s, SQL_FLEET_CLEAR, err) < 0 ? -1 : store_do(s, SQL_EPOCH_CLEAR, err);
}

/* --- values --- */

int store_machine(struct store *s, uint8_t out[STORE_MACHINE], struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, "machine", &w, err);

	if (rc == 0 && getrandom(out, STORE_MACHINE, 0) != STORE_MACHINE)
		rc = err_set(err, ERR_SYS, "getrandom failed");
	if (rc == 0)
		rc = store_value_put(s, "machine", (struct bytes){ out, STORE_MACHINE }, err);
	else if (rc == 1 && w.n == STORE_MACHINE)
		memcpy(out, w.p, STORE_MACHINE);
	else if (rc == 1)
		rc = store_damaged(s, "state", err);
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

int store_exchanged(struct store *s, uint64_t *out_ns, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, "exchanged", &w, err);

	*out_ns = 0;
	if (rc == 1 && w.n != sizeof(*out_ns))
		rc = store_damaged(s, "state", err);
	else if (rc == 1)
		memcpy(out_ns, w.p, sizeof(*out_ns));
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

int store_exchanged_put(struct store *s, uint64_t ns, struct err *err)
{
	return store_value_put(s, "exchanged",
			       (struct bytes){ (const uint8_t *)&ns, sizeof(ns) }, err);
}
