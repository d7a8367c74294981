/* tryout.c - does sharing work over this connection?  All of an exchange, and none of it stays
 *
 * Tested by tests/e2e/share.sh.
 */
#include "share/tryout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "share/db.h"
#include "share/exchange.h"
#include "share/schema.h"

enum { CLOCK_OFF_S = 300 };

static void add(char line[512], const char *text)
{
	size_t n = strlen(line);

	(void)snprintf(line + n, 512 - n, "%s%s", n ? ", " : "", text);
}

/* A login that the database does not hold to its rules is no contributor. */
static int look_at_login(struct db *db, char line[512], struct err *err)
{
	char text[128];
	PGresult *r = db_row(db, "SELECT session_user, rolsuper OR rolbypassrls OR "
				 "pg_has_role(session_user, 'morph_owner', 'MEMBER') "
				 "FROM pg_roles WHERE rolname = session_user", 0, NULL, 2, err);

	if (!r)
		return -1;
	(void)snprintf(text, sizeof(text), "login %.64s", PQgetvalue(r, 0, 0));
	bool above = strcmp(PQgetvalue(r, 0, 1), "t") == 0;
	PQclear(r);
	add(line, text);
	return above ? err_set(err, ERR_REFUSED, "this login is above the database's rules; a "
						 "contributor is in role morph_contributor and "
						 "nothing more") : 0;
}

static int try_both_ways(struct db *db, const struct schema_hello *hello, struct err *err)
{
	struct fleet_block block = { 0, 1 };
	struct fleet_evidence e = { .epoch = hello->epoch, .sequence = 1, .nblock = 1,
				    .block = &block };
	struct fleet_request q = { .class = "" };
	enum fleet_told told = FLEET_REFUSED;
	char said[160] = "";

	if (db_do(db, "BEGIN", err) < 0)
		return -1;
	if (exchange_give(db, &q, &e, &told, said, err) < 0)
		return err_wrap(err, "giving");
	if (told == FLEET_REFUSED)
		return err_set(err, ERR_REFUSED, "giving is refused: %s", said);
	if (db_do(db, "ROLLBACK", err) < 0)
		return -1;
	PGresult *r = db_run(db, "SELECT digest FROM morph.take('{}'::bytea[], '')", 0, NULL,
			     err);
	if (!r)
		return err_wrap(err, "taking");
	PQclear(r);
	r = db_run(db, "SELECT morph.merge(0)", 0, NULL, err);
	if (!r)
		return err_wrap(err, "merging");
	PQclear(r);
	return 0;
}

int tryout_run(struct db *db, char line[512], struct err *err)
{
	struct schema_hello hello;
	char text[96];

	(void)snprintf(text, sizeof(text), "connected by %s", db_channel(db));
	add(line, text);
	if (look_at_login(db, line, err) < 0 || schema_hello(db, &hello, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "schema %d, others' evidence from %" PRIu32
		       " contributors on", hello.schema, hello.least);
	add(line, text);
	int64_t off = (int64_t)time(NULL) - hello.now_s;
	if (off > CLOCK_OFF_S || off < -CLOCK_OFF_S)
		return err_set(err, ERR_REFUSED, "this machine's clock is %" PRId64 " s %s of "
			       "the server's", off > 0 ? off : -off,
			       off > 0 ? "ahead" : "behind");
	if (try_both_ways(db, &hello, err) < 0)
		return -1;
	add(line, "giving and taking work");
	if (strcmp(db_channel(db), "no TLS") == 0)
		return err_set(err, ERR_REFUSED, "the network sees everything: "
						 "sslmode=verify-full in the conninfo asks "
						 "for TLS");
	return 0;
}
