/* fleetfile.c - writes and reads the files between the Manager and morph-share
 *
 * Tested by tests/unit/lib/test_fleetfile.c and tests/fuzz/fuzz_fleetfile.c.
 */
#include "lib/fleetfile.h"

#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/rd.h"

enum { BLOCK_BYTES = 12, EDGE_BYTES = 16, CALL_BYTES = 20, EVIDENCE_LEAST = 61 };

static const char request_magic[8] = { 'M', 'O', 'R', 'P', 'H', 'F', 'R', 'Q' };
static const char answer_magic[8] = { 'M', 'O', 'R', 'P', 'H', 'F', 'A', 'N' };

bool fleet_class_is_good(const char *class)
{
	size_t n = strlen(class);

	return n <= FLEET_CLASS_MAX &&
	       strspn(class, "abcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* --- ranges and order --- */

static bool good_count(uint64_t count)
{
	return count >= 1 && count <= FLEET_COUNT_MAX;
}

static int order(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static bool good_blocks(const struct fleet_evidence *e)
{
	for (uint32_t i = 0; i < e->nblock; i++)
		if (!good_count(e->block[i].count) ||
		    (i && e->block[i - 1].block >= e->block[i].block))
			return false;
	return true;
}

static bool good_edges(const struct fleet_evidence *e)
{
	for (uint32_t i = 0; i < e->nedge; i++) {
		const struct fleet_edge *n = &e->edge[i], *p = n - 1;

		if (!good_count(n->count))
			return false;
		int way = i ? order(p->from, n->from) : -1;
		if (way > 0 || (way == 0 && p->to >= n->to))
			return false;
	}
	return true;
}

static bool good_calls(const struct fleet_evidence *e)
{
	for (uint32_t i = 0; i < e->ncall; i++) {
		const struct fleet_call *n = &e->call[i], *p = n - 1;

		if (!good_count(n->count))
			return false;
		int way = i ? order(p->block, n->block) : -1;
		if (way == 0)
			way = order(p->at, n->at);
		if (way > 0 || (way == 0 && p->target >= n->target))
			return false;
	}
	return true;
}

bool fleet_evidence_is_good(const struct fleet_evidence *e, const char **why)
{
	*why = e->nblock > FLEET_MANY || e->nedge > FLEET_MANY || e->ncall > FLEET_MANY
		       ? "too many counts"
	       : !e->nblock	 ? "no counts"
	       : !good_blocks(e) ? "blocks out of order, or a count that cannot be"
	       : !good_edges(e)	 ? "edges out of order, or a count that cannot be"
	       : !good_calls(e)	 ? "calls out of order, or a count that cannot be"
				 : NULL;
	return !*why;
}

size_t fleet_evidence_bytes(const struct fleet_evidence *e)
{
	return EVIDENCE_LEAST + BLOCK_BYTES * (size_t)e->nblock +
	       EDGE_BYTES * (size_t)e->nedge + CALL_BYTES * (size_t)e->ncall;
}

/* --- evidence --- */

static void write_evidence(const struct fleet_evidence *e, struct wr *out)
{
	wr_raw(out, e->digest.b, sizeof(e->digest.b));
	wr_u8(out, (uint8_t)e->kind);
	wr_u32(out, e->epoch);
	wr_u64(out, e->sequence);
	wr_u32(out, e->contributors);
	wr_u32(out, e->nblock);
	wr_u32(out, e->nedge);
	wr_u32(out, e->ncall);
	for (uint32_t i = 0; i < e->nblock; i++) {
		wr_u32(out, e->block[i].block);
		wr_u64(out, e->block[i].count);
	}
	for (uint32_t i = 0; i < e->nedge; i++) {
		wr_u32(out, e->edge[i].from);
		wr_u32(out, e->edge[i].to);
		wr_u64(out, e->edge[i].count);
	}
	for (uint32_t i = 0; i < e->ncall; i++) {
		wr_u32(out, e->call[i].block);
		wr_u32(out, e->call[i].at);
		wr_u32(out, e->call[i].target);
		wr_u64(out, e->call[i].count);
	}
}

static bool read_digest(struct rd *r, struct digest *out)
{
	const uint8_t *p = rd_skip(r, sizeof(out->b));

	if (p)
		memcpy(out->b, p, sizeof(out->b));
	return p != NULL;
}

static void read_arrays(struct rd *r, struct arena *a, struct fleet_evidence *e)
{
	e->block = arena_alloc(a, sizeof(*e->block) * (e->nblock + (size_t)1));
	e->edge = arena_alloc(a, sizeof(*e->edge) * (e->nedge + (size_t)1));
	e->call = arena_alloc(a, sizeof(*e->call) * (e->ncall + (size_t)1));
	for (uint32_t i = 0; i < e->nblock; i++) {
		e->block[i].block = rd_u32(r);
		e->block[i].count = rd_u64(r);
	}
	for (uint32_t i = 0; i < e->nedge; i++) {
		e->edge[i].from = rd_u32(r);
		e->edge[i].to = rd_u32(r);
		e->edge[i].count = rd_u64(r);
	}
	for (uint32_t i = 0; i < e->ncall; i++) {
		e->call[i].block = rd_u32(r);
		e->call[i].at = rd_u32(r);
		e->call[i].target = rd_u32(r);
		e->call[i].count = rd_u64(r);
	}
}

static int read_evidence(struct rd *r, struct arena *a, struct fleet_evidence *e,
			 struct err *err)
{
	const char *why;

	(void)read_digest(r, &e->digest);
	uint8_t kind = rd_u8(r);
	e->kind = (enum fleet_kind)kind;
	e->epoch = rd_u32(r);
	e->sequence = rd_u64(r);
	e->contributors = rd_u32(r);
	e->nblock = rd_u32(r);
	e->nedge = rd_u32(r);
	e->ncall = rd_u32(r);
	/* No room is made for more than the file can hold. */
	if (r->bad || kind > FLEET_EXECUTIONS ||
	    (uint64_t)e->nblock * BLOCK_BYTES + (uint64_t)e->nedge * EDGE_BYTES +
		    (uint64_t)e->ncall * CALL_BYTES > rd_left(r))
		return err_set(err, ERR_INPUT, "cut short, or of an unknown kind");
	read_arrays(r, a, e);
	if (!fleet_evidence_is_good(e, &why))
		return err_set(err, ERR_INPUT, "%s", why);
	return 0;
}

static int read_all_evidence(struct rd *r, struct arena *a, uint32_t *n,
			     struct fleet_evidence **out, struct err *err)
{
	*n = rd_u32(r);
	if (r->bad || *n > FLEET_FILES || (uint64_t)*n * EVIDENCE_LEAST > rd_left(r))
		return err_set(err, ERR_INPUT, "cut short, or too much");
	*out = arena_alloc(a, sizeof(**out) * (*n + (size_t)1));
	for (uint32_t i = 0; i < *n; i++)
		if (read_evidence(r, a, &(*out)[i], err) < 0)
			return err_wrap(err, "evidence %u", i);
	return 0;
}

static int read_head(struct rd *r, const char magic[8], struct err *err)
{
	const uint8_t *p = rd_skip(r, 8);

	if (!p || memcmp(p, magic, 8) != 0 || rd_u32(r) != FLEETFILE_VERSION || r->bad)
		return err_set(err, ERR_INPUT, "not such a file, or of another version");
	return 0;
}

/* --- the request --- */

void fleet_request_write(const struct fleet_request *q, struct wr *out)
{
	size_t n = strlen(q->class);

	wr_raw(out, request_magic, sizeof(request_magic));
	wr_u32(out, FLEETFILE_VERSION);
	wr_u8(out, (uint8_t)n);
	wr_raw(out, q->class, n);
	wr_raw(out, q->machine, sizeof(q->machine));
	wr_u32(out, q->ngive);
	for (uint32_t i = 0; i < q->ngive; i++)
		write_evidence(&q->give[i], out);
	wr_u32(out, q->nwant);
	for (uint32_t i = 0; i < q->nwant; i++)
		wr_raw(out, q->want[i].b, sizeof(q->want[i].b));
}

static int read_who(struct rd *r, struct fleet_request *q, struct err *err)
{
	uint8_t n = rd_u8(r);
	const uint8_t *class = n <= FLEET_CLASS_MAX ? rd_skip(r, n) : NULL;
	const uint8_t *machine = class ? rd_skip(r, FLEET_MACHINE) : NULL;

	if (!machine)
		return err_set(err, ERR_INPUT, "cut short");
	memcpy(q->class, class, n);
	q->class[n] = '\0';
	memcpy(q->machine, machine, FLEET_MACHINE);
	if (strlen(q->class) != n || !fleet_class_is_good(q->class))
		return err_set(err, ERR_INPUT, "a class that cannot be");
	return 0;
}

int fleet_request_read(struct bytes b, struct arena *a, struct fleet_request *out,
		       struct err *err)
{
	struct fleet_request q = { 0 };
	struct rd r = rd_of(b);

	if (read_head(&r, request_magic, err) < 0 || read_who(&r, &q, err) < 0 ||
	    read_all_evidence(&r, a, &q.ngive, &q.give, err) < 0)
		return err_wrap(err, "request");
	q.nwant = rd_u32(&r);
	if (r.bad || q.nwant > FLEET_FILES || (uint64_t)q.nwant * 32 != rd_left(&r))
		return err_set(err, ERR_INPUT, "request: cut short, or too long");
	q.want = arena_alloc(a, sizeof(*q.want) * (q.nwant + (size_t)1));
	for (uint32_t i = 0; i < q.nwant; i++)
		(void)read_digest(&r, &q.want[i]);
	*out = q;
	return 0;
}

/* --- the answer --- */

void fleet_answer_write(const struct fleet_answer *q, struct wr *out)
{
	wr_raw(out, answer_magic, sizeof(answer_magic));
	wr_u32(out, FLEETFILE_VERSION);
	wr_u32(out, q->ntold);
	for (uint32_t i = 0; i < q->ntold; i++) {
		wr_u32(out, q->told[i].index);
		wr_u8(out, (uint8_t)q->told[i].told);
	}
	wr_u32(out, q->left_out);
	wr_u32(out, q->nfleet);
	for (uint32_t i = 0; i < q->nfleet; i++)
		write_evidence(&q->fleet[i], out);
}

int fleet_answer_read(struct bytes b, struct arena *a, struct fleet_answer *out,
		      struct err *err)
{
	struct fleet_answer q = { 0 };
	struct rd r = rd_of(b);

	if (read_head(&r, answer_magic, err) < 0)
		return err_wrap(err, "answer");
	q.ntold = rd_u32(&r);
	if (r.bad || q.ntold > FLEET_FILES || (uint64_t)q.ntold * 5 > rd_left(&r))
		return err_set(err, ERR_INPUT, "answer: cut short, or too much");
	q.told = arena_alloc(a, sizeof(*q.told) * (q.ntold + (size_t)1));
	for (uint32_t i = 0; i < q.ntold; i++) {
		q.told[i].index = rd_u32(&r);
		q.told[i].told = (enum fleet_told)rd_u8(&r);
		if (q.told[i].told > FLEET_REFUSED)
			return err_set(err, ERR_INPUT, "answer: an outcome that cannot be");
	}
	q.left_out = rd_u32(&r);
	if (read_all_evidence(&r, a, &q.nfleet, &q.fleet, err) < 0)
		return err_wrap(err, "answer");
	if (r.bad || rd_left(&r))
		return err_set(err, ERR_INPUT, "answer: too long");
	*out = q;
	return 0;
}
