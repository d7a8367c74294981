/* store_fleet.c - evidence for a fleet: this machine's by epoch until it was given, the fleet's
 *
 * An epoch's row grows until the epoch ends, and its sequence with it; it is the queue: a row
 * waits as long as its sequence is above the one that was given.  So what is given twice is the
 * same row again, and what changes meanwhile waits for the next time.
 *
 * A fleet's database keeps of each machine what has the highest sequence.  So a row belongs to
 * the machine by whose number it is given, and to the class: it never grows under another one.
 * And a row that was forgotten while it could grow must not begin again under the number it
 * had: the machine gets another one, of chance, and what comes counts beside what was given.
 * That is so when sharing ends (store_fleet_clear()); when a row of the running week is dropped
 * for space; when a week comes again, for a clock that was ahead may have ended it; when the
 * database is another file, so an older copy of it that was put back; and when the system has
 * another number, or gives to another place or by another login.
 * Not noticed is a whole disk that was put back to what it was: its rows are known until they
 * are newer than those that were given, whose place they take then.  And executions, of which
 * the last are to count, count once more under a new number, in that week.
 *
 * Tested by tests/unit/manager/store/test_fleet.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

static struct store_epoch key_of(const struct store_giver *g, const struct digest *original,
				 uint32_t kind)
{
	struct store_epoch key = { .original = *original, .kind = kind, .epoch = g->epoch };

	memcpy(key.machine, g->machine, sizeof(key.machine));
	memcpy(key.class, g->class, sizeof(key.class));
	return key;
}

static void bind_key(sqlite3_stmt *q, const struct store_epoch *key)
{
	store_bind_digest(q, 1, &key->original);
	(void)sqlite3_bind_int64(q, 2, key->kind);
	(void)sqlite3_bind_int64(q, 3, key->epoch);
	store_bind_blob(q, 4, (struct bytes){ key->machine, sizeof(key->machine) });
	store_bind_text(q, 5, key->class);
}

/* The first five columns; false: they cannot be. */
static bool get_key(sqlite3_stmt *q, struct store_epoch *out)
{
	struct bytes machine = store_get_blob(q, 3);

	if (machine.n != sizeof(out->machine))
		return false;
	memcpy(out->machine, machine.p, sizeof(out->machine));
	return store_get_digest(q, 0, &out->original) && store_get_u32(q, 1, &out->kind) &&
	       store_get_u32(q, 2, &out->epoch) &&
	       store_get_text(q, 4, out->class, sizeof(out->class));
}

/* A row's sequence and what of it was given; 1, 0, -1.  *out, zeroed, may be NULL. */
static int get(struct store *s, const struct store_epoch *key, int64_t number[2],
	       struct store_profile *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_GET, err);

	number[0] = number[1] = 0;
	if (!q)
		return -1;
	bind_key(q, key);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	number[0] = sqlite3_column_int64(q, 0);
	number[1] = sqlite3_column_int64(q, 1);
	rc = out ? profile_decode(store_get_blob(q, 2), out) : 0;
	store_done(q);
	return rc < 0 || number[0] < 1 || number[1] < 0 ? store_damaged(s, "epoch", err) : 1;
}

static int put(struct store *s, const struct store_epoch *key, const int64_t number[2],
	       struct bytes data, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_PUT, err);

	if (!q)
		return -1;
	bind_key(q, key);
	(void)sqlite3_bind_int64(q, 6, number[0] + 1);
	(void)sqlite3_bind_int64(q, 7, number[1]);
	store_bind_blob(q, 8, data);
	return store_run(s, q, err);
}

int store_epoch_add(struct store *s, const struct store_giver *g,
		    const struct digest *original, const struct attribute_module *m,
		    struct err *err)
{
	struct store_epoch key = key_of(g, original, 0);
	struct store_profile old = { 0 };
	struct wr w = { 0 };
	int64_t number[2];

	if (!m->ncount)
		return 0;
	if (get(s, &key, number, &old, err) < 0)
		return -1;
	struct store_profile sum = store_profile_sum(&old, m);
	sum.outside = 0;
	edgecounts_add(&sum.edges, &old.edges, 1);
	edgecounts_add(&sum.edges, &m->edges, STORE_UNIT);
	profile_encode(&sum, 0, &w);
	int rc = put(s, &key, number, wr_bytes(&w), err);
	store_profile_free(&old);
	store_profile_free(&sum);
	wr_free(&w);
	return rc;
}

int store_epoch_put(struct store *s, const struct store_giver *g,
		    const struct digest *original, uint32_t kind,
		    const struct store_profile *p, struct err *err)
{
	struct store_epoch key = key_of(g, original, kind);
	struct wr w = { 0 };
	int64_t number[2];

	if (get(s, &key, number, NULL, err) < 0)
		return -1;
	profile_encode(p, 0, &w);
	int rc = put(s, &key, number, wr_bytes(&w), err);
	wr_free(&w);
	return rc;
}

/* A row of EPOCH_WAITING; false: it cannot be. */
static bool read_row(sqlite3_stmt *q, struct store_epoch *e)
{
	int64_t sequence = sqlite3_column_int64(q, 5);

	*e = (struct store_epoch){ .sequence = (uint64_t)sequence };
	return get_key(q, e) && sequence > 0 &&
	       profile_decode(store_get_blob(q, 6), &e->profile) == 0;
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
	bind_key(q, e);
	(void)sqlite3_bind_int64(q, 6, (int64_t)e->sequence);
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

/* From now on this machine is another one: what it gave stays, what comes counts beside it. */
static int forget_machine(struct store *s, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_STATE_DELETE, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, "machine");
	return store_run(s, q, err);
}

static int drop_oldest(struct store *s, const struct store_giver *g, uint32_t *dropped,
		       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_OLDEST, err);
	struct store_epoch key = { 0 };
	int64_t number[2];

	if (!q)
		return -1;
	store_bind_blob(q, 1, (struct bytes){ g->machine, sizeof(g->machine) });
	if (store_step(s, q, err) < 0)
		return -1;
	bool good = get_key(q, &key);
	store_done(q);
	if (!good)
		return store_damaged(s, "epoch", err);
	if (get(s, &key, number, NULL, err) < 0)
		return -1;
	*dropped += number[0] > number[1];
	q = store_sql(s, SQL_EPOCH_DELETE, err);
	if (!q)
		return -1;
	bind_key(q, &key);
	if (store_run(s, q, err) < 0)
		return -1;
	bool grows = key.epoch >= g->epoch &&
		     memcmp(key.machine, g->machine, sizeof(key.machine)) == 0;
	return grows ? forget_machine(s, err) : 0;
}

int store_epoch_prune(struct store *s, const struct store_giver *g, uint64_t max_bytes,
		      uint32_t *dropped, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_PRUNE, err);
	struct store_epochs size;

	*dropped = 0;
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, g->epoch);
	if (store_run(s, q, err) < 0 || store_epoch_size(s, &size, err) < 0)
		return -1;
	while (size.rows && size.bytes > max_bytes)
		if (drop_oldest(s, g, dropped, err) < 0 || store_epoch_size(s, &size, err) < 0)
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
	return store_do(s, SQL_FLEET_CLEAR, err) < 0 || store_do(s, SQL_EPOCH_CLEAR, err) < 0
		       ? -1 : forget_machine(s, err);
}

/* --- who gives --- */

/* Of n bytes; 1, 0: there is none, and *out is zeroed, -1. */
static int get_value(struct store *s, const char *name, void *out, size_t n, struct err *err)
{
	struct wr w = { 0 };
	int rc = store_value_get(s, name, &w, err);

	memset(out, 0, n);
	if (rc == 1 && w.n != n)
		rc = store_damaged(s, "state", err);
	else if (rc == 1)
		memcpy(out, w.p, n);
	wr_free(&w);
	return rc;
}

static int machine(struct store *s, uint8_t out[STORE_MACHINE], struct err *err)
{
	int rc = get_value(s, "machine", out, STORE_MACHINE, err);

	if (rc == 0 && getrandom(out, STORE_MACHINE, 0) != STORE_MACHINE)
		rc = err_set(err, ERR_SYS, "getrandom failed");
	if (rc == 0)
		rc = store_value_put(s, "machine", (struct bytes){ out, STORE_MACHINE }, err);
	return rc < 0 ? -1 : 0;
}

/* What was known when this machine gave last. */
struct last {
	struct digest was;		/* of id, to, and the file of this database */
	uint32_t epoch;
};

static struct last last_of(const struct store *s, struct bytes id, const char *to,
			   uint32_t epoch)
{
	uint64_t file[3] = { 0 };
	struct wr w = { 0 };
	struct statx st;

	/* a file that was put back is another one, also where its number comes again */
	if (statx(AT_FDCWD, s->file, 0, STATX_INO | STATX_BTIME, &st) == 0) {
		file[0] = st.stx_ino;
		file[1] = st.stx_mask & STATX_BTIME ? (uint64_t)st.stx_btime.tv_sec : 0;
		file[2] = st.stx_mask & STATX_BTIME ? st.stx_btime.tv_nsec : 0;
	}
	wr_raw(&w, file, sizeof(file));
	wr_raw(&w, to, strlen(to) + 1);
	wr_raw(&w, id.p, id.n);
	struct last now = { digest_of(wr_bytes(&w)), epoch };
	wr_free(&w);
	return now;
}

/* A machine that is not what it was, or whose week has come before, is another one.  *last is
 * zeroed if it never gave. */
static int look_back(struct store *s, const struct last *now, struct last *last,
		     struct err *err)
{
	int rc = get_value(s, "giver", last, sizeof(*last), err);

	if (rc <= 0)
		return rc;
	return digest_equal(&last->was, &now->was) && last->epoch <= now->epoch
		       ? 0 : forget_machine(s, err);
}

/* Rows of before there were givers. */
static int adopt(struct store *s, const struct store_giver *g, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_EPOCH_ADOPT, err);

	if (!q)
		return -1;
	store_bind_blob(q, 1, (struct bytes){ g->machine, sizeof(g->machine) });
	store_bind_text(q, 2, g->class);
	return store_run(s, q, err);
}

int store_giver(struct store *s, struct bytes id, const char *to, struct store_giver *g,
		struct err *err)
{
	static const struct last never;
	const struct last now = last_of(s, id, to, g->epoch);
	uint8_t number[STORE_MACHINE];
	struct wr w = { 0 };
	struct last last;

	if (look_back(s, &now, &last, err) < 0 || machine(s, number, err) < 0)
		return -1;
	wr_raw(&w, number, sizeof(number));
	wr_raw(&w, id.p, id.n);
	struct digest d = digest_of(wr_bytes(&w));
	wr_free(&w);
	memcpy(g->machine, d.b, sizeof(g->machine));
	if (memcmp(&last, &now, sizeof(now)) == 0)
		return 0;
	if (memcmp(&last, &never, sizeof(last)) == 0 && adopt(s, g, err) < 0)
		return -1;
	return store_value_put(s, "giver", (struct bytes){ (const uint8_t *)&now, sizeof(now) },
			       err);
}

/* --- values --- */

int store_exchanged(struct store *s, uint64_t *out_ns, struct err *err)
{
	return get_value(s, "exchanged", out_ns, sizeof(*out_ns), err) < 0 ? -1 : 0;
}

int store_exchanged_put(struct store *s, uint64_t ns, struct err *err)
{
	return store_value_put(s, "exchanged",
			       (struct bytes){ (const uint8_t *)&ns, sizeof(ns) }, err);
}
