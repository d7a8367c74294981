/* recording.c - makes perf.data files by hand: each form of record that perf has written */
#include "tests/unit/recording.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

enum { ATTR_BYTES = 128, HEADER_FILE = 104, FEATURE_BYTES = 32 };

size_t recording_begin(struct wr *out, uint32_t type, uint16_t misc)
{
	size_t at = out->n;

	wr_u32(out, type);
	wr_u16(out, misc);
	wr_u16(out, 0);
	return at;
}

void recording_end(struct wr *out, size_t at)
{
	uint16_t n = (uint16_t)(out->n - at);

	assert(out->n - at <= UINT16_MAX);
	memcpy(out->p + at + 6, &n, sizeof(n));
}

void recording_string(struct wr *out, const char *text)
{
	size_t from = out->n;

	wr_str(out, text);
	while ((out->n - from) % 8)
		wr_u8(out, 0);
}

static uint32_t bytes_of(const struct recording_attr *a)
{
	return a->bytes > 0 ? (uint32_t)a->bytes : a->bytes < 0 ? 64 : ATTR_BYTES;
}

static void write_attr(const struct recording_attr *a, struct wr *out)
{
	size_t at = out->n;
	uint32_t bytes = bytes_of(a);

	wr_u32(out, a->type);
	wr_u32(out, a->bytes < 0 ? 0 : bytes);
	wr_u64(out, a->config);
	wr_u64(out, 4000);
	wr_u64(out, a->sample_type);
	wr_u64(out, a->read_format);
	wr_u64(out, (uint64_t)a->sample_id_all << 18);
	(void)wr_reserve(out, bytes < 72 ? 16 : 24);
	if (bytes >= 80)
		wr_u64(out, a->branch_sample_type);
	if (bytes > out->n - at)
		(void)wr_reserve(out, bytes - (out->n - at));
}

void recording_file(const struct recording_attr *attr, unsigned nattr, struct bytes data,
		    const struct recording_feature *feature, unsigned nfeature, struct wr *out)
{
	/* all are as long as the first */
	uint64_t each = bytes_of(attr);
	uint64_t ids = HEADER_FILE, attrs = ids + 8 * (uint64_t)nattr;
	uint64_t at = attrs + nattr * (each + 16ull);
	uint64_t end = at + data.n + 16ull * nfeature;
	uint8_t bits[FEATURE_BYTES] = { 0 };

	wr_raw(out, "PERFILE2", 8);
	wr_u64(out, HEADER_FILE);
	wr_u64(out, each + 16ull);
	wr_u64(out, attrs);
	wr_u64(out, nattr * (each + 16ull));
	wr_u64(out, at);
	wr_u64(out, data.n);
	wr_u64(out, 0);
	wr_u64(out, 0);
	for (unsigned i = 0; i < nfeature; i++)
		bits[feature[i].number / 8] |= (uint8_t)(1u << feature[i].number % 8);
	wr_raw(out, bits, sizeof(bits));
	for (unsigned i = 0; i < nattr; i++)
		wr_u64(out, attr[i].id);
	for (unsigned i = 0; i < nattr; i++) {
		write_attr(&attr[i], out);
		wr_u64(out, ids + 8ull * i);
		wr_u64(out, attr[i].id ? 8 : 0);
	}
	wr_raw(out, data.p, data.n);
	for (unsigned i = 0; i < nfeature; i++) {
		wr_u64(out, end);
		wr_u64(out, feature[i].bytes.n);
		end += feature[i].bytes.n;
	}
	for (unsigned i = 0; i < nfeature; i++)
		wr_raw(out, feature[i].bytes.p, feature[i].bytes.n);
}

void recording_pipe(const struct recording_attr *attr, unsigned nattr, struct bytes data,
		    const struct recording_feature *feature, unsigned nfeature, struct wr *out)
{
	wr_raw(out, "PERFILE2", 8);
	wr_u64(out, 16);
	for (unsigned i = 0; i < nattr; i++) {
		size_t at = recording_begin(out, 64, 0);

		write_attr(&attr[i], out);
		if (attr[i].id)
			wr_u64(out, attr[i].id);
		recording_end(out, at);
	}
	for (unsigned i = 0; i < nfeature; i++) {
		size_t at = recording_begin(out, 80, 0);

		wr_u64(out, feature[i].number);
		wr_raw(out, feature[i].bytes.p, feature[i].bytes.n);
		recording_end(out, at);
	}
	wr_raw(out, data.p, data.n);
}

struct bytes recording_text(const char *text, struct wr *room)
{
	struct wr w = { 0 };

	wr_u32(&w, 64);
	wr_str(&w, text);
	(void)wr_reserve(&w, 68 - w.n);
	wr_move(room, &w);
	return wr_bytes(room);
}

void recording_compress(struct bytes data, size_t piece, bool second, struct wr *out)
{
	ZSTD_CStream *z = ZSTD_createCStream();
	uint8_t room[1 << 15];

	assert(z && !ZSTD_isError(ZSTD_initCStream(z, 1)));
	for (uint64_t at = 0; at < data.n; at += piece) {
		uint64_t n = data.n - at < piece ? data.n - at : piece;
		ZSTD_inBuffer in = { data.p + at, n, 0 };
		ZSTD_outBuffer o = { room, sizeof(room), 0 };

		/* as perf does: the stream goes on, and each piece is flushed */
		assert(!ZSTD_isError(ZSTD_compressStream(z, &o, &in)) && in.pos == in.size);
		assert(ZSTD_flushStream(z, &o) == 0);
		size_t begin = recording_begin(out, second ? 83 : 81, 0);
		if (second)
			wr_u64(out, o.pos);
		wr_raw(out, room, o.pos);
		while (second && (out->n - begin) % 8)
			wr_u8(out, 0xee);
		recording_end(out, begin);
	}
	(void)ZSTD_freeCStream(z);
}
