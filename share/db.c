/* db.c - one connection to a fleet's database; see db.h
 *
 * libpq's blocking calls wait as long as the server likes, so only its other ones are used, and
 * time is looked at between them.  Two things they do as long as they take: looking up the
 * server's name, which the resolver bounds, and computing what a server asks for, of which the
 * process has a limit (main.c).
 *
 * Tested by tests/e2e/share.sh.
 */
#include "share/db.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/err.h"
#include "lib/utf8.h"

enum { MAX_KEYWORDS = 64, CONNECT_MS = 15000, ANSWER_MS = 75000 };

uint64_t db_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Its first line, without the end of it. */
static int set_line(struct err *err, const char *what, const char *text)
{
	while (*text == '\n')
		text++;
	return err_set(err, ERR_SYS, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

/* --- connecting --- */

struct keywords {
	const char *name[MAX_KEYWORDS + 1], *value[MAX_KEYWORDS + 1];
	int n;
};

static void add(struct keywords *k, const char *name, const char *value)
{
	if (k->n == MAX_KEYWORDS)
		return;
	k->name[k->n] = name;
	k->value[k->n++] = value;
}

static bool may_hold_password(const char *conninfo)
{
	if (strstr(conninfo, "://"))
		return true;
	for (const char *at = conninfo; (at = strcasestr(at, "pass")); at += 4)
		if (strncasecmp(at, "passfile", 8) != 0)
			return true;
	return false;
}

/* libpq quotes what it cannot read.  Of what may be a password only signs that it misses, its
 * own words, are told. */
static int set_unreadable(struct err *err, const char *conninfo, const char *why)
{
	const char *first = strchr(why, '"'), *last = strrchr(why, '"');

	while (first && first[1] && strchr("=]:/", first[1]) && first[2] == '"')
		first = strchr(first + 3, '"');
	if (!may_hold_password(conninfo) || !first || last == first)
		set_line(err, "conninfo", why);
	else
		err_set(err, ERR_USAGE, "conninfo: %.*s\"...%.*s", (int)(first - why), why,
			(int)strcspn(last, "\n"), last);
	err->kind = ERR_USAGE;
	return -1;
}

/* No password, and no part of one that was read as something else: errors and the server would
 * tell that. */
static int check_option(const PQconninfoOption *o, struct err *err)
{
	static const char *const place[] = { "host", "hostaddr", "port", "dbname" };

	if (o->val && (strcmp(o->keyword, "password") == 0 ||
		       strcmp(o->keyword, "sslpassword") == 0))
		return err_set(err, ERR_USAGE,
			       "conninfo: a %s stands where everybody can read it; libpq's "
			       "passfile holds one, or a certificate does without", o->keyword);
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
		if (o->val && o->val[0] && strcmp(o->keyword, place[i]) == 0 &&
		    strchr(o->val + 1, '@'))
			return err_set(err, ERR_USAGE, "conninfo: an @ in the %s: what stands "
				       "before it is not read as a user", o->keyword);
	return 0;
}

/* What is given stands after our defaults, and so holds. */
static int read_conninfo(const char *conninfo, PQconninfoOption **all, struct keywords *k,
			 struct err *err)
{
	char *why = NULL;

	*all = PQconninfoParse(conninfo, &why);
	if (!*all) {
		set_unreadable(err, conninfo, why ? why : "out of memory");
		PQfreemem(why);
		return -1;
	}
	add(k, "application_name", "morph");
	add(k, "gssencmode", "disable");	/* it would look for tickets of users */
	add(k, "sslmode", "verify-full");	/* else whoever answers is told the password */
	add(k, "tcp_user_timeout", "30000");
	add(k, "keepalives_idle", "30");
	for (PQconninfoOption *o = *all; o->keyword; o++) {
		if (check_option(o, err) < 0)
			return -1;
		if (o->val)
			add(k, o->keyword, o->val);
	}
	add(k, "client_encoding", "UTF8");
	return 0;
}

/* Until the socket can be read, or also written; false: it took `most_ms`, or the deadline has
 * passed. */
static bool wait_for(const struct db *db, short events, uint64_t most_ms, struct err *err)
{
	struct pollfd f = { PQsocket(db->conn), events, 0 };
	uint64_t now = db_now_ms();
	uint64_t end = now + most_ms < db->deadline_ms ? now + most_ms : db->deadline_ms;

	if (f.fd < 0)
		return err_set(err, ERR_SYS, "the connection is gone"), false;
	while (now < end) {
		uint64_t left = end - now;
		int n = poll(&f, 1, left < 1000 ? (int)left : 1000);

		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, "poll: %s", strerror(errno)), false;
		now = db_now_ms();
	}
	return err_set(err, ERR_SYS, "the server does not answer"), false;
}

/* Where it goes to now, of several that the conninfo may name. */
static void note_server(struct db *db)
{
	const char *host = PQhost(db->conn), *port = PQport(db->conn);
	char text[128];

	(void)snprintf(text, sizeof(text), "%.100s port %.10s", host ? host : "",
		       port ? port : "");
	utf8_escape(text, db->server, sizeof(db->server));
}

static int finish_connecting(struct db *db, struct err *err)
{
	PostgresPollingStatusType s = PGRES_POLLING_WRITING;

	while (s != PGRES_POLLING_OK) {
		if (s == PGRES_POLLING_FAILED || PQstatus(db->conn) == CONNECTION_BAD)
			return set_line(err, "connection", PQerrorMessage(db->conn));
		short events = s == PGRES_POLLING_READING ? POLLIN : POLLOUT;
		if (!wait_for(db, events, CONNECT_MS, err))
			return err_wrap(err, "connection");
		note_server(db);
		s = PQconnectPoll(db->conn);
	}
	return 0;
}

static void no_notice(void *ctx, const PGresult *r)
{
	(void)ctx, (void)r;
}

int db_open(struct db *db, const char *conninfo, struct err *err)
{
	struct keywords k = { .n = 0 };
	PQconninfoOption *all = NULL;
	int rc = read_conninfo(conninfo, &all, &k, err);

	if (rc == 0) {
		db->conn = PQconnectStartParams(k.name, k.value, 0);
		if (db->conn)
			(void)PQsetNoticeReceiver(db->conn, no_notice, NULL);
		else
			rc = err_set(err, ERR_SYS, "out of memory");
	}
	PQconninfoFree(all);
	if (rc < 0 || finish_connecting(db, err) < 0)
		return -1;
	if (PQsetnonblocking(db->conn, 1) != 0)
		return set_line(err, "connection", PQerrorMessage(db->conn));
	return db_do(db, "SET bytea_output = hex; SET statement_timeout = '60s'; "
			 "SET datestyle = ISO; SET search_path = pg_catalog", err);
}

void db_close(struct db *db)
{
	PQfinish(db->conn);
	db->conn = NULL;
}

/* --- statements --- */

static int flush(struct db *db, struct err *err)
{
	int left;

	while ((left = PQflush(db->conn)) == 1) {
		if (!wait_for(db, POLLIN | POLLOUT, ANSWER_MS, err))
			return -1;
		if (!PQconsumeInput(db->conn))
			break;
	}
	return left == 0 ? 0 : set_line(err, "connection", PQerrorMessage(db->conn));
}

static int other_form(struct err *err)
{
	return err_set(err, ERR_INPUT, "the server answers in another form than was asked for");
}

/* 1, and *out is the caller's; 0: there is none any more; -1. */
static int next_result(struct db *db, PGresult **out, struct err *err)
{
	while (PQisBusy(db->conn)) {
		if (!wait_for(db, POLLIN, ANSWER_MS, err))
			return -1;
		if (!PQconsumeInput(db->conn))
			return set_line(err, "connection", PQerrorMessage(db->conn));
	}
	*out = PQgetResult(db->conn);
	ExecStatusType s = PQresultStatus(*out);
	if (*out && (s == PGRES_COPY_OUT || s == PGRES_COPY_IN || s == PGRES_COPY_BOTH)) {
		PQclear(*out);		/* it would come again, without end */
		return other_form(err);
	}
	return *out != NULL;
}

/* What was sent is sent whole; then the last result, or the first that failed. */
static PGresult *result_of(struct db *db, struct err *err)
{
	PGresult *r = NULL, *next;
	int rc;

	if (flush(db, err) < 0)
		return NULL;
	while ((rc = next_result(db, &next, err)) == 1) {
		if (r && PQresultStatus(r) == PGRES_FATAL_ERROR) {
			PQclear(next);
			continue;
		}
		PQclear(r);
		r = next;
	}
	if (rc == 0)
		return r;
	PQclear(r);
	return NULL;
}

/* NULL, with its sentence, if it is an error. */
static PGresult *unless_failed(struct db *db, PGresult *r, struct err *err)
{
	ExecStatusType s = PQresultStatus(r);

	if (!r) {
		if (err->kind == ERR_NONE)
			set_line(err, "server", PQerrorMessage(db->conn));
		return NULL;
	}
	if (s == PGRES_TUPLES_OK || s == PGRES_COMMAND_OK)
		return r;
	const char *said = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
	(void)snprintf(db->state, sizeof(db->state), "%s", state ? state : "");
	set_line(err, "server", said ? said : PQresultErrorMessage(r));
	PQclear(r);
	return NULL;
}

PGresult *db_run(struct db *db, const char *sql, int n, const char *const *param,
		 struct err *err)
{
	err->kind = ERR_NONE;
	if (!PQsendQueryParams(db->conn, sql, n, NULL, param, NULL, NULL, 0)) {
		set_line(err, "connection", PQerrorMessage(db->conn));
		return NULL;
	}
	return unless_failed(db, result_of(db, err), err);
}

int db_each(struct db *db, const char *sql, int n, const char *const *param,
	    void (*row)(void *ctx, const PGresult *r), void *ctx, struct err *err)
{
	PGresult *r;
	int rc;

	err->kind = ERR_NONE;
	if (!PQsendQueryParams(db->conn, sql, n, NULL, param, NULL, NULL, 0) ||
	    !PQsetSingleRowMode(db->conn))
		return set_line(err, "connection", PQerrorMessage(db->conn));
	if (flush(db, err) < 0)
		return -1;
	while ((rc = next_result(db, &r, err)) == 1) {
		if (PQresultStatus(r) == PGRES_SINGLE_TUPLE)
			row(ctx, r);
		else if (err->kind == ERR_NONE && !(r = unless_failed(db, r, err)))
			continue;
		PQclear(r);
	}
	return rc < 0 || err->kind != ERR_NONE ? -1 : 0;
}

PGresult *db_row(struct db *db, const char *sql, int n, const char *const *param, int columns,
		 struct err *err)
{
	PGresult *r = db_run(db, sql, n, param, err);

	if (!r || (PQntuples(r) == 1 && PQnfields(r) == columns))
		return r;
	PQclear(r);
	other_form(err);
	return NULL;
}

int db_do(struct db *db, const char *sql, struct err *err)
{
	err->kind = ERR_NONE;
	if (!PQsendQuery(db->conn, sql))
		return set_line(err, "connection", PQerrorMessage(db->conn));
	PGresult *r = unless_failed(db, result_of(db, err), err);
	if (!r)
		return -1;
	PQclear(r);
	return 0;
}

bool db_is_free(const struct db *db)
{
	return PQstatus(db->conn) == CONNECTION_OK &&
	       PQtransactionStatus(db->conn) == PQTRANS_IDLE;
}

const char *db_channel(const struct db *db)
{
	socklen_t n = sizeof(int);
	int domain = -1;

	/* what the conninfo says is not what it is: hostaddr is where it goes */
	(void)getsockopt(PQsocket(db->conn), SOL_SOCKET, SO_DOMAIN, &domain, &n);
	return PQsslInUse(db->conn) ? "TLS" : domain == AF_UNIX ? "a local socket" : "no TLS";
}

int64_t db_number(const PGresult *r, int row, int column, int64_t most)
{
	const char *text = PQgetvalue(r, row, column);
	char *end;

	if (PQgetisnull(r, row, column) || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	return errno || *end || v > most ? -1 : v;
}
