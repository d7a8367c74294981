/* store.c - the database: opening, schema, transactions, statements
 *
 * WAL with synchronous=FULL: a commit is on the disk when it returns.  Commits are rare (one
 * per spool file, one per operation), and a spool file is deleted because its commit is
 * durable.
 *
 * The schema version is `user_version`; migrations.def holds one step a line, each run in a
 * transaction of its own together with the new version.
 */
#include "manager/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/store_db.h"

static const char *const migrations[] = {
#define MIGRATION(sql) sql,
#include "manager/store/migrations.def"
#undef MIGRATION
};

enum { NMIGRATION = sizeof(migrations) / sizeof(migrations[0]) };

static const char *const sql_text[NSQL] = {
#define SQL(id, text) text,
#include "manager/store/store_sql.def"
#undef SQL
};

int store_schema_version(void)
{
	return NMIGRATION;
}

const char *store_dir(const struct store *s)
{
	return s->dir;
}

uint64_t store_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);	/* cannot fail with this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* --- errors --- */

int store_fail(struct store *s, struct err *err)
{
	int code = sqlite3_errcode(s->db);

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return err_set(err, ERR_INPUT, "'%s': damaged database: %s", s->file,
			       sqlite3_errmsg(s->db));
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

/* --- transactions --- */

int store_begin(struct store *s, struct err *err)
{
	if (s->depth == 0) {
		sqlite3_stmt *q = store_sql(s, SQL_BEGIN, err);

		if (!q || store_run(s, q, err) < 0)
			return -1;
		s->failed = false;
	}
	s->depth++;
	return 0;
}

int store_commit(struct store *s, struct err *err)
{
	if (s->depth == 1 && !s->failed) {
		sqlite3_stmt *q = store_sql(s, SQL_COMMIT, err);

		if (!q || store_run(s, q, err) < 0) {
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

/* --- opening --- */

static int exec(struct store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, err);
}

/* The first column of the first row of a pragma, as text; `out` is "" when there is none. */
static int pragma(struct store *s, const char *sql, char *out, size_t n, struct err *err)
{
	sqlite3_stmt *q;

	*out = '\0';
	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return store_fail(s, err);
	int rc = store_step(s, q, err);
	if (rc == 1 && sqlite3_column_text(q, 0))
		(void)snprintf(out, n, "%s", (const char *)sqlite3_column_text(q, 0)); /* cut */
	(void)sqlite3_finalize(q);		/* repeats the error of the step */
	return rc < 0 ? -1 : 0;
}

static int migrate(struct store *s, struct err *err)
{
	char text[32], step[64];

	if (pragma(s, "PRAGMA user_version", text, sizeof(text), err) < 0)
		return -1;
	long version = strtol(text, NULL, 10);
	if (version < 0 || version > NMIGRATION)
		return err_set(err, ERR_INPUT,
			       "'%s': made by a newer Morph (schema version %ld, this "
			       "one knows %d)",
			       s->file, version, NMIGRATION);
	for (; version < NMIGRATION; version++) {
		(void)snprintf(step, sizeof(step), "PRAGMA user_version = %ld", version + 1);
		if (store_begin(s, err) < 0)
			return -1;
		if (exec(s, migrations[version], err) < 0 || exec(s, step, err) < 0) {
			store_rollback(s);
			return err_wrap(err, "schema version %ld", version + 1);
		}
		if (store_commit(s, err) < 0)
			return -1;
	}
	return 0;
}

static int open_database(struct store *s, struct err *err)
{
	char text[512];

	/* SQLite would let everybody read what this machine runs; its other files follow
	 * this one's mode. */
	int fd = open(s->file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", s->file, strerror(errno));
	close(fd);

	/* Without NOFOLLOW SQLite would follow a link that somebody planted. */
	if (sqlite3_open_v2(s->file, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
			    SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK)
		return s->db ? store_fail(s, err)
			     : err_set(err, ERR_SYS, "'%s': out of memory", s->file);
	(void)sqlite3_busy_timeout(s->db, 5000);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (exec(s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
		    "PRAGMA cache_size = -2048", err) < 0 ||
	    pragma(s, "PRAGMA quick_check(1)", text, sizeof(text), err) < 0)
		return -1;
	if (strcmp(text, "ok") != 0)
		return err_set(err, ERR_INPUT, "'%s': damaged database: %s", s->file, text);
	if (pragma(s, "PRAGMA journal_mode = WAL", text, sizeof(text), err) < 0)
		return -1;
	if (exec(s, "PRAGMA synchronous = FULL", err) < 0)
		return -1;
	return migrate(s, err);
}

static int make_dir(const char *path, struct err *err)
{
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
	return 0;
}

static char *path_in(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		memory_exhausted();
	return path;
}

struct store *store_open(const char *dir, struct err *err)
{
	struct store *s = memory_new(1, sizeof(*s));
	char *spool = path_in(dir, "spool");

	s->dir = memory_need(strdup(dir));
	s->file = path_in(dir, "morph.db");
	if (make_dir(dir, err) < 0 || make_dir(spool, err) < 0 || open_database(s, err) < 0) {
		store_close(s);
		s = NULL;
	}
	free(spool);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < NSQL; i++)
		(void)sqlite3_finalize(s->stmt[i]);	/* repeats an error told before */
	/* no statement is left that could keep it busy */
	(void)sqlite3_close(s->db);
	free(s->file);
	free(s->dir);
	free(s);
}
