/* store.c - opens the store: makes its folder, opens the database, brings the schema up to date
 *
 * WAL with synchronous=FULL: a commit is on the disk when it returns.  Commits are rare (one
 * per spool file, one per operation), and a spool file is deleted because its commit is
 * durable.
 *
 * The schema version is `user_version`; migrations.def holds one step a line, each run in a
 * transaction of its own together with the new version.
 *
 * Tested by tests/unit/manager/store/test_store.c and test_store_confined.c.
 */
#include "manager/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/store_db.h"
#include "manager/store/store_made.h"

static const char *const migrations[] = {
#define MIGRATION(sql) sql,
#include "manager/store/migrations.def"
#undef MIGRATION
};

enum { NMIGRATION = sizeof(migrations) / sizeof(migrations[0]) };

int store_schema_version(void)
{
	return NMIGRATION;
}

const char *store_dir(const struct store *s)
{
	return s->dir;
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
		return err_set(err, ERR_REFUSED,
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

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Somebody else holds the lock, for the n-th time: 1, it is worth another try.  Who wants it
 * soon after one who waited in vain hardly waits: what the daemon does else goes on. */
static int wait_for_lock(void *ctx, int n)
{
	enum { STEP_NS = 20000000, PATIENT_MS = 5000, SOON_MS = 100, AFTER_MS = 60000 };
	struct store *s = ctx;
	const struct timespec step = { 0, STEP_NS };
	uint64_t now = now_ns();
	bool soon = s->gave_up_ns && now - s->gave_up_ns < (uint64_t)AFTER_MS * 1000000;

	if (n == 0)
		s->waits_ns = now;
	if (now - s->waits_ns >= (uint64_t)(soon ? SOON_MS : PATIENT_MS) * 1000000) {
		s->gave_up_ns = now;
		return 0;
	}
	(void)nanosleep(&step, NULL);
	return 1;
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
	(void)sqlite3_busy_handler(s->db, wait_for_lock, s);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* temporary files have no place that the Manager may write to (lib/confine.h) */
	if (exec(s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
		    "PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY", err) < 0 ||
	    pragma(s, "PRAGMA quick_check(1)", text, sizeof(text), err) < 0)
		return -1;
	if (strcmp(text, "ok") != 0)
		return err_set(err, ERR_INPUT, "'%s': damaged database: %s", s->file, text);
	if (pragma(s, "PRAGMA journal_mode = WAL", text, sizeof(text), err) < 0)
		return -1;
	/* what a large table once took does not stay on the disk */
	if (exec(s, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 256; "
		    "PRAGMA journal_size_limit = 1048576", err) < 0)
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
	if (make_dir(dir, err) < 0 || make_dir(spool, err) < 0 || open_database(s, err) < 0 ||
	    store_made_take_over(s, err) < 0) {
		store_close(s);
		s = NULL;
	}
	free(spool);
	return s;
}

bool store_is_damaged(const struct store *s)
{
	return s->damaged;
}

/* DIR/morph.db and what SQLite keeps beside it, to names that end in -N. */
static int rename_all(const char *dir, int n, unsigned flags, char kept[PATH_MAX])
{
	/* the database last: without it, its log would be taken for that of the next one */
	static const char *const part[] = { "-wal", "-shm", "" };
	char from[PATH_MAX], to[PATH_MAX];

	for (int i = 0; i < 3; i++) {
		if (snprintf(from, sizeof(from), "%s/morph.db%s", dir, part[i]) >=
		    (int)sizeof(from) ||
		    snprintf(to, sizeof(to), "%s/morph.db.damaged-%d%s", dir, n, part[i]) >=
		    (int)sizeof(to)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (renameat2(AT_FDCWD, from, AT_FDCWD, to, flags) < 0 &&
		    (errno != ENOENT || !*part[i]))
			return -1;
	}
	(void)snprintf(kept, PATH_MAX, "%s", to);	/* same size */
	return 0;
}

int store_set_aside(const char *dir, char kept[PATH_MAX], struct err *err)
{
	enum { MOST = 9 };

	for (int n = 1; n <= MOST; n++) {
		char path[PATH_MAX + 32];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/morph.db.damaged-%d", dir, n);
		if (n < MOST && lstat(path, &st) == 0)
			continue;
		/* so many tell no more than eight do */
		if (rename_all(dir, n, n < MOST ? RENAME_NOREPLACE : 0, kept) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_set(err, ERR_SYS, "'%s/morph.db': rename: %s", dir, strerror(errno));
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
