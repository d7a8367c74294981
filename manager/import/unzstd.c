/* unzstd.c - one stream of libzstd for all compressed records of a file
 *
 * libzstd and not a decoder of our own: the format is large, and it is what perf compresses
 * with.  It runs in the confined job like everything that looks at the recording.
 *
 * Tested by tests/unit/manager/import/test_perfdata.c.
 */
#include "manager/import/unzstd.h"

#include <stdlib.h>
#include <zstd.h>

#include "lib/err.h"

struct unzstd {
	ZSTD_DStream *stream;
	uint64_t made;
};

struct unzstd *unzstd_new(struct err *err)
{
	struct unzstd *z = calloc(1, sizeof(*z));

	if (z)
		z->stream = ZSTD_createDStream();
	if (z && z->stream)
		return z;
	unzstd_free(z);
	err_set(err, ERR_SYS, "out of memory");
	return NULL;
}

void unzstd_free(struct unzstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

int unzstd_add(struct unzstd *z, struct bytes piece, struct wr *out, struct err *err)
{
	ZSTD_inBuffer in = { piece.p, piece.n, 0 };
	uint8_t room[1 << 16];
	size_t before;

	do {
		ZSTD_outBuffer o = { room, sizeof(room), 0 };

		before = in.pos;
		size_t rc = ZSTD_decompressStream(z->stream, &o, &in);
		if (ZSTD_isError(rc))
			return err_set(err, ERR_INPUT, "compressed records: %s",
				       ZSTD_getErrorName(rc));
		z->made += o.pos;
		if (z->made > UNZSTD_MAX)
			return err_set(err, ERR_REFUSED, "more than %llu MiB uncompressed",
				       (unsigned long long)(UNZSTD_MAX >> 20));
		wr_raw(out, room, o.pos);
		if (in.pos == in.size && o.pos < o.size)
			return 0;
		before = in.pos - before + o.pos;
	} while (before);
	return err_set(err, ERR_INPUT, "compressed records: bytes that stand for nothing");
}
