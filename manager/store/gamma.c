/* gamma.c - writes and reads numbers in Elias' gamma code, bit by bit
 *
 * Tested by tests/unit/manager/store/test_gamma.c.
 */
#include "manager/store/gamma.h"

#include <endian.h>
#include <string.h>

enum { PUT_MOST = 56, GET_MOST = 56 };	/* bits at once */

static void put_bits(struct gamma_out *o, uint64_t v, unsigned n)
{
	o->bits = o->bits << n | v;
	for (o->n += n; o->n >= 8; o->n -= 8)
		wr_u8(o->w, (uint8_t)(o->bits >> (o->n - 8)));
}

static unsigned high_bit(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

void gamma_put(struct gamma_out *o, uint64_t v)
{
	unsigned high = high_bit(v);

	if (2 * high + 1 <= PUT_MOST) {		/* it begins with its 0 bits by itself */
		put_bits(o, v, 2 * high + 1);
		return;
	}
	for (unsigned i = 0; i < high; i++)
		put_bits(o, 0, 1);
	for (unsigned i = high + 1; i-- > 0; )
		put_bits(o, v >> i & 1, 1);
}

void gamma_end(struct gamma_out *o)
{
	if (o->n)
		put_bits(o, 0, 8 - o->n);
}

struct gamma_in gamma_of(struct bytes b)
{
	return (struct gamma_in){ b.p, 8 * b.n, 0 };
}

static unsigned get_bit(struct gamma_in *in)
{
	if (in->at >= in->n) {
		in->at = in->n + 1;	/* ran over the end */
		return 1;
	}
	unsigned bit = in->p[in->at / 8] >> (7 - in->at % 8) & 1;
	in->at++;
	return bit;
}

/* The next bits, first one highest, at least 57 of them; 0 near the end. */
static uint64_t look_ahead(const struct gamma_in *in)
{
	uint64_t byte = in->at / 8, v;

	if (in->at > in->n || in->n / 8 - byte < sizeof(v))
		return 0;
	memcpy(&v, in->p + byte, sizeof(v));
	return be64toh(v) << in->at % 8;
}

uint64_t gamma_get(struct gamma_in *in)
{
	uint64_t ahead = look_ahead(in), v = 1;
	unsigned high = 0;

	if (ahead >> (64 - GET_MOST / 2)) {	/* all of it is there */
		high = 63 - high_bit(ahead);
		in->at += 2 * high + 1;
		return ahead << high >> (63 - high);
	}
	while (!get_bit(in))
		if (++high > 63)
			return 0;
	for (unsigned i = 0; i < high; i++)
		v = v << 1 | get_bit(in);
	return in->at > in->n ? 0 : v;
}

bool gamma_at_end(const struct gamma_in *in)
{
	return in->at <= in->n && in->n - in->at < 8;
}
