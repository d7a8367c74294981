/* hash.h - FNV-1a, 64 bits: for tables and comparisons in which nobody gains by equal hashes */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on from `h`, at first HASH_START. */
static inline uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t hash_text(const char *text)
{
	return hash_bytes(HASH_START, text, strlen(text));
}

#endif
