#include "manager/profile_code.h"

#include <stdio.h>
#include <stdlib.h>

enum { FORM = 1, SHIFT_MAX = 48 };

struct bits_out {
	struct wr *w;
	uint8_t byte;
	unsigned n;		/* bits in byte */
};

static void put_bit(struct bits_out *o, unsigned bit)
{
	o->byte = (uint8_t)(o->byte << 1 | bit);
	if (++o->n == 8) {
		wr_u8(o->w, o->byte);
		o->n = 0;
		o->byte = 0;
	}
}

static unsigned high_bit(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

static void put_gamma(struct bits_out *o, uint64_t v)
{
	unsigned high = high_bit(v);

	for (unsigned i = 0; i < high; i++)
		put_bit(o, 0);
	for (unsigned i = high + 1; i-- > 0; )
		put_bit(o, v >> i & 1);
}

static uint64_t rounded(uint64_t samples, unsigned shift)
{
	uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;

	return samples > UINT64_MAX - half ? samples >> shift : (samples + half) >> shift;
}

/* Bits that the counts take at this precision; *n is how many are left. */
static uint64_t bits_needed(const struct store_profile *p, unsigned shift, uint32_t *n)
{
	uint64_t bits = 0, previous = UINT64_MAX;

	*n = 0;
	for (uint32_t i = 0; i < p->ncount; i++) {
		uint64_t v = rounded(p->count[i].samples, shift);

		if (!v)
			continue;
		bits += 2 * high_bit(p->count[i].block - previous) + 1 + 2 * high_bit(v) + 1;
		previous = p->count[i].block;
		++*n;
	}
	return bits;
}

void profile_encode(const struct store_profile *p, uint64_t max_bytes, struct wr *out)
{
	const uint64_t head = 2 + 10 + 5;	/* the most that is before the bits */
	uint64_t any = 0;
	uint32_t n;

	for (uint32_t i = 0; i < p->ncount; i++)
		any |= p->count[i].samples;
	unsigned shift = any ? (unsigned)__builtin_ctzll(any) : 0;
	if (shift > SHIFT_MAX)
		shift = SHIFT_MAX;
	while (bits_needed(p, shift, &n) / 8 + 1 + head > max_bytes && max_bytes &&
	       shift < SHIFT_MAX)
		shift++;

	wr_u8(out, FORM);
	wr_u8(out, (uint8_t)shift);
	wr_uleb(out, p->outside);
	wr_uleb(out, n);
	struct bits_out o = { .w = out };
	uint64_t previous = UINT64_MAX;
	for (uint32_t i = 0; i < p->ncount; i++) {
		uint64_t v = rounded(p->count[i].samples, shift);

		if (!v)
			continue;
		put_gamma(&o, p->count[i].block - previous);
		put_gamma(&o, v);
		previous = p->count[i].block;
	}
	while (o.n)
		put_bit(&o, 0);
}

struct bits_in {
	const uint8_t *p;
	uint64_t n, at;		/* bits */
};

static unsigned get_bit(struct bits_in *in)
{
	if (in->at >= in->n) {
		in->at = in->n + 1;	/* ran over the end */
		return 1;
	}
	unsigned bit = in->p[in->at / 8] >> (7 - in->at % 8) & 1;
	in->at++;
	return bit;
}

/* 0: malformed. */
static uint64_t get_gamma(struct bits_in *in)
{
	unsigned high = 0;
	uint64_t v = 1;

	while (!get_bit(in))
		if (++high > 63)
			return 0;
	for (unsigned i = 0; i < high; i++)
		v = v << 1 | get_bit(in);
	return in->at > in->n ? 0 : v;
}

static int decode_counts(struct bits_in *in, unsigned shift, struct store_count *count,
			 uint32_t n)
{
	uint64_t previous = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t delta = get_gamma(in), v = get_gamma(in);

		if (!delta || !v || delta > UINT32_MAX || v > UINT64_MAX >> shift)
			return -1;
		uint64_t block = previous + delta;
		if (block >= UINT32_MAX)
			return -1;
		count[i] = (struct store_count){ (uint32_t)block, v << shift };
		previous = block;
	}
	return 0;
}

int profile_decode(struct bytes b, struct store_profile *out)
{
	struct rd r = rd_of(b);
	uint8_t form = rd_u8(&r), shift = rd_u8(&r);
	uint64_t outside = rd_uleb(&r), n = rd_uleb(&r);

	/* A count takes at least 2 bits. */
	if (r.bad || form != FORM || shift > SHIFT_MAX || n > UINT32_MAX || n > 4 * rd_left(&r))
		return -1;
	struct bits_in in = { r.p, 8 * rd_left(&r), 0 };
	struct store_count *count = calloc(n + 1, sizeof(*count));
	if (!count) {
		(void)fputs("out of memory\n", stderr);	/* exits anyway */
		exit(1);
	}
	if (decode_counts(&in, shift, count, (uint32_t)n) < 0 || in.n - in.at >= 8) {
		free(count);
		return -1;
	}
	*out = (struct store_profile){ outside, (uint32_t)n, count };
	return 0;
}
