/* wr.c - a byte buffer that doubles its room when it is full */
#include "lib/wr.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/secret.h"

enum { CAP_FIRST = 256, CAP_FIRST_SECRET = 64 << 10 };

void wr_free(struct wr *w)
{
	if (w->secret)
		secret_free(w->p, w->cap);
	else
		free(w->p);
	*w = (struct wr){ .secret = w->secret };
}

void wr_move(struct wr *to, struct wr *from)
{
	wr_free(to);
	*to = *from;
	*from = (struct wr){ .secret = from->secret };
}

/* n bytes appended, not yet written to. */
static uint8_t *extend(struct wr *w, size_t n)
{
	if (w->cap - w->n < n) {
		size_t cap = w->cap ? w->cap : w->secret ? CAP_FIRST_SECRET : CAP_FIRST;

		while (cap - w->n < n && cap <= SIZE_MAX / 2)
			cap *= 2;
		if (cap - w->n < n)
			memory_exhausted();
		w->p = w->secret ? secret_grow(w->p, w->cap, cap)
				 : memory_grow(w->p, cap, 1);
		w->cap = cap;
	}
	uint8_t *at = w->p + w->n;
	w->n += n;
	return at;
}

uint8_t *wr_reserve(struct wr *w, size_t n)
{
	uint8_t *at = extend(w, n);

	if (n)				/* of nothing it may be NULL */
		memset(at, 0, n);
	return at;
}

void wr_raw(struct wr *w, const void *p, size_t n)
{
	if (n)
		memcpy(extend(w, n), p, n);
}

void wr_u8(struct wr *w, uint8_t v)
{
	*extend(w, 1) = v;
}

void wr_u16(struct wr *w, uint16_t v)
{
	wr_raw(w, &v, sizeof(v));
}

void wr_u32(struct wr *w, uint32_t v)
{
	wr_raw(w, &v, sizeof(v));
}

void wr_u64(struct wr *w, uint64_t v)
{
	wr_raw(w, &v, sizeof(v));
}

void wr_uleb(struct wr *w, uint64_t v)
{
	do {
		uint8_t b = v & 0x7f;

		v >>= 7;
		wr_u8(w, v ? b | 0x80 : b);
	} while (v);
}

void wr_sleb(struct wr *w, int64_t v)
{
	for (;;) {
		uint8_t b = (uint8_t)v & 0x7f;

		v >>= 7;
		if ((v == 0 && !(b & 0x40)) || (v == -1 && (b & 0x40))) {
			wr_u8(w, b);
			return;
		}
		wr_u8(w, b | 0x80);
	}
}

void wr_text(struct wr *w, const char *s)
{
	wr_raw(w, s, strlen(s));
}

void wr_str(struct wr *w, const char *s)
{
	wr_raw(w, s, strlen(s) + 1);
}

void wr_align(struct wr *w, size_t align)
{
	if (w->n % align)
		(void)wr_reserve(w, align - w->n % align);
}

void wr_put_u32(struct wr *w, size_t at, uint32_t v)
{
	assert(at + 4 <= w->n);
	memcpy(w->p + at, &v, sizeof(v));
}
