/* schema.c - installs the fleet's schema, migrations.sql and functions.sql, and asks for it
 *
 * Both files are in this program as text: the Makefile makes share/schema_sql.h of them.
 *
 * Tested by tests/e2e/share.sh.
 */
#include "share/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "share/db.h"
#include "share/schema_sql.h"

static const char begin[] =
	"BEGIN; SET LOCAL lock_timeout = '10s'; "
	"DO $$ BEGIN "
	"IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'morph_owner') THEN "
	"CREATE ROLE morph_owner NOLOGIN; END IF; "
	"IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'morph_contributor') THEN "
	"CREATE ROLE morph_contributor NOLOGIN; END IF; "
	/* since PostgreSQL 16 who creates a role is its member, but may not set it */
	"IF NOT pg_has_role(current_user, 'morph_owner', CASE WHEN "
	"current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' "
	"END) THEN "
	"EXECUTE format('GRANT morph_owner TO %I', current_user); END IF; END $$; "
	"CREATE SCHEMA IF NOT EXISTS morph AUTHORIZATION morph_owner";

/* One at a time, by a lock that no contributor may take. */
static const char enter[] =
	"SET LOCAL ROLE morph_owner; SET LOCAL search_path = morph; "
	"CREATE TABLE IF NOT EXISTS version(number integer NOT NULL); "
	"LOCK TABLE version IN SHARE ROW EXCLUSIVE MODE; "
	"INSERT INTO version SELECT 0 WHERE NOT EXISTS (SELECT FROM version)";

/* The n-th migration, the first is 1; NULL: there are not so many. */
static char *migration(int n)
{
	for (const char *line = migrations_sql; *line; ) {
		size_t length = strcspn(line, "\n");

		if (length && strncmp(line, "--", 2) != 0 && --n == 0)
			return strndup(line, length);
		line += length + (line[length] == '\n');
	}
	return NULL;
}

int schema_version(void)
{
	int n = 0;

	for (char *sql; (sql = migration(n + 1)); n++)
		free(sql);
	return n;
}

static int migrate(struct db *db, int from, int to, struct err *err)
{
	for (int i = from + 1; i <= to; i++) {
		char *sql = migration(i);
		int rc = sql ? db_do(db, sql, err) : err_set(err, ERR_SYS, "out of memory");

		free(sql);
		if (rc < 0)
			return err_wrap(err, "migration %d", i);
	}
	return db_do(db, functions_sql, err) < 0 ? err_wrap(err, "functions") : 0;
}

/* Whoever owns the schema could change what protects contributors. */
static int check_owner(struct db *db, struct err *err)
{
	PGresult *r = db_row(db, "SELECT pg_get_userbyid(nspowner) FROM pg_namespace "
				 "WHERE nspname = 'morph'", 0, NULL, 1, err);

	if (!r)
		return -1;
	const char *owner = PQgetvalue(r, 0, 0);
	int rc = strcmp(owner, "morph_owner") == 0 ? 0 :
		 err_set(err, ERR_REFUSED, "there is a schema morph of %.64s's, which is not "
			 "taken over: DROP SCHEMA, or another database", owner);
	PQclear(r);
	return rc;
}

static int install(struct db *db, int *from, struct err *err)
{
	char update[64];
	int to = schema_version();

	if (db_do(db, begin, err) < 0 || check_owner(db, err) < 0 ||
	    db_do(db, enter, err) < 0)
		return -1;
	PGresult *r = db_row(db, "SELECT number FROM version", 0, NULL, 1, err);
	if (!r)
		return -1;
	*from = (int)db_number(r, 0, 0, 1000000);
	PQclear(r);
	if (*from < 0)
		return err_set(err, ERR_INPUT, "the number of the schema is none");
	if (*from > to)
		return err_set(err, ERR_REFUSED,
			       "schema %d is newer than this program's, which is %d",
			       *from, to);
	if (migrate(db, *from, to, err) < 0)
		return -1;
	(void)snprintf(update, sizeof(update), "UPDATE version SET number = %d; COMMIT", to);
	return db_do(db, update, err);
}

/* What must change while nobody uses it waits for everybody's transactions. */
static void add_who_stays(struct db *db, struct err *err)
{
	struct err untold, why = *err;
	PGresult *r = db_row(db, "SELECT usename, pid, count(*) OVER () FROM "
			     "pg_stat_activity a WHERE pid <> pg_backend_pid() AND "
			     "usename IS NOT NULL AND EXISTS (SELECT FROM pg_locks l JOIN "
			     "pg_class c ON c.oid = l.relation WHERE l.pid = a.pid AND "
			     "l.granted AND l.database = (SELECT oid FROM pg_database WHERE "
			     "datname = current_database()) AND c.relnamespace = "
			     "to_regnamespace('morph')) ORDER BY xact_start, pid LIMIT 1",
			     0, NULL, 3, &untold);

	if (!r)
		return;
	const char *pid = PQgetvalue(r, 0, 1);
	err_set(err, why.kind, "%.400s: login %.64s has a transaction open that uses the "
		"schema (process %.16s, of %.16s such); try again when it has ended, "
		"or SELECT pg_terminate_backend(%.16s) has ended it",
		why.text, PQgetvalue(r, 0, 0), pid, PQgetvalue(r, 0, 2), pid);
	PQclear(r);
}

int schema_install(struct db *db, int *from, struct err *err)
{
	struct err untold;

	if (install(db, from, err) == 0)
		return 0;
	bool locked = strcmp(db->state, "55P03") == 0;	/* lock_not_available */
	(void)db_do(db, "ROLLBACK", &untold);	/* the connection ends as well */
	if (locked)
		add_who_stays(db, err);
	return -1;
}

int schema_hello(struct db *db, struct schema_hello *out, struct err *err)
{
	PGresult *r = db_row(db, "SELECT client, schema, epoch, bound, now FROM morph.hello()",
			     0, NULL, 5, err);

	if (!r)
		return err_wrap(err, "no schema of Morph that this login may use (morphctl "
				     "share init makes one; contributors are in role "
				     "morph_contributor)");
	int64_t client = db_number(r, 0, 0, 1000000), schema = db_number(r, 0, 1, 1000000);
	int64_t epoch = db_number(r, 0, 2, 1000000), least = db_number(r, 0, 3, 1000000);
	out->now_s = db_number(r, 0, 4, INT64_C(1) << 40);
	PQclear(r);
	if (client < 0 || schema < 0 || epoch < 0 || least < 0 || out->now_s < 0)
		return err_set(err, ERR_INPUT, "the server says of itself what cannot be");
	if (client > SCHEMA_CLIENT)
		return err_set(err, ERR_REFUSED, "schema %d wants a newer Morph than this one",
			       (int)schema);
	if (schema < SCHEMA_LEAST)
		return err_set(err, ERR_REFUSED, "schema %d is too old; morphctl share init "
			       "brings it up to date", (int)schema);
	out->schema = (int)schema;
	out->epoch = (uint32_t)epoch;
	out->least = (uint32_t)least;
	return 0;
}
