/* arrays.c - evidence as arrays in the text form of PostgreSQL, "{1,2,3}", and back
 *
 * Tested by tests/unit/share/test_arrays.c.
 */
#include "share/arrays.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"

/* --- to text --- */

enum { DIGITS = 21 };

static char *begin(struct arena *a, uint32_t n)
{
	char *p = arena_alloc(a, (size_t)n * DIGITS + 3);

	p[0] = '{';
	p[1] = '\0';
	return p;
}

static char *put(char *p, bool first, uint64_t v)
{
	return p + sprintf(p, "%s%" PRIu64, first ? "" : ",", v);	/* DIGITS hold it */
}

#define WRITE(out, array, n, field)						\
	do {									\
		char *p_ = begin(a, n), *at_ = p_ + 1;				\
										\
		for (uint32_t i_ = 0; i_ < (n); i_++)				\
			at_ = put(at_, i_ == 0, (array)[i_].field);		\
		strcpy(at_, "}");						\
		(out) = p_;							\
	} while (0)

void arrays_write(const struct fleet_evidence *e, struct arena *a, const char *text[ARRAYS])
{
	WRITE(text[0], e->block, e->nblock, block);
	WRITE(text[1], e->block, e->nblock, count);
	WRITE(text[2], e->edge, e->nedge, from);
	WRITE(text[3], e->edge, e->nedge, to);
	WRITE(text[4], e->edge, e->nedge, count);
	WRITE(text[5], e->call, e->ncall, block);
	WRITE(text[6], e->call, e->ncall, at);
	WRITE(text[7], e->call, e->ncall, target);
	WRITE(text[8], e->call, e->ncall, count);
}

/* --- from text --- */

struct numbers {
	uint32_t n;
	uint64_t *v;
};

static bool read_number(const char **p, uint64_t *out)
{
	uint64_t v = 0;
	const char *c = *p;

	if (*c < '0' || *c > '9')
		return false;
	for (; *c >= '0' && *c <= '9'; c++) {
		if (v > FLEET_COUNT_MAX)
			return false;
		v = 10 * v + (uint64_t)(*c - '0');
	}
	*p = c;
	*out = v;
	return true;
}

static bool read_numbers(const char *text, bool counts, struct arena *a, struct numbers *out)
{
	uint64_t most = counts ? FLEET_COUNT_MAX : INT32_MAX;
	size_t n = 1;

	for (const char *c = text; *c; c++)
		n += *c == ',';
	if (text[0] != '{' || n > FLEET_MANY)
		return false;
	out->n = 0;
	out->v = arena_alloc(a, sizeof(*out->v) * n);
	if (strcmp(text, "{}") == 0)
		return true;
	do {
		text++;
		if (!read_number(&text, &out->v[out->n]) || out->v[out->n] > most ||
		    out->v[out->n] < counts)
			return false;
		out->n++;
	} while (*text == ',');
	return strcmp(text, "}") == 0;
}

/* Samples that become none are none; what was executed still was. */
static uint64_t scaled(uint64_t count, double factor, enum fleet_kind kind)
{
	uint64_t v = (uint64_t)((double)count * factor);

	return factor >= 1 ? count : v || kind == FLEET_SAMPLES ? v : 1;
}

static void fill(const struct numbers n[ARRAYS], double factor, struct arena *a,
		 struct fleet_evidence *e)
{
	enum fleet_kind k = e->kind;

	e->nblock = e->nedge = e->ncall = 0;
	e->block = arena_alloc(a, sizeof(*e->block) * (n[0].n + (size_t)1));
	e->edge = arena_alloc(a, sizeof(*e->edge) * (n[2].n + (size_t)1));
	e->call = arena_alloc(a, sizeof(*e->call) * (n[5].n + (size_t)1));
	for (uint32_t i = 0; i < n[0].n; i++) {
		e->block[e->nblock] = (struct fleet_block){ (uint32_t)n[0].v[i],
							    scaled(n[1].v[i], factor, k) };
		e->nblock += e->block[e->nblock].count > 0;
	}
	for (uint32_t i = 0; i < n[2].n; i++) {
		e->edge[e->nedge] = (struct fleet_edge){ (uint32_t)n[2].v[i],
							 (uint32_t)n[3].v[i],
							 scaled(n[4].v[i], factor, k) };
		e->nedge += e->edge[e->nedge].count > 0;
	}
	for (uint32_t i = 0; i < n[5].n; i++) {
		e->call[e->ncall] = (struct fleet_call){ (uint32_t)n[5].v[i],
							 (uint32_t)n[6].v[i],
							 (uint32_t)n[7].v[i],
							 scaled(n[8].v[i], factor, k) };
		e->ncall += e->call[e->ncall].count > 0;
	}
}

int arrays_read(const char *const text[ARRAYS], double factor, struct arena *a,
		struct fleet_evidence *e, struct err *err)
{
	static const bool counts[ARRAYS] = { [1] = true, [4] = true, [8] = true };
	struct numbers n[ARRAYS];
	const char *why;

	for (int i = 0; i < ARRAYS; i++)
		if (!read_numbers(text[i], counts[i], a, &n[i]))
			return err_set(err, ERR_INPUT, "array %d is none", i);
	if (n[0].n != n[1].n || n[2].n != n[3].n || n[2].n != n[4].n || n[5].n != n[6].n ||
	    n[5].n != n[7].n || n[5].n != n[8].n)
		return err_set(err, ERR_INPUT, "arrays of different lengths");
	fill(n, factor, a, e);
	return fleet_evidence_is_good(e, &why) ? 0 : err_set(err, ERR_INPUT, "%s", why);
}
