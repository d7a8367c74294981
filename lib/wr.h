/* wr.h - growing byte buffer for everything that Morph writes in binary
 *
 * Malloc-backed, or of lib/secret.h where `secret` is set before the first byte; the owner
 * frees it with wr_free().  A failed allocation exits as in arena.h.
 * Integers are written little-endian.
 */
#ifndef LIB_WR_H
#define LIB_WR_H

#include <stdbool.h>

#include "lib/rd.h"

struct wr {
	uint8_t *p;
	size_t n, cap;
	bool secret;
};

void wr_free(struct wr *w);			/* leaves an empty, usable buffer */
/* `to` gets the bytes of `from` in place of its own; `from` is empty afterwards. */
void wr_move(struct wr *to, struct wr *from);
/* Appends n zero bytes; returns a pointer to the first, valid until the next call. */
uint8_t *wr_reserve(struct wr *w, size_t n);
void wr_raw(struct wr *w, const void *p, size_t n);
void wr_u8(struct wr *w, uint8_t v);
void wr_u16(struct wr *w, uint16_t v);
void wr_u32(struct wr *w, uint32_t v);
void wr_u64(struct wr *w, uint64_t v);
void wr_uleb(struct wr *w, uint64_t v);
void wr_sleb(struct wr *w, int64_t v);
void wr_text(struct wr *w, const char *s);
void wr_str(struct wr *w, const char *s);	/* with its NUL */
void wr_align(struct wr *w, size_t align);	/* zero bytes up to a multiple of `align` */
void wr_put_u32(struct wr *w, size_t at, uint32_t v);	/* overwrite; at + 4 <= n is asserted */

static inline struct bytes wr_bytes(const struct wr *w)
{
	return (struct bytes){ w->p ? w->p : (const uint8_t *)"", w->n };
}

#endif
