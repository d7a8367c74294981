/* packed.c - packs and unpacks, a frame of libzstd each; see packed.h
 *
 * Tested by tests/unit/manager/store/test_inherited.c.
 */
#include "manager/store/packed.h"

#include <zstd.h>

enum { LEVEL = 3 };			/* libzstd's own choice */

void packed_write(struct bytes b, struct wr *out)
{
	size_t at = out->n, room = ZSTD_compressBound(b.n);

	if (!b.n)
		return;
	uint8_t *p = wr_reserve(out, room);
	size_t n = ZSTD_compress(p, room, b.p, b.n, LEVEL);
	/* Without memory nothing is kept, which reads as nothing. */
	out->n = at + (ZSTD_isError(n) ? 0 : n);
}

bool packed_read(struct bytes packed, uint64_t max, struct wr *out)
{
	size_t at = out->n;

	if (!packed.n)
		return true;
	unsigned long long size = ZSTD_getFrameContentSize(packed.p, packed.n);
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > max)
		return false;
	uint8_t *p = wr_reserve(out, (size_t)size);
	size_t n = ZSTD_decompress(p, (size_t)size, packed.p, packed.n);
	if (!ZSTD_isError(n) && n == size)
		return true;
	out->n = at;
	return false;
}
