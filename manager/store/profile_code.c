/* profile_code.c - writes and reads block profiles in the bit code of profile_code.h */
#include "manager/store/profile_code.h"

#include <stdlib.h>

#include "lib/memory.h"
#include "manager/store/gamma.h"

enum { FORM = 2, SHIFT_MAX = 48 };
enum { HEAD_MAX = 3 + 2 * 10 + 3 * 5 };		/* the most that is before the bits */

static uint64_t rounded(uint64_t samples, unsigned shift)
{
	uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;

	return samples > UINT64_MAX - half ? samples >> shift : (samples + half) >> shift;
}

static uint64_t far(uint32_t a, uint32_t b)
{
	return b >= a ? 2 * (uint64_t)(b - a) + 1 : 2 * (uint64_t)(a - b);
}

/* Writes or, without *o, only measures: the bits that it takes. */
static uint64_t put(struct gamma_out *o, uint64_t v)
{
	if (o)
		gamma_put(o, v);
	return gamma_bits(v);
}

static uint64_t put_counts(const struct store_profile *p, unsigned shift, struct gamma_out *o,
			   uint32_t *n)
{
	uint64_t bits = 0, previous = UINT64_MAX;

	*n = 0;
	for (uint32_t i = 0; i < p->ncount; i++) {
		uint64_t v = rounded(p->count[i].samples, shift);

		if (!v)
			continue;
		bits += put(o, p->count[i].block - previous) + put(o, v);
		previous = p->count[i].block;
		++*n;
	}
	return bits;
}

static uint64_t put_edges(const struct edgecounts *e, unsigned shift, struct gamma_out *o,
			  uint32_t *nedge, uint32_t *ncall)
{
	uint64_t bits = 0;
	uint32_t previous = 0;

	*nedge = *ncall = 0;
	for (uint32_t i = 0; i < e->nedge; i++) {
		const struct edgecounts_edge *x = &e->edge[i];
		uint64_t v = rounded(x->count, shift);

		if (!v)
			continue;
		bits += put(o, (uint64_t)(x->from - previous) + 1) +
			put(o, far(x->from, x->to)) + put(o, v);
		previous = x->from;
		++*nedge;
	}
	previous = 0;
	for (uint32_t i = 0; i < e->ncall; i++) {
		const struct edgecounts_call *x = &e->call[i];
		uint64_t v = rounded(x->count, shift);

		if (!v)
			continue;
		bits += put(o, (uint64_t)(x->block - previous) + 1) +
			put(o, (uint64_t)x->at + 1) + put(o, far(x->block, x->target)) +
			put(o, v);
		previous = x->block;
		++*ncall;
	}
	return bits;
}

/* The zero bits that all counts end in. */
static unsigned common_shift(uint64_t any)
{
	unsigned shift = any ? (unsigned)__builtin_ctzll(any) : 0;

	return shift > SHIFT_MAX ? SHIFT_MAX : shift;
}

struct shifts {
	unsigned counts, edges;
};

static struct shifts choose_shifts(const struct store_profile *p, uint64_t max_bytes)
{
	uint64_t any = 0, any_edge = 0;
	uint32_t n, nedge, ncall;

	for (uint32_t i = 0; i < p->ncount; i++)
		any |= p->count[i].samples;
	for (uint32_t i = 0; i < p->edges.nedge; i++)
		any_edge |= p->edges.edge[i].count;
	for (uint32_t i = 0; i < p->edges.ncall; i++)
		any_edge |= p->edges.call[i].count;
	struct shifts s = { common_shift(any), common_shift(any_edge) };
	while (max_bytes) {
		uint64_t counts = put_counts(p, s.counts, NULL, &n);
		uint64_t edges = put_edges(&p->edges, s.edges, NULL, &nedge, &ncall);

		if ((counts + edges) / 8 + 1 + HEAD_MAX <= max_bytes)
			break;
		if (edges / 8 > max_bytes / 2 && s.edges < SHIFT_MAX)
			s.edges++;
		else if (s.counts < SHIFT_MAX)
			s.counts++;
		else if (s.edges < SHIFT_MAX)
			s.edges++;
		else
			break;
	}
	return s;
}

void profile_encode(const struct store_profile *p, uint64_t max_bytes, struct wr *out)
{
	struct shifts s = choose_shifts(p, max_bytes);
	struct gamma_out o = { .w = out };
	uint32_t n, nedge, ncall;

	(void)put_counts(p, s.counts, NULL, &n);
	(void)put_edges(&p->edges, s.edges, NULL, &nedge, &ncall);
	wr_u8(out, FORM);
	wr_u8(out, (uint8_t)s.counts);
	wr_u8(out, (uint8_t)s.edges);
	wr_uleb(out, p->outside);
	wr_uleb(out, p->states);
	wr_uleb(out, n);
	wr_uleb(out, nedge);
	wr_uleb(out, ncall);
	(void)put_counts(p, s.counts, &o, &n);
	(void)put_edges(&p->edges, s.edges, &o, &nedge, &ncall);
	gamma_end(&o);
}

/* --- back --- */

/* A number that is coded as one more; false: malformed. */
static bool get(struct gamma_in *in, uint32_t *out)
{
	uint64_t v = gamma_get(in);

	if (v < 1 || v - 1 > UINT32_MAX)
		return false;
	*out = (uint32_t)(v - 1);
	return true;
}

static bool get_count(struct gamma_in *in, unsigned shift, uint64_t *out)
{
	uint64_t v = gamma_get(in);

	*out = v << shift;
	return v && v <= UINT64_MAX >> shift;
}

/* previous + what comes; false when that is no block. */
static bool get_block(struct gamma_in *in, uint32_t *previous)
{
	uint32_t d;

	if (!get(in, &d) || d >= UINT32_MAX - *previous)
		return false;
	*previous += d;
	return true;
}

static bool get_far(struct gamma_in *in, uint32_t from, uint32_t *out)
{
	uint64_t v = gamma_get(in), d = v / 2;

	if (!v || (v & 1 ? d >= UINT32_MAX - from : d > from))
		return false;
	*out = (uint32_t)(v & 1 ? from + d : from - d);
	return true;
}

static int decode_counts(struct gamma_in *in, unsigned shift, struct store_profile *p)
{
	uint64_t previous = UINT64_MAX;

	for (uint32_t i = 0; i < p->ncount; i++) {
		uint64_t delta = gamma_get(in), samples;

		if (!delta || delta > UINT32_MAX || !get_count(in, shift, &samples))
			return -1;
		uint64_t block = previous + delta;
		if (block >= UINT32_MAX)
			return -1;
		p->count[i] = (struct store_count){ (uint32_t)block, samples };
		previous = block;
	}
	return 0;
}

static int decode_edges(struct gamma_in *in, unsigned shift, struct edgecounts *e)
{
	uint32_t block = 0;

	for (uint32_t i = 0; i < e->nedge; i++) {
		struct edgecounts_edge *x = &e->edge[i];

		if (!get_block(in, &block) || !get_far(in, block, &x->to) ||
		    !get_count(in, shift, &x->count))
			return -1;
		x->from = block;
		if (i && x[-1].from == block && x[-1].to >= x->to)
			return -1;
	}
	block = 0;
	for (uint32_t i = 0; i < e->ncall; i++) {
		struct edgecounts_call *x = &e->call[i];

		if (!get_block(in, &block) || !get(in, &x->at) ||
		    !get_far(in, block, &x->target) || !get_count(in, shift, &x->count))
			return -1;
		x->block = block;
		if (i && x[-1].block == block &&
		    (x[-1].at > x->at || (x[-1].at == x->at && x[-1].target >= x->target)))
			return -1;
	}
	return 0;
}

static void *array(uint64_t n, size_t size)
{
	return memory_new(n + 1, size);
}

int profile_decode(struct bytes b, struct store_profile *out)
{
	struct rd r = rd_of(b);
	uint8_t form = rd_u8(&r), shift = rd_u8(&r), edge_shift = rd_u8(&r);
	struct store_profile p = { .outside = rd_uleb(&r), .states = rd_uleb(&r) };
	uint64_t n = rd_uleb(&r), nedge = rd_uleb(&r), ncall = rd_uleb(&r), left = rd_left(&r);

	/* A count takes at least 2 bits, an edge 3, a call 4. */
	if (r.bad || form != FORM || shift > SHIFT_MAX || edge_shift > SHIFT_MAX ||
	    n > 4 * left || nedge > 3 * left || ncall > 2 * left || 4 * left > UINT32_MAX)
		return -1;
	p.ncount = (uint32_t)n;
	p.edges.nedge = (uint32_t)nedge;
	p.edges.ncall = (uint32_t)ncall;
	p.count = array(n, sizeof(*p.count));
	p.edges.edge = array(nedge, sizeof(*p.edges.edge));
	p.edges.call = array(ncall, sizeof(*p.edges.call));
	struct gamma_in in = gamma_of((struct bytes){ r.p, left });
	if (decode_counts(&in, shift, &p) < 0 || decode_edges(&in, edge_shift, &p.edges) < 0 ||
	    !gamma_at_end(&in)) {
		free(p.count);
		edgecounts_free(&p.edges);
		return -1;
	}
	*out = p;
	return 0;
}
