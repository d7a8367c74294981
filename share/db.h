/* db.h - one connection to a fleet's database, on which nothing waits longer than a deadline
 *
 * All that comes from the server is a stranger's: results are looked at column by column, its
 * messages are cut to a line, its notices are not shown.
 */
#ifndef SHARE_DB_H
#define SHARE_DB_H

#include <postgresql/libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

struct db {
	PGconn *conn;
	uint64_t deadline_ms;		/* CLOCK_MONOTONIC */
	char server[512];		/* its name and port, escaped, once it is spoken to */
	char state[6];			/* SQLSTATE of the last error, or empty */
};

uint64_t db_now_ms(void);
/* Connects as libpq's conninfo says, which may hold no password, before the deadline. */
int db_open(struct db *db, const char *conninfo, struct err *err);
void db_close(struct db *db);		/* of a zeroed one, too */

/* A statement with text parameters; NULL is the SQL NULL.  Its result is the caller's,
 * PQclear(); NULL: it failed, and *err has the server's sentence. */
PGresult *db_run(struct db *db, const char *sql, int n, const char *const *param,
		 struct err *err);
/* The same, and the result has `columns` and one row. */
PGresult *db_row(struct db *db, const char *sql, int n, const char *const *param, int columns,
		 struct err *err);
/* The callback gets each row, as a result of its own: memory never holds more than one. */
int db_each(struct db *db, const char *sql, int n, const char *const *param,
	    void (*row)(void *ctx, const PGresult *r), void *ctx, struct err *err);
/* Several statements without parameters; results are thrown away. */
int db_do(struct db *db, const char *sql, struct err *err);
/* Can it be asked again after a failure?  Not if the connection is gone, or an answer due. */
bool db_is_free(const struct db *db);

/* "TLS", "a local socket" or "no TLS". */
const char *db_channel(const struct db *db);
/* A whole number in that column of the row, or -1: it is none, or NULL, or not 0..most. */
int64_t db_number(const PGresult *r, int row, int column, int64_t most);

#endif
