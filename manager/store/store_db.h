/* store_db.h - functions that the files of the store share among themselves
 *
 * Calls go one way, from the end of this list to its beginning:
 *
 *	store_db	connection, statements, columns and their range checks, transactions
 *	store_counter	counters, and values by name
 *	store_module	modules, the inodes they were seen in, block tables
 *	store_profile	block profiles, coded by profile_code
 *	store_use, store_speed, store_log, store_crash, store_spent, store_live,
 *	store_inherit, store_fleet, store_saved, store_ran, store_made
 *	store_spool	what one spool file brought, all of it in one transaction
 *
 * store.c, which opens and migrates the database, needs the first of them only, and store_made,
 * which takes over what an older store has elsewhere.
 */
#ifndef MANAGER_STORE_STORE_DB_H
#define MANAGER_STORE_STORE_DB_H

#include <sqlite3.h>

#include "lib/rd.h"
#include "manager/store/store.h"
#include "manager/store/store_saved.h"

enum store_sql {
#define SQL(id, text) SQL_##id,
#include "manager/store/store_sql.def"
#undef SQL
	NSQL
};

struct store {
	char *dir, *file;
	sqlite3 *db;
	sqlite3_stmt *stmt[NSQL];
	int depth;		/* of nested transactions */
	bool failed;		/* something inside was rolled back */
	bool damaged;		/* as SQLite says */
	/* while somebody else holds the lock: since when it is waited for, and when the last
	 * one who did gave up */
	uint64_t waits_ns, gave_up_ns;
};

/* --- store_db.c --- */

/* Fills err from the connection's last error, naming the database; returns -1. */
int store_fail(struct store *s, struct err *err);
/* Reports a row with impossible values: names the database and the table; returns -1. */
int store_damaged(struct store *s, const char *table, struct err *err);

/* The prepared statement with nothing bound, NULL on failure. */
sqlite3_stmt *store_sql(struct store *s, enum store_sql id, struct err *err);
/* 1: a row; 0: done, statement reset; -1: failed, statement reset. */
int store_step(struct store *s, sqlite3_stmt *q, struct err *err);
/* Runs a statement that gives no row, and resets it. */
int store_run(struct store *s, sqlite3_stmt *q, struct err *err);
/* The same of a statement that asks for nothing, or for one number. */
int store_do(struct store *s, enum store_sql id, struct err *err);
int store_do_with(struct store *s, enum store_sql id, int64_t value, struct err *err);
/* The row of a statement that asks for one number: 1, and *q is to be ended; 0, -1. */
int store_row_with(struct store *s, enum store_sql id, int64_t value, sqlite3_stmt **q,
		   struct err *err);
/* Ends a statement that gave the one row wanted. */
void store_done(sqlite3_stmt *q);
/* The first column of all rows; *out is malloc'd. */
int store_ids(struct store *s, sqlite3_stmt *q, int64_t **out, uint32_t *n, struct err *err);
/* The same of a statement that asks for nothing. */
int store_all_ids(struct store *s, enum store_sql id, int64_t **out, uint32_t *n,
		  struct err *err);

/* The blob is only borrowed: it lives until the statement has run. */
void store_bind_digest(sqlite3_stmt *q, int at, const struct digest *d);
void store_bind_text(sqlite3_stmt *q, int at, const char *text);
void store_bind_blob(sqlite3_stmt *q, int at, struct bytes b);

/* Columns of a row; false when the value cannot be. */
bool store_get_digest(sqlite3_stmt *q, int col, struct digest *out);
bool store_get_text(sqlite3_stmt *q, int col, char *out, size_t n);
bool store_get_u32(sqlite3_stmt *q, int col, uint32_t *out);
bool store_get_real(sqlite3_stmt *q, int col, double *out);	/* finite, not negative */
struct bytes store_get_blob(sqlite3_stmt *q, int col);		/* until the next step */
/* Steps a statement that is bound, appends the blob that its row has first, and ends it.  1; 0:
 * there is no row; -1. */
int store_take_blob(struct store *s, sqlite3_stmt *q, struct wr *out, struct err *err);
/* The same of the statement `id`, which asks by a digest alone. */
int store_blob_of(struct store *s, enum store_sql id, const struct digest *key, struct wr *out,
		  struct err *err);

/* Numbers in blobs: finite, not negative, else r->bad. */
void store_write_double(struct wr *w, double v);
double store_read_double(struct rd *r);

/* --- store_counter.c --- */

/* A value by name: 1 found and appended to *out, 0 there is none. */
int store_value_get(struct store *s, const char *name, struct wr *out, struct err *err);
int store_value_put(struct store *s, const char *name, struct bytes value, struct err *err);

/* --- store_module.c --- */

/* What a module's profiles may take: 5 % of its text in all, and 1 % more
 * with exact counts, once that is known; 0: no limit.
 * Returns 1; 0: no such module. */
enum store_budget { PROFILE_ALL, PROFILE_RECENT, PROFILE_MADE_FROM };
int store_module_budget(struct store *s, int64_t module, enum store_budget what, uint64_t *out,
			struct err *err);

/* --- store_log.c --- */

/* A row of GENERATION_COLUMNS; ends the statement.  1, -1. */
int store_read_generation(struct store *s, sqlite3_stmt *q, struct store_generation *out,
			  struct err *err);

/* --- what a spool file brought; store_spool.c puts it together --- */

struct attribute_module;
struct attribution;
/* The sum of the samples of both, in a new array; without edges and states. */
struct store_profile store_profile_sum(const struct store_profile *p,
				       const struct attribute_module *m);
/* Adds samples, states and edges to the module's profile. */
int store_profile_add(struct store *s, const struct attribute_module *m, uint64_t max_bytes,
		      struct err *err);
/* Adds the samples to the window; *factor: by what the older ones of the profile fade now. */
int store_use_add(struct store *s, const struct attribute_module *m,
		  const struct store_fading *fading, double *factor, struct err *err);
/* Fades what the module had of its instructions, and adds what it has. */
int store_place_add(struct store *s, const struct attribute_module *m, double factor,
		    struct err *err);
/* Of all modules, not more than there may be. */
int store_place_limit(struct store *s, struct err *err);
/* Adds whose samples all modules had. */
int store_whose_add(struct store *s, const struct attribution *a, struct err *err);
int store_whose_fade(struct store *s, int64_t module, double factor, struct err *err);
/* The number of a program's path, made if it has none; 0: "".  store_ran.c. */
int store_program_id(struct store *s, const char *path, int64_t *out, struct err *err);
/* Adds the observations of how fast the modules' processes run. */
int store_speed_add(struct store *s, const struct attribution *a,
		    const struct store_fading *fading, struct err *err);
/* Adds uses of one module, use[0 .. n), as far as they are of generations other than `but`;
 * what is at its path is compared by *p.  store_saved.c. */
struct attribute_use;
int store_used_add_all(struct store *s, const struct speedtest *p, uint32_t but,
		       const struct attribute_use *use, uint32_t n, uint64_t time_ns,
		       struct err *err);

#endif
