/* exchange.c - a machine's evidence to the fleet's database, and the fleet's back
 *
 * Each piece is given in a transaction of its own: when the connection breaks, or the time is
 * over, what was given before stays given, and is told.  What is taken was made by a server
 * that may lie or be broken: a row that is not of a file that was asked for, whose arrays are
 * wrong, or for which there is no room, is left out and counted.  Merging comes last: it may
 * take longer than there is time.
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

enum {
	TAKE_AT_ONCE = 64, HEX = 3 + 64, NUMBER = 24,
	ROW_MAX = 32 << 20,		/* bytes of a row's arrays as text */
	TAKEN_MAX = FLEET_FILE_MAX / 2,	/* bytes of what is taken, in the answer */
	MERGES = 16, FAILURES = 3, MERGE_MS = 120000,	/* db.c: a statement ends after 60000 */
};

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

struct taking {
	const struct fleet_request *q;
	const struct schema_hello *hello;
	struct arena *a;
	struct fleet_answer *out;
	size_t bytes;
};

/* digest, kind, epoch, contributors, arrays; false: it is left out. */
static bool read_row(const PGresult *r, const struct taking *t, struct arena *a,
		     struct fleet_evidence *out)
{
	const char *text[ARRAYS];
	struct err untold;
	size_t bytes = 0;

	if (PQntuples(r) != 1 || PQnfields(r) != 5 + ARRAYS)
		return false;
	for (int i = 0; i < ARRAYS; i++) {
		text[i] = PQgetvalue(r, 0, 5 + i);
		bytes += (size_t)PQgetlength(r, 0, 5 + i);
		if (PQgetisnull(r, 0, 5 + i))
			return false;
	}
	int64_t kind = db_number(r, 0, 1, FLEET_EXECUTIONS);
	int64_t epoch = db_number(r, 0, 2, t->hello->epoch);
	int64_t contributors = db_number(r, 0, 3, UINT32_MAX);
	char *end, *factor_text = PQgetvalue(r, 0, 4);
	double factor = strtod(factor_text, &end);
	*out = (struct fleet_evidence){ .kind = (enum fleet_kind)kind, .sequence = 1,
					.epoch = (uint32_t)epoch,
					.contributors = (uint32_t)contributors };
	return bytes <= ROW_MAX && kind >= 0 && epoch >= 0 && contributors >= 1 &&
	       *factor_text && !*end && factor > 0 && factor <= 1 &&
	       digest_from(PQgetvalue(r, 0, 0), &out->digest) &&
	       is_wanted(t->q, &out->digest) && arrays_read(text, factor, a, out, &untold) == 0;
}

static void *copy_of(struct arena *a, const void *p, size_t bytes)
{
	return memcpy(arena_alloc(a, bytes + 1), p, bytes);
}

static void take_row(void *ctx, const PGresult *r)
{
	struct taking *t = ctx;
	struct arena *a = arena_new();	/* for what is read of a row */
	struct fleet_evidence e;

	bool good = t->out->nfleet < FLEET_FILES && read_row(r, t, a, &e);
	if (good)
		t->bytes += fleet_evidence_bytes(&e);
	if (good && t->bytes <= TAKEN_MAX) {
		e.block = copy_of(t->a, e.block, sizeof(*e.block) * e.nblock);
		e.edge = copy_of(t->a, e.edge, sizeof(*e.edge) * e.nedge);
		e.call = copy_of(t->a, e.call, sizeof(*e.call) * e.ncall);
		t->out->fleet[t->out->nfleet++] = e;
	} else {
		t->out->left_out++;
	}
	arena_free(a);
}

static const char taking[] =
	"SELECT digest, kind, epoch, contributors, morph.fading(epoch), block, count, "
	"edge_from, edge_to, edge_count, call_block, call_at, call_target, call_count "
	"FROM morph.take($1::bytea[], $2)";

static int take_some(struct db *db, struct taking *t, uint32_t from, struct err *err)
{
	char list[TAKE_AT_ONCE * (HEX + 4) + 3], hex[HEX], *at = list;
	const struct fleet_request *q = t->q;
	const char *param[] = { list, q->class };

	*at++ = '{';
	for (uint32_t i = from; i < q->nwant && i < from + TAKE_AT_ONCE; i++) {
		hex_of(q->want[i].b, sizeof(q->want[i].b), hex);
		at += sprintf(at, "%s\"\\%s\"", i > from ? "," : "", hex);	/* fits */
	}
	strcpy(at, "}");
	if (db_each(db, taking, 2, param, take_row, t, err) < 0)
		return err_wrap(err, "taking");
	return 0;
}

/* Of what this login gave what is due, each in a transaction of its own: one that takes too
 * long, or fails, stops no other.  The first failure is told. */
static int merge_some(struct db *db, struct err *err)
{
	uint64_t end = db_now_ms() + MERGE_MS;
	struct err untold;
	int failed = 0;

	for (int i = 0; i < MERGES && failed < FAILURES && db_now_ms() < end; i++) {
		PGresult *r = db_row(db, "SELECT morph.merge(1)", 0, NULL, 1,
				     failed ? &untold : err);

		if (!r) {
			failed++;
			if (!db_is_free(db))
				break;
			continue;
		}
		int64_t done = db_number(r, 0, 0, 1);
		PQclear(r);
		if (done <= 0)
			break;
	}
	return failed ? err_wrap(err, "merging") : 0;
}

int exchange(struct db *db, const struct fleet_request *q, struct arena *a,
	     struct fleet_answer *out, struct err *err)
{
	struct schema_hello hello;
	struct taking t = { .q = q, .hello = &hello, .a = a, .out = out };
	char refused[160] = "";

	*out = (struct fleet_answer){ 0 };
	out->told = arena_alloc(a, sizeof(*out->told) * (q->ngive + (size_t)1));
	out->fleet = arena_alloc(a, sizeof(*out->fleet) * (FLEET_FILES + (size_t)1));
	if (schema_hello(db, &hello, err) < 0 || give_all(db, q, out, refused, err) < 0)
		return -1;
	for (uint32_t i = 0; i < q->nwant; i += TAKE_AT_ONCE)
		if (take_some(db, &t, i, err) < 0)
			return -1;
	if (q->ngive && merge_some(db, err) < 0)
		err->kind = ERR_REFUSED;	/* all else is done */
	else if (!refused[0])
		return 0;
	return refused[0] ? err_set(err, ERR_REFUSED, "the server refuses: %s", refused) : -1;
}
