#include "manager/gamma.h"

static void put_bit(struct gamma_out *o, unsigned bit)
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

unsigned gamma_bits(uint64_t v)
{
	return 2 * high_bit(v) + 1;
}

void gamma_put(struct gamma_out *o, uint64_t v)
{
	unsigned high = high_bit(v);

	for (unsigned i = 0; i < high; i++)
		put_bit(o, 0);
	for (unsigned i = high + 1; i-- > 0; )
		put_bit(o, v >> i & 1);
}

void gamma_end(struct gamma_out *o)
{
	while (o->n)
		put_bit(o, 0);
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

uint64_t gamma_get(struct gamma_in *in)
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

bool gamma_at_end(const struct gamma_in *in)
{
	return in->at <= in->n && in->n - in->at < 8;
}
