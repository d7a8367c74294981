/* arena.h - memory that lives as long as one job and is freed as a whole
 *
 * Allocation never returns NULL.  When memory is exhausted (jobs run under RLIMIT_AS) the
 * process ends as lib/memory.h says: a job has nothing to save.  Long-lived daemons do not use
 * arenas for anything whose size an input decides.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);		/* NULL is allowed */
/* Everything allocated is gone; up to 8 MiB of memory are kept for what comes next. */
void arena_reset(struct arena *a);

/* Zeroed, aligned to 16.  n == 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n);
/* Array of `n` items of `size` bytes; exits as above when n * size overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);
void *arena_dup(struct arena *a, const void *p, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A larger copy of an arena array; the old one stays valid until the arena goes. */
void *arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new, size_t size);

/* Growing array in an arena: VEC(struct block) blocks = {0}; vec_push(a, &blocks, b); */
#define VEC(T) struct { T *v; uint32_t n, cap; }
#define vec_push(a, vec, item) do {						\
	if ((vec)->n == (vec)->cap) {						\
		uint32_t cap_ = (vec)->cap ? 2 * (vec)->cap : 16;		\
		(vec)->v = arena_grow(a, (vec)->v, (vec)->n, cap_, sizeof(*(vec)->v));	\
		(vec)->cap = cap_;						\
	}									\
	(vec)->v[(vec)->n++] = (item);						\
} while (0)
/* Room for `more` items, so that pushing them moves nothing.  What is not used of much room
 * costs no memory. */
#define vec_reserve(a, vec, more) do {						\
	uint32_t cap_ = (vec)->n + (more);					\
	if (cap_ > (vec)->cap) {						\
		(vec)->v = arena_grow(a, (vec)->v, (vec)->n, cap_, sizeof(*(vec)->v));	\
		(vec)->cap = cap_;						\
	}									\
} while (0)

#endif
