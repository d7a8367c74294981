/* exchange.c - a machine's evidence to the fleet's database, and the fleet's back
 *
 * Each piece is given in a transaction of its own: when the connection breaks, or the time is
 * over, what was given before stays given, and is told.  What is taken was made by a server
 * that may lie or be broken: a row that is not of a file that was asked for, or whose arrays
 * are wrong, is left out and counted.
 *
 * Tested by tests/e2e/share.sh.
 */
#include "share/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "share/arrays.h"
#include "share/db.h"
#include "share/schema.h"

enum { TAKE_AT_ONCE = 64, HEX = 3 + 64, NUMBER = 24 };

static void hex_of(const uint8_t *p, size_t n, char out[HEX])
{
	strcpy(out, "\\x");
	for (size_t i = 0; i < n; i++)
		(void)sprintf(out + 2 + 2 * i, "%02x", p[i]);	/* 32 bytes at most */
}

static bool digest_from(const char *text, struct digest *out)
{
	unsigned v;

	if (strncmp(text, "\\x", 2) != 0 || strlen(text) != 2 + 2 * sizeof(out->b) ||
	    strspn(text + 2, "0123456789abcdef") != 2 * sizeof(out->b))
		return false;
	for (size_t i = 0; i < sizeof(out->b); i++) {
		(void)sscanf(text + 2 + 2 * i, "%2x", &v);	/* the digits are there */
		out->b[i] = (uint8_t)v;
	}
	return true;
}

/* --- giving --- */

static int read_told(const char *word, enum fleet_told *told, char said[160], struct err *err)
{
	said[0] = '\0';
	*told = FLEET_TAKEN;
	if (strcmp(word, "taken") == 0)
		return 0;
	*told = FLEET_KNOWN;
	if (strcmp(word, "known") == 0)
		return 0;
	*told = FLEET_REFUSED;
	if (strncmp(word, "refused: ", 9) != 0)
		return err_set(err, ERR_INPUT, "the server answers in another form than was "
			       "asked for");
	(void)snprintf(said, 160, "%s", word + 9);
	return 0;
}

int exchange_give(struct db *db, const struct fleet_request *q,
		  const struct fleet_evidence *e, enum fleet_told *told, char said[160],
		  struct err *err)
{
	char digest[HEX], machine[HEX], kind[NUMBER], epoch[NUMBER], sequence[NUMBER];
	const char *param[6 + ARRAYS] = { digest, kind, q->class, epoch, machine, sequence };
	struct arena *a = arena_new();

	hex_of(e->digest.b, sizeof(e->digest.b), digest);
	hex_of(q->machine, sizeof(q->machine), machine);
	(void)snprintf(kind, sizeof(kind), "%d", (int)e->kind);
	(void)snprintf(epoch, sizeof(epoch), "%" PRIu32, e->epoch);
	(void)snprintf(sequence, sizeof(sequence), "%" PRIu64, e->sequence);
	arrays_write(e, a, param + 6);
	PGresult *r = db_row(db, "SELECT morph.give($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
				 "$11, $12, $13, $14, $15)", 6 + ARRAYS, param, 1, err);
	arena_free(a);
	int rc = r ? read_told(PQgetvalue(r, 0, 0), told, said, err) : -1;
	PQclear(r);
	return rc;
}

static int give_all(struct db *db, const struct fleet_request *q, struct fleet_answer *out,
		    char refused[160], struct err *err)
{
	char said[160];

	for (uint32_t i = 0; i < q->ngive; i++) {
		enum fleet_told told = FLEET_REFUSED;

		if (exchange_give(db, q, &q->give[i], &told, said, err) < 0)
			return err_wrap(err, "giving");
		if (told == FLEET_REFUSED && !refused[0])
			memcpy(refused, said, 160);
		out->told[out->ntold++] = (struct fleet_answer_told){ i, told };
	}
	return 0;
}

/* --- taking --- */

static bool is_wanted(const struct fleet_request *q, const struct digest *d)
{
	for (uint32_t i = 0; i < q->nwant; i++)
		if (digest_equal(&q->want[i], d))
			return true;
	return false;
}

/* digest, kind, epoch, contributors, arrays; false: it is left out. */
static bool take_row(const PGresult *r, int row, const struct fleet_request *q,
		     const struct schema_hello *hello, struct arena *a,
		     struct fleet_evidence *out)
{
	const char *text[ARRAYS];
	struct err untold;
	int64_t kind = db_number(r, row, 1, FLEET_EXECUTIONS);
	int64_t epoch = db_number(r, row, 2, hello->epoch);
	int64_t contributors = db_number(r, row, 3, UINT32_MAX);
	char *end, *factor_text = PQgetvalue(r, row, 4);
	double factor = strtod(factor_text, &end);

	for (int i = 0; i < ARRAYS; i++) {
		text[i] = PQgetvalue(r, row, 5 + i);
		if (PQgetisnull(r, row, 5 + i))
			return false;
	}
	*out = (struct fleet_evidence){ .kind = (enum fleet_kind)kind, .sequence = 1,
					.epoch = (uint32_t)epoch,
					.contributors = (uint32_t)contributors };
	return kind >= 0 && epoch >= 0 && contributors >= 1 && *factor_text && !*end &&
	       factor > 0 && factor <= 1 && digest_from(PQgetvalue(r, row, 0), &out->digest) &&
	       is_wanted(q, &out->digest) && arrays_read(text, factor, a, out, &untold) == 0;
}

static const char taking[] =
	"SELECT digest, kind, epoch, contributors, morph.fading(epoch), block, count, "
	"edge_from, edge_to, edge_count, call_block, call_at, call_target, call_count "
	"FROM morph.take($1::bytea[], $2)";

static int take_some(struct db *db, const struct fleet_request *q, uint32_t from,
		     const struct schema_hello *hello, struct arena *a,
		     struct fleet_answer *out, struct err *err)
{
	char list[TAKE_AT_ONCE * (HEX + 4) + 3], hex[HEX], *at = list;
	const char *param[] = { list, q->class };

	*at++ = '{';
	for (uint32_t i = from; i < q->nwant && i < from + TAKE_AT_ONCE; i++) {
		hex_of(q->want[i].b, sizeof(q->want[i].b), hex);
		at += sprintf(at, "%s\"\\%s\"", i > from ? "," : "", hex);	/* has room */
	}
	strcpy(at, "}");
	PGresult *r = db_run(db, taking, 2, param, err);
	if (!r)
		return err_wrap(err, "taking");
	int n = PQntuples(r);
	if (PQnfields(r) != 5 + ARRAYS)
		n = 0, out->left_out++;
	for (int i = 0; i < n; i++) {
		struct fleet_evidence e;

		if (out->nfleet < FLEET_FILES && i < 2 * TAKE_AT_ONCE &&
		    take_row(r, i, q, hello, a, &e))
			out->fleet[out->nfleet++] = e;
		else
			out->left_out++;
	}
	PQclear(r);
	return 0;
}

int exchange(struct db *db, const struct fleet_request *q, struct arena *a,
	     struct fleet_answer *out, struct err *err)
{
	const char *most[] = { "16" };
	struct schema_hello hello;
	char refused[160] = "";

	*out = (struct fleet_answer){ 0 };
	out->told = arena_alloc(a, sizeof(*out->told) * (q->ngive + (size_t)1));
	out->fleet = arena_alloc(a, sizeof(*out->fleet) * (FLEET_FILES + (size_t)1));
	if (schema_hello(db, &hello, err) < 0 || give_all(db, q, out, refused, err) < 0)
		return -1;
	if (q->ngive)
		PQclear(db_run(db, "SELECT morph.merge($1)", 1, most, err));	/* or others */
	for (uint32_t i = 0; i < q->nwant; i += TAKE_AT_ONCE)
		if (take_some(db, q, i, &hello, a, out, err) < 0)
			return -1;
	return refused[0] ? err_set(err, ERR_REFUSED, "the server refuses: %s", refused) : 0;
}
