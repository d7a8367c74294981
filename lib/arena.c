/* arena.c - chunks of 1 MiB from which allocations are cut
 *
 * Chunks come zeroed from calloc(), so no allocation has to be.  One that is larger than a
 * quarter of a chunk gets a chunk of its own.  After a reset the next first chunk is twice as
 * large as everything before it, up to 8 MiB: then a job that is repeated soon needs one chunk,
 * which arena_reset() keeps and zeroes.  The limits were chosen; they were not measured one by
 * one.
 *
 * Under AddressSanitizer allocations lie apart, and it knows what is between them and behind
 * the last one: an index that is one too large is an error there, as it is with malloc().
 */
#include "lib/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"

#ifdef MORPH_SANITIZED
#include <sanitizer/asan_interface.h>

enum { APART = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))

enum { APART = 0 };
#endif

enum { CHUNK = 1 << 20, MOST_KEPT = 8 << 20, ALIGN = 16 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct arena {
	struct chunk *head;
	/* of the first chunk after a reset: twice what was used before it */
	size_t again;
};

struct arena *arena_new(void)
{
	return memory_new(1, sizeof(struct arena));
}

static void free_chunks(struct arena *a)
{
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	a->head = NULL;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	free_chunks(a);
	free(a);
}

/* What is needed again and again, of much the same size, is soon in one chunk, which stays:
 * to give memory back and have it zeroed by the system costs more. */
void arena_reset(struct arena *a)
{
	size_t used = 0;

	for (const struct chunk *c = a->head; c; c = c->next)
		used += c->used;
	if (a->head && !a->head->next && a->head->size <= MOST_KEPT) {
		ASAN_UNPOISON_MEMORY_REGION(a->head->data, used);
		memset(a->head->data, 0, used);
		ASAN_POISON_MEMORY_REGION(a->head->data, used);
		a->head->used = 0;
		return;
	}
	free_chunks(a);
	a->again = used < MOST_KEPT / 2 ? 2 * used : MOST_KEPT;
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct chunk *c = a->head;
	size_t asked = n;

	if (n > SIZE_MAX / 2)
		memory_exhausted();
	n = ((n + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + APART;
	if (!c || c->size - c->used < n) {
		size_t size = n > CHUNK / 4 ? n : CHUNK;

		if (!c && a->again > size)
			size = a->again;

		c = memory_new(1, sizeof(*c) + size);
		c->size = size;
		ASAN_POISON_MEMORY_REGION(c->data, size);
		if (n > CHUNK / 4 && a->head) {		/* keep filling the current chunk */
			c->next = a->head->next;
			a->head->next = c;
		} else {
			c->next = a->head;
			a->head = c;
		}
	}
	void *p = c->data + c->used;
	c->used += n;
	ASAN_UNPOISON_MEMORY_REGION(p, asked);
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		memory_exhausted();
	return arena_alloc(a, total);
}

void *arena_dup(struct arena *a, const void *p, size_t n)
{
	void *q = arena_alloc(a, n);

	if (n)
		memcpy(q, p, n);
	return q;
}

void *arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new, size_t size)
{
	void *p = arena_array(a, n_new, size);

	if (n_old)
		memcpy(p, old, n_old * size);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *s = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
	if (n >= 0)
		(void)vsnprintf(s, (size_t)n + 1, fmt, again);	/* length measured above */
	va_end(again);
	return s;
}
