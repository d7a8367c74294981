/* perfdata.c - a perf.data file as a whole: header, attributes, features, data
 *
 * FILE   magic "PERFILE2" | u64 header bytes (104) | u64 bytes of an attribute | ranges (u64
 *        offset, u64 bytes) of attributes, data and event types | 256 bits of features.  The
 *        ranges of the features' data stand behind the data, one for each bit.
 * PIPE   the same magic, 16 header bytes, and nothing but records: attributes and features
 *        come as such.
 *
 * Records have u32 type, u16 misc, u16 bytes; types from 64 on are perf's own.  Two of these
 * have bytes behind them that their size does not count.  Compressed ones hold other records.
 *
 * What does not fit is an error, which names the place: of half a recording nobody knows what
 * it would have said.
 *
 * Tested by tests/unit/manager/import/test_perfdata.c and tests/fuzz/fuzz_perfdata.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/import/perfrecord.h"
#include "manager/import/unzstd.h"

enum {
	HEADER_PIPE = 16, HEADER_FILE = 104, ATTR_IDS = 16, RECORD_HEADER = 8,
	FEATURES = 256, FEATURE_BUILD_ID = 2, FEATURE_ARCH = 6,
	BUILD_ID_ROOM = 24, BUILD_ID_SIZE = 20, BUILD_ID_HAS_SIZE = 1 << 15,
};

enum {				/* perf's own records */
	USER_FIRST = 64,
	USER_ATTR = 64, USER_TRACING_DATA = 66, USER_BUILD_ID = 67, USER_AUXTRACE = 71,
	USER_FEATURE = 80, USER_COMPRESSED = 81, USER_COMPRESSED2 = 83,
};

static const char magic[8] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' };

struct reader {
	struct perfrecords records;
	const struct import_sink *sink;
	struct import_counts *counts;
	struct unzstd *unzstd;
	uint64_t ids;			/* bytes of them, of all events */
};

static bool begins(struct bytes file, const char *text)
{
	return file.n >= 8 && memcmp(file.p, text, 8) == 0;
}

bool perfdata_is(struct bytes file)
{
	return begins(file, "PERFILE2") || begins(file, "2ELIFREP") || begins(file, "PERFFILE");
}

/* --- what records and features have in common --- */

static int add_attr(struct reader *rd, struct bytes attr, struct bytes ids, struct err *err)
{
	struct perflayout l;

	if (perflayout_read(attr, &l, err) < 0)
		return -1;
	/* several may name the same bytes of the file */
	rd->ids += ids.n;
	if (rd->ids > rd->records.file.n + rd->records.unpacked.n)
		return err_set(err, ERR_INPUT, "its events have more ids than it has room for");
	/* what is unpacked moves when more comes */
	uint8_t *copy = arena_alloc(rd->records.arena, ids.n + 1);
	if (ids.n)
		memcpy(copy, ids.p, ids.n);
	l.ids = (struct bytes){ copy, ids.n };
	vec_push(rd->records.arena, &rd->records.layout, l);
	return 0;
}

/* u32 bytes, and as many with a text that NULs may end. */
static int read_arch(struct bytes b, struct err *err)
{
	struct rd r = rd_of(b);
	uint32_t n = rd_u32(&r);
	const char *arch = (const char *)rd_skip(&r, n);

	if (r.bad)
		return err_set(err, ERR_INPUT, "its architecture is cut short");
	if (strnlen(arch, n) == 6 && memcmp(arch, "x86_64", 6) == 0)
		return 0;
	return err_set(err, ERR_REFUSED, "recorded on %.*s, and not on x86_64",
		       (int)strnlen(arch, n < 32 ? n : 32), arch);
}

/* The body of a record: who, build-id, path. */
static void read_build_id(struct reader *rd, struct bytes b, uint16_t misc)
{
	struct rd r = rd_of(b);

	(void)rd_u32(&r);			/* -1 or 0: the kernel's */
	const uint8_t *id = rd_skip(&r, BUILD_ID_ROOM);
	const char *path = rd_str(&r);
	if (r.bad)
		return;
	uint8_t n = misc & BUILD_ID_HAS_SIZE ? id[BUILD_ID_SIZE] : BUILD_ID_SIZE;
	if (n && n <= BUILD_ID_SIZE && path[0] == '/')
		rd->sink->build_id(rd->sink->ctx, (struct bytes){ id, n }, path);
}

/* --- records --- */

static int walk(struct reader *rd, uint64_t at, uint64_t end, bool packed, struct err *err);

static int add_packed(struct reader *rd, struct bytes piece, struct err *err)
{
	struct perfrecords *p = &rd->records;

	if (!rd->unzstd && !(rd->unzstd = unzstd_new(err)))
		return -1;
	return unzstd_add(rd->unzstd, piece, &p->unpacked, err) < 0 ? -1 :
	       walk(rd, p->unpacked_read, p->unpacked.n, true, err);
}

/* A record of perf's own; `more`: bytes behind it that belong to it. */
static int take_user(struct reader *rd, uint32_t type, uint16_t misc, struct bytes body,
		     uint64_t *more, struct err *err)
{
	struct rd r = rd_of(body);
	uint32_t size;

	switch (type) {
	case USER_ATTR:
		(void)rd_u32(&r);
		size = perflayout_size(rd_u32(&r));
		if (r.bad || size > body.n)
			return err_set(err, ERR_INPUT, "attributes cut short");
		return add_attr(rd, bytes_at(body, 0, size),
				bytes_at(body, size, body.n - size), err);
	case USER_TRACING_DATA:
		*more = rd_u32(&r);
		return 0;
	case USER_AUXTRACE:
		*more = rd_u64(&r);
		return 0;
	case USER_BUILD_ID:
		read_build_id(rd, body, misc);
		return 0;
	case USER_FEATURE:
		return rd_u64(&r) == FEATURE_ARCH && !r.bad
			       ? read_arch((struct bytes){ r.p, rd_left(&r) }, err)
			       : 0;
	case USER_COMPRESSED:
		return add_packed(rd, body, err);
	case USER_COMPRESSED2:
		body = bytes_at(body, 8, rd_u64(&r));
		return body.p ? add_packed(rd, body, err)
			      : err_set(err, ERR_INPUT, "a compressed record is cut short");
	default:
		return 0;
	}
}

/* The records in [at, end) of the file, or of what was unpacked: there the last one may be cut
 * short, and goes on with the next piece. */
static int walk(struct reader *rd, uint64_t at, uint64_t end, bool packed, struct err *err)
{
	struct perfrecords *p = &rd->records;
	uint64_t more;

	for (; at < end; at += more) {
		struct bytes all = packed ? wr_bytes(&p->unpacked) : p->file;
		struct rd r = rd_of(bytes_at(all, at, end - at));
		uint32_t type = rd_u32(&r);
		uint16_t misc = rd_u16(&r), size = rd_u16(&r);

		if (packed && (r.bad || size > end - at))
			break;
		if (r.bad || size < RECORD_HEADER || size > end - at)
			return err_set(err, ERR_INPUT, "record at %s%#llx: %s",
				       packed ? "uncompressed " : "", (unsigned long long)at,
				       r.bad || size >= RECORD_HEADER
					       ? "cut short"
					       : "shorter than its header");
		more = 0;
		if (type < USER_FIRST) {
			if (perfrecords_add(p, at, size, packed, err) < 0)
				return -1;
		} else if (packed && (type == USER_COMPRESSED || type == USER_COMPRESSED2)) {
			return err_set(err, ERR_INPUT, "compressed records in compressed ones");
		} else if (take_user(rd, type, misc,
				     bytes_at(all, at + RECORD_HEADER, size - RECORD_HEADER),
				     &more, err) < 0) {
			return err_wrap(err, "record at %#llx", (unsigned long long)at);
		}
		if (more > end - at - size)
			return err_set(err, ERR_INPUT, "record at %#llx: its data is cut short",
				       (unsigned long long)at);
		more += size;
	}
	if (packed)
		p->unpacked_read = at;
	return 0;
}

/* --- files --- */

static struct bytes read_range(struct rd *r, struct bytes file)
{
	uint64_t off = rd_u64(r);

	return bytes_at(file, off, rd_u64(r));
}

static int read_attrs(struct reader *rd, struct bytes attrs, uint64_t each, struct err *err)
{
	struct bytes file = rd->records.file;

	if (!attrs.p || each < ATTR_IDS + 64 || attrs.n % each)
		return err_set(err, ERR_INPUT, "its attributes are not where it says");
	for (uint64_t at = 0; at < attrs.n; at += each) {
		struct bytes attr = bytes_at(attrs, at, each - ATTR_IDS);
		struct rd r = rd_of(bytes_at(attrs, at + each - ATTR_IDS, ATTR_IDS));
		struct bytes ids = read_range(&r, file);

		if (!ids.p)
			return err_set(err, ERR_INPUT,
				       "the ids of an event are not where it says");
		if (add_attr(rd, attr, ids, err) < 0)
			return -1;
	}
	return 0;
}

/* Records of build-ids, without a type. */
static void read_build_ids(struct reader *rd, struct bytes b)
{
	struct rd r = rd_of(b);

	while (rd_left(&r)) {
		(void)rd_u32(&r);
		uint16_t misc = rd_u16(&r), size = rd_u16(&r);

		if (size < RECORD_HEADER)
			return;
		struct bytes body = { rd_skip(&r, size - RECORD_HEADER), size - RECORD_HEADER };
		if (r.bad)
			return;
		read_build_id(rd, body, misc);
	}
}

static int read_features(struct reader *rd, const uint8_t *bits, uint64_t at, struct err *err)
{
	struct bytes file = rd->records.file;

	for (unsigned f = 0; f < FEATURES; f++) {
		if (!(bits[f / 8] >> f % 8 & 1))
			continue;
		struct rd r = rd_of(bytes_at(file, at, 16));
		struct bytes b = read_range(&r, file);

		if (!b.p)
			return err_set(err, ERR_INPUT, "feature %u is not where it says: the "
				       "recording is cut short, or was not ended", f);
		at += 16;
		if (f == FEATURE_ARCH && read_arch(b, err) < 0)
			return -1;
		if (f == FEATURE_BUILD_ID)
			read_build_ids(rd, b);
	}
	return 0;
}

static int read_file(struct reader *rd, struct rd *r, struct err *err)
{
	struct bytes file = rd->records.file;
	uint64_t each = rd_u64(r);
	struct bytes attrs = read_range(r, file);
	uint64_t at = rd_u64(r), n = rd_u64(r);

	(void)rd_skip(r, 16);			/* event types, of old */
	const uint8_t *bits = rd_skip(r, FEATURES / 8);
	if (r->bad)
		return err_set(err, ERR_INPUT, "its header is cut short");
	if (n == 0)
		return err_set(err, ERR_INPUT, "it has no data: perf did not end it");
	if (!bytes_at(file, at, n).p)
		return err_set(err, ERR_INPUT, "cut short: its data ends at %#llx, the file at "
			       "%#llx", (unsigned long long)(at + n),
			       (unsigned long long)file.n);
	if (read_attrs(rd, attrs, each, err) < 0 || read_features(rd, bits, at + n, err) < 0)
		return -1;
	return walk(rd, at, at + n, false, err);
}

static int read_any(struct reader *rd, struct err *err)
{
	struct bytes file = rd->records.file;
	struct rd r = rd_of(file);
	const uint8_t *m = rd_skip(&r, sizeof(magic));
	uint64_t size = rd_u64(&r);

	if (m && memcmp(m, magic, sizeof(magic)) != 0)
		return begins(file, "2ELIFREP")
			       ? err_set(err, ERR_REFUSED, "recorded on a big-endian machine")
			       : err_set(err, ERR_REFUSED, "perf.data of the first version, "
							   "which no perf writes any more");
	if (r.bad)
		return err_set(err, ERR_INPUT, "its header is cut short");
	if (size == HEADER_PIPE)
		return walk(rd, HEADER_PIPE, file.n, false, err);
	if (size != HEADER_FILE)
		return err_set(err, ERR_INPUT, "a header of %llu bytes, and not 16 or 104",
			       (unsigned long long)size);
	return read_file(rd, &r, err);
}

int perfdata_read(struct bytes file, struct arena *a, const struct import_sink *sink,
		  struct import_counts *counts, struct err *err)
{
	struct reader rd = { .records = { .arena = a, .file = file }, .sink = sink,
			     .counts = counts };

	*counts = (struct import_counts){ 0 };
	int rc = read_any(&rd, err);
	if (rc == 0 && rd.records.unpacked_read != rd.records.unpacked.n)
		rc = err_set(err, ERR_INPUT, "the last compressed record is cut short");
	if (rc == 0)
		rc = perfrecords_tell(&rd.records, sink, counts, err);
	wr_free(&rd.records.unpacked);
	unzstd_free(rd.unzstd);
	return rc;
}
