/* profile_code.h - a block profile as few bytes as possible
 *
 *   u8 1 (form) | u8 shift | uleb outside | uleb ncount
 *   | bits: for each count  gamma(block - previous block), gamma(samples >> shift)
 *
 * previous block of the first is -1; gamma(n), n >= 1, is Elias' code: as many 0 bits as n has bits
 * after its first, then n, highest bit first; bits fill bytes from the highest.  Blocks that ran
 * lie close together and most have few samples, so most counts take 4 to 12 bits.
 */
#ifndef MANAGER_PROFILE_CODE_H
#define MANAGER_PROFILE_CODE_H

#include "lib/wr.h"
#include "manager/store.h"

/* Appends the code.  With max_bytes != 0, precision is given up until it fits: samples are rounded
 * to multiples of a power of two, and what rounds to 0 is left out. */
void profile_encode(const struct store_profile *p, uint64_t max_bytes, struct wr *out);
/* -1: malformed; *out is then untouched. */
int profile_decode(struct bytes b, struct store_profile *out);

#endif
