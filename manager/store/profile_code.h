/* profile_code.h - a block profile as few bytes as possible
 *
 *   u8 2 (form) | u8 shift | u8 shift of edges | uleb outside | uleb states
 *   | uleb ncount | uleb nedge | uleb ncall
 *   | bits: for each count  gamma(block - previous block), gamma(samples >> shift)
 *           for each edge   gamma(from - previous from + 1), gamma(far(from, to)), gamma(count
 *                           >> s)
 *           for each call   gamma(block - previous block + 1), gamma(at + 1),
 *                           gamma(far(block, target)), gamma(count >> s)
 *
 * The previous block of the first count is -1, of the first edge and call 0.  far(a, b) is
 * 2 (b - a) + 1 when b >= a, else 2 (a - b).  gamma() is that of gamma.h.  Blocks that ran lie
 * close together and most have few samples, so most counts take 4 to 12 bits; edges lead to
 * near blocks.
 */
#ifndef MANAGER_STORE_PROFILE_CODE_H
#define MANAGER_STORE_PROFILE_CODE_H

#include "lib/wr.h"
#include "manager/store/store.h"

/* Appends the code.  With max_bytes != 0, counts lose precision until the code fits: they are
 * rounded to multiples of a power of two, and those that round to 0 are left out.  As long as
 * edges and calls take more than half of the bytes, they are rounded first. */
void profile_encode(const struct store_profile *p, uint64_t max_bytes, struct wr *out);
/* -1: malformed; *out is then untouched. */
int profile_decode(struct bytes b, struct store_profile *out);

#endif
