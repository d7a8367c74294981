/* gamma.h - numbers in as many bits as they need: Elias' gamma code
 *
 * gamma(n), n >= 1: as many 0 bits as n has bits behind its first, then n, highest bit first.
 * Bits fill bytes from the highest.
 */
#ifndef MANAGER_STORE_GAMMA_H
#define MANAGER_STORE_GAMMA_H

#include "lib/wr.h"

struct gamma_out {		/* zeroed but for w */
	struct wr *w;
	uint64_t bits;		/* the last n are not written yet; n < 8 */
	unsigned n;
};

void gamma_put(struct gamma_out *o, uint64_t v);	/* v >= 1 */
void gamma_end(struct gamma_out *o);			/* fills up the last byte with 0 bits */

static inline unsigned gamma_bits(uint64_t v)		/* that v takes */
{
	return 2 * (63 - (unsigned)__builtin_clzll(v)) + 1;
}

struct gamma_in {
	const uint8_t *p;
	uint64_t n, at;		/* bits */
};

struct gamma_in gamma_of(struct bytes b);
uint64_t gamma_get(struct gamma_in *in);		/* 0: malformed, or the end */
/* Nothing is left but the bits that fill up the last byte. */
bool gamma_at_end(const struct gamma_in *in);

#endif
