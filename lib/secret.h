/* secret.h - memory for what other people's programs hold: registers, stack, words of memory
 *
 * Everything of that kind that the Monitor and the Manager hold lies in here, and in nothing
 * else that outlives a call.  Each piece is a mapping of its own that no core file has and that
 * no child inherits.  It is wiped before it is unmapped, and when it grows the kernel moves its
 * pages, so that no copy of it stays in the heap, which keeps what was freed.
 *
 * As in lib/memory.h there is no NULL: exhausted memory ends the process.
 */
#ifndef LIB_SECRET_H
#define LIB_SECRET_H

#include <stddef.h>

/* `n` bytes, zeroed; n > 0. */
void *secret_new(size_t n);
/* The piece of `n_old` bytes (NULL: none), with `n` of them, n >= n_old; the new ones are zero.
 * `old` is no longer valid. */
void *secret_grow(void *old, size_t n_old, size_t n);
void secret_free(void *p, size_t n);		/* NULL is allowed */
/* Bytes that are held now, in whole pages. */
size_t secret_held(void);

/* What calls that have returned left behind on the stack, SECRET_STACK_BYTES of it below the
 * caller. */
enum { SECRET_STACK_BYTES = 128 << 10 };
void secret_wipe_stack(void);

#endif
