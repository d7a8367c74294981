/* codenames.c - names of code that a program has made at run time; see codenames.h
 *
 * Pieces of code are given to the places they cover from the file's last one on: a place that
 * has its name is passed by, so that a file of millions of pieces on top of each other takes no
 * longer than its length, and of pieces that cover none nothing is kept.
 *
 * Tested by tests/unit/editor/exchange/test_codenames.c.
 */
#include "editor/exchange/codenames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/search.h"
#include "lib/utf8.h"

enum { NAME_MAX_BYTES = 512 };		/* chosen; what is longer is cut */
enum { JITDUMP_HEADER = 40, RECORD_HEADER = 16, CODE_LOAD = 0 };
#define JITDUMP_MAGIC 0x4a695444u

struct code {				/* that covers a place */
	struct bytes name;
	uint32_t number;		/* in the answer, from 1; 0: not written yet */
};

struct place {
	uint64_t addr;
	uint32_t line;			/* its place in the answer */
	uint32_t next;			/* the first from it on that has no name yet */
	struct code *code;		/* that it is in; NULL: none */
};

struct names {
	struct arena *arena;
	VEC(struct place) place;	/* by address until all have been given */
};

/* --- places --- */

static bool hex(struct rd *r, uint64_t *out)
{
	const uint8_t *from;
	uint64_t v = 0;

	if (rd_left(r) > 2 && r->p[0] == '0' && (r->p[1] == 'x' || r->p[1] == 'X'))
		r->p += 2;
	for (from = r->p; r->p < r->end && r->p - from <= 16; r->p++) {
		const char *digits = "0123456789abcdefABCDEF", *d = memchr(digits, *r->p, 22);
		uint64_t digit = d ? (uint64_t)(d - digits) : 0;

		if (!d)
			break;
		v = v << 4 | (digit > 15 ? digit - 6 : digit);
	}
	*out = v;
	return r->p > from && r->p - from <= 16;
}

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_line(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int read_places(struct names *n, struct bytes text, struct err *err)
{
	struct rd r = rd_of(text);

	while (rd_left(&r)) {
		struct place p = { .line = n->place.n };

		if (!hex(&r, &p.addr) || rd_u8(&r) != '\n')
			return err_set(err, ERR_INPUT, "malformed places");
		vec_push(n->arena, &n->place, p);
	}
	return 0;
}

/* The first from `i` on without a name; each look halves the way of the next one. */
static uint32_t open_from(struct names *n, uint32_t i)
{
	struct place *p = n->place.v;

	while (i < n->place.n && p[i].next != i) {
		uint32_t to = p[i].next;

		if (to < n->place.n)
			p[i].next = p[to].next;
		i = p[i].next;
	}
	return i;
}

/* To places that have none: what comes later in the file came first. */
static void give(struct names *n, uint64_t start, uint64_t size, struct bytes name)
{
	const uint8_t *nul = name.n ? memchr(name.p, 0, name.n) : NULL;
	struct place *p = n->place.v;
	struct code *code = NULL;

	if (nul)
		name.n = (uint64_t)(nul - name.p);
	if (name.n > NAME_MAX_BYTES)
		name.n = NAME_MAX_BYTES;
	if (!name.n || !size || size > UINT64_MAX - start)
		return;
	uint32_t i = search_first(m, 0, n->place.n, p[m].addr < start);
	for (i = open_from(n, i); i < n->place.n && p[i].addr - start < size;
	     i = open_from(n, i)) {
		if (!code) {
			code = arena_alloc(n->arena, sizeof(*code));
			*code = (struct code){ .name = name };
		}
		p[i].code = code;
		p[i].next = i + 1;
	}
}

/* --- perf's map --- */

static bool blank(struct rd *r)
{
	const uint8_t *from = r->p;

	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
	return r->p > from;
}

/* A line that is none is passed by: a program that is just writing leaves half a line. */
static void read_map(struct names *n, struct bytes file)
{
	for (uint64_t end = file.n; end; ) {
		const uint8_t *nl = memrchr(file.p, '\n', end - 1);
		uint64_t at = nl ? (uint64_t)(nl - file.p) + 1 : 0, start, size;
		struct rd r = rd_of((struct bytes){ file.p + at, end - at });

		if (end > at && r.end[-1] == '\n')
			r.end--;
		if (hex(&r, &start) && blank(&r) && hex(&r, &size) && blank(&r))
			give(n, start, size, (struct bytes){ r.p, rd_left(&r) });
		end = at;
	}
}

/* --- jitdump --- */

static void read_load(struct names *n, struct rd *r)
{
	(void)rd_skip(r, 16);		/* pid, tid, vma */
	uint64_t start = rd_u64(r), size = rd_u64(r);
	(void)rd_u64(r);		/* index */
	if (!r->bad)
		give(n, start, size, (struct bytes){ r->p, rd_left(r) });
}

/* What follows a record that is cut off, as one that is just written is, is not looked at. */
static int read_dump(struct names *n, struct bytes file, struct err *err)
{
	struct rd r = rd_of(file);
	VEC(struct bytes) load = { 0 };

	(void)rd_skip(&r, 8);		/* magic, version */
	uint32_t header = rd_u32(&r);
	if (r.bad || header < JITDUMP_HEADER || header > file.n)
		return err_set(err, ERR_INPUT, "a jitdump with a header of %u bytes", header);
	for (uint64_t at = header; file.n - at >= RECORD_HEADER; ) {
		struct rd h = rd_of(bytes_at(file, at, RECORD_HEADER));
		uint32_t id = rd_u32(&h), size = rd_u32(&h);
		struct bytes record = bytes_at(file, at, size);

		if (size < RECORD_HEADER || !record.p)
			break;
		if (id == CODE_LOAD)
			vec_push(n->arena, &load, bytes_at(record, RECORD_HEADER,
							   size - RECORD_HEADER));
		at += size;
	}
	while (load.n) {
		struct rd body = rd_of(load.v[--load.n]);

		read_load(n, &body);
	}
	return 0;
}

/* --- the answer --- */

static void put_name(struct names *n, const struct code *c, struct wr *out)
{
	char *text = arena_printf(n->arena, "%.*s", (int)c->name.n, (const char *)c->name.p);
	char *shown = utf8_escaped(text);

	wr_text(out, shown);
	free(shown);
}

static void answer(struct names *n, struct wr *out)
{
	uint32_t nfunction = 0;

	for (uint32_t i = 0; i < n->place.n; i++) {
		struct code *c = n->place.v[i].code;

		if (!c) {
			wr_text(out, "place\t0x0\t0x0\t-\n");
			continue;
		}
		if (!c->number) {
			c->number = ++nfunction;
			wr_text(out, "function\t0x0\t0\t");
			put_name(n, c, out);
			wr_text(out, "\n");
		}
		wr_text(out, "frame\t0\t\t");
		put_name(n, c, out);
		wr_text(out, arena_printf(n->arena, "\nplace\t0x0\t0x0\t%u\n", c->number - 1));
	}
}

int codenames_resolve(struct bytes file, struct bytes places, struct arena *a, struct wr *out,
		      struct err *err)
{
	struct names n = { .arena = a };
	struct rd magic = rd_of(file);
	bool dump = rd_u32(&magic) == JITDUMP_MAGIC && !magic.bad;

	if (read_places(&n, places, err) < 0)
		return -1;
	if (n.place.n)
		qsort(n.place.v, n.place.n, sizeof(*n.place.v), by_address);
	for (uint32_t i = 0; i < n.place.n; i++)
		n.place.v[i].next = i;
	if (dump && read_dump(&n, file, err) < 0)
		return -1;
	if (!dump)
		read_map(&n, file);
	if (n.place.n)
		qsort(n.place.v, n.place.n, sizeof(*n.place.v), by_line);
	answer(&n, out);
	return 0;
}
