/* memory.h - allocation that never returns NULL
 *
 * This is the one place where a process ends because memory is exhausted: it prints "out of
 * memory" and exits 1.  lib/arena.h, lib/wr.h and all tables that grow by realloc() use it.
 * Code that can go on without the memory calls malloc() itself and returns an error.
 */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <stddef.h>

/* Prints "out of memory" and exits 1. */
_Noreturn void memory_exhausted(void);

/* `p` as malloc(), strdup() and the like returned it; ends the process if it is NULL. */
void *memory_need(void *p);

/* An array of `n` items of `size` bytes, zeroed.  n == 0 gives a valid pointer.  free() it. */
void *memory_new(size_t n, size_t size);

/* The array `old`, of malloc() or NULL, with room for `n` items of `size` bytes; what is new of
 * it is not zeroed.  `old` is no longer valid.  n == 0 gives a valid pointer. */
void *memory_grow(void *old, size_t n, size_t size);

#endif
