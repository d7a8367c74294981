/* store_db.c - the base of the store: its connection, statements, rows and transactions
 *
 * A statement of store_sql.def is prepared when it is first used and kept as long as the store.
 * Values that a row cannot have are a damaged database, never an assert: somebody else may have
 * written the file.  Tested by tests/unit/manager/store/test_store.c.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "manager/store/store_db.h"

static const char *const sql_text[NSQL] = {
#define SQL(id, text) text,
#include "manager/store/store_sql.def"
#undef SQL
};

uint64_t store_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);	/* cannot fail with this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t store_day_before(uint64_t ns)
{
	static const uint64_t day_ns = UINT64_C(86400) * 1000000000;

	return ns > day_ns ? ns - day_ns : 0;
}

/* --- errors --- */

int store_fail(struct store *s, struct err *err)
{
	int code = sqlite3_errcode(s->db);

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
		s->damaged = true;
		return err_set(err, ERR_INPUT, "'%s': damaged database: %s", s->file,
			       sqlite3_errmsg(s->db));
	}
	return err_set(err, ERR_SYS, "'%s': %s", s->file, sqlite3_errmsg(s->db));
}

int store_damaged(struct store *s, const char *table, struct err *err)
{
	return err_set(err, ERR_INPUT,
		       "'%s': damaged database: a row of table %s has impossible "
		       "values",
		       s->file, table);
}

/* --- statements --- */

sqlite3_stmt *store_sql(struct store *s, enum store_sql id, struct err *err)
{
	if (!s->stmt[id] &&
	    sqlite3_prepare_v3(s->db, sql_text[id], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[id],
			       NULL) != SQLITE_OK) {
		store_fail(s, err);
		return NULL;
	}
	store_done(s->stmt[id]);
	return s->stmt[id];
}

void store_done(sqlite3_stmt *q)
{
	/* repeats the error of the step, known already */
	(void)sqlite3_reset(q);
	(void)sqlite3_clear_bindings(q);	/* cannot fail */
}

int store_step(struct store *s, sqlite3_stmt *q, struct err *err)
{
	int code = sqlite3_step(q);

	if (code == SQLITE_ROW)
		return 1;
	int rc = code == SQLITE_DONE ? 0 : store_fail(s, err);
	store_done(q);
	return rc;
}

int store_run(struct store *s, sqlite3_stmt *q, struct err *err)
{
	int rc = store_step(s, q, err);

	if (rc == 1)
		store_done(q);
	return rc < 0 ? -1 : 0;
}

int store_do(struct store *s, enum store_sql id, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, id, err);

	return q ? store_run(s, q, err) : -1;
}

static sqlite3_stmt *sql_with(struct store *s, enum store_sql id, int64_t value,
			      struct err *err)
{
	sqlite3_stmt *q = store_sql(s, id, err);

	if (q)
		(void)sqlite3_bind_int64(q, 1, value);
	return q;
}

int store_do_with(struct store *s, enum store_sql id, int64_t value, struct err *err)
{
	sqlite3_stmt *q = sql_with(s, id, value, err);

	return q ? store_run(s, q, err) : -1;
}

int store_row_with(struct store *s, enum store_sql id, int64_t value, sqlite3_stmt **q,
		   struct err *err)
{
	*q = sql_with(s, id, value, err);
	return *q ? store_step(s, *q, err) : -1;
}

int store_ids(struct store *s, sqlite3_stmt *q, int64_t **out, uint32_t *n, struct err *err)
{
	struct wr w = { 0 };
	int rc;

	while ((rc = store_step(s, q, err)) == 1)
		wr_u64(&w, (uint64_t)sqlite3_column_int64(q, 0));
	if (rc < 0) {
		wr_free(&w);
		return -1;
	}
	*n = (uint32_t)(w.n / sizeof(int64_t));
	*out = (int64_t *)(void *)w.p;		/* malloc'd, so aligned; NULL when empty */
	return 0;
}

int store_all_ids(struct store *s, enum store_sql id, int64_t **out, uint32_t *n,
		  struct err *err)
{
	sqlite3_stmt *q = store_sql(s, id, err);

	return q ? store_ids(s, q, out, n, err) : -1;
}

void store_bind_digest(sqlite3_stmt *q, int at, const struct digest *d)
{
	/* NOT NULL tells */
	(void)sqlite3_bind_blob(q, at, d->b, sizeof(d->b), SQLITE_TRANSIENT);
}

void store_bind_text(sqlite3_stmt *q, int at, const char *text)
{
	(void)sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);	/* as above */
}

void store_bind_blob(sqlite3_stmt *q, int at, struct bytes b)
{
	(void)sqlite3_bind_blob64(q, at, b.n ? (const void *)b.p : "", b.n, SQLITE_STATIC);
}

bool store_get_digest(sqlite3_stmt *q, int col, struct digest *out)
{
	struct bytes b = store_get_blob(q, col);

	if (b.n != sizeof(out->b))
		return false;
	memcpy(out->b, b.p, sizeof(out->b));
	return true;
}

bool store_get_text(sqlite3_stmt *q, int col, char *out, size_t n)
{
	const unsigned char *text = sqlite3_column_text(q, col);
	int len = sqlite3_column_bytes(q, col);

	if (!text || (size_t)len >= n || memchr(text, 0, (size_t)len))
		return false;
	memcpy(out, text, (size_t)len + 1);
	return true;
}

bool store_get_u32(sqlite3_stmt *q, int col, uint32_t *out)
{
	int64_t v = sqlite3_column_int64(q, col);

	if (v < 0 || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

bool store_get_real(sqlite3_stmt *q, int col, double *out)
{
	*out = sqlite3_column_double(q, col);
	return isfinite(*out) && *out >= 0;
}

struct bytes store_get_blob(sqlite3_stmt *q, int col)
{
	const void *p = sqlite3_column_blob(q, col);	/* NULL for a length of 0 */

	return (struct bytes){ p ? p : (const uint8_t *)"",
			       (uint64_t)sqlite3_column_bytes(q, col) };
}

int store_take_blob(struct store *s, sqlite3_stmt *q, struct wr *out, struct err *err)
{
	int rc = store_step(s, q, err);

	if (rc == 1) {
		struct bytes b = store_get_blob(q, 0);

		wr_raw(out, b.p, b.n);
		store_done(q);
	}
	return rc;
}

int store_blob_of(struct store *s, enum store_sql id, const struct digest *key, struct wr *out,
		  struct err *err)
{
	sqlite3_stmt *q = store_sql(s, id, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, key);
	return store_take_blob(s, q, out, err);
}

/* --- numbers in blobs --- */

void store_write_double(struct wr *w, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	wr_u64(w, bits);
}

double store_read_double(struct rd *r)
{
	uint64_t bits = rd_u64(r);
	double v;

	memcpy(&v, &bits, sizeof(v));
	r->bad = r->bad || !isfinite(v) || v < 0;
	return r->bad ? 0 : v;
}

/* --- transactions --- */

int store_begin(struct store *s, struct err *err)
{
	if (s->depth == 0) {
		if (store_do(s, SQL_BEGIN, err) < 0)
			return -1;
		s->failed = false;
	}
	s->depth++;
	return 0;
}

int store_commit(struct store *s, struct err *err)
{
	if (s->depth == 1 && !s->failed) {
		if (store_do(s, SQL_COMMIT, err) < 0) {
			store_rollback(s);
			return -1;
		}
	} else if (s->depth == 1) {
		store_rollback(s);
		return err_set(err, ERR_SYS, "'%s': the transaction was rolled back", s->file);
	}
	s->depth--;
	return 0;
}

void store_rollback(struct store *s)
{
	s->failed = true;
	if (--s->depth > 0)
		return;
	sqlite3_stmt *q = store_sql(s, SQL_ROLLBACK, NULL);
	if (q && !sqlite3_get_autocommit(s->db))
		(void)store_run(s, q, NULL);	/* what fails here, closing undoes */
}
