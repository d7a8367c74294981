/* rd.h - the one bounds-checked way to read bytes that somebody else wrote
 *
 * File bytes are nowhere cast to structs: a parser takes a range with bytes_at() and walks it
 * with a reader.  A reader that runs over its end turns `bad` and gives zeros from then on, so
 * a parser may read a whole record first and look at `bad` once.
 */
#ifndef LIB_RD_H
#define LIB_RD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *p;	/* NULL: no such range */
	uint64_t n;
};

/* Sub-range [off, off + n), or .p == NULL when any of it is outside. */
static inline struct bytes bytes_at(struct bytes b, uint64_t off, uint64_t n)
{
	if (!b.p || off > b.n || n > b.n - off)
		return (struct bytes){ NULL, 0 };
	return (struct bytes){ b.p + off, n };
}

/* The first eight bytes as a number; 0 behind the end.  Fewer are read in parts that
 * overlap: to copy them one by one, and then to load all at once, makes the processor wait. */
static inline uint64_t bytes_first(struct bytes b)
{
	uint64_t whole = 0;
	uint32_t low, high;

	if (b.n >= sizeof(whole)) {
		memcpy(&whole, b.p, sizeof(whole));
		return whole;
	}
	if (b.n >= sizeof(low)) {
		memcpy(&low, b.p, sizeof(low));
		memcpy(&high, b.p + b.n - sizeof(high), sizeof(high));
		return low | (uint64_t)high << 8 * (b.n - sizeof(high));
	}
	if (b.n == 0)
		return 0;
	return b.p[0] | (uint64_t)b.p[b.n / 2] << 8 * (b.n / 2) |
	       (uint64_t)b.p[b.n - 1] << 8 * (b.n - 1);
}

struct rd {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct rd rd_of(struct bytes b)
{
	return (struct rd){ b.p, b.p ? b.p + b.n : NULL, b.p == NULL };
}

static inline uint64_t rd_left(const struct rd *r)
{
	return r->bad ? 0 : (uint64_t)(r->end - r->p);
}

/* NULL and bad when fewer than n bytes are left. */
static inline const uint8_t *rd_skip(struct rd *r, uint64_t n)
{
	const uint8_t *p = r->p;

	if (r->bad || n > (uint64_t)(r->end - r->p)) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	return p;
}

#define RD_INT(name, type)							\
static inline type rd_##name(struct rd *r)					\
{										\
	type v = 0;								\
	const uint8_t *p = rd_skip(r, sizeof(v));				\
	if (p)									\
		memcpy(&v, p, sizeof(v));	/* little-endian host */	\
	return v;								\
}
RD_INT(u8, uint8_t)
RD_INT(u16, uint16_t)
RD_INT(u32, uint32_t)
RD_INT(u64, uint64_t)
RD_INT(s32, int32_t)
RD_INT(s64, int64_t)
#undef RD_INT

static inline uint64_t rd_uleb(struct rd *r)
{
	const uint8_t *p = r->p;
	uint64_t v = 0;

	if (!r->bad && p < r->end && *p < 0x80) {	/* most are that small */
		r->p++;
		return *p;
	}
	for (unsigned shift = 0; !r->bad && p < r->end && shift <= 63; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && (b & 0x7e))
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			r->p = p;
			return v;
		}
	}
	r->bad = true;
	return 0;
}

static inline int64_t rd_sleb(struct rd *r)
{
	const uint8_t *p = r->p;
	uint64_t v = 0;

	for (unsigned shift = 0; !r->bad && p < r->end && shift <= 63; ) {
		uint8_t b = *p++;

		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (!(b & 0x80)) {
			if (shift < 64 && (b & 0x40))
				v |= ~(uint64_t)0 << shift;
			r->p = p;
			return (int64_t)v;
		}
	}
	r->bad = true;
	return 0;
}

/* The NUL-terminated string at the reader; NULL and bad when it does not end. */
static inline const char *rd_str(struct rd *r)
{
	const uint8_t *nul = r->bad ? NULL : memchr(r->p, 0, (size_t)(r->end - r->p));
	const uint8_t *p = r->p;

	if (!nul) {
		r->bad = true;
		return NULL;
	}
	r->p = nul + 1;
	return (const char *)p;
}

#endif
