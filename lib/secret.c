/* secret.c - mappings that are not dumped, not inherited, and wiped; see secret.h
 *
 * Tested by tests/unit/lib/test_secret.c.
 */
#include "lib/secret.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/memory.h"

enum { PAGE_BYTES = 4096 };

static size_t held;

static size_t in_pages(size_t n)
{
	if (!n || n > SIZE_MAX - PAGE_BYTES)
		memory_exhausted();
	return (n + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

void *secret_new(size_t n)
{
	size_t bytes = in_pages(n);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		memory_exhausted();
	/* Neither can fail for a mapping that is there; who confines us allows them. */
	int rc = madvise(p, bytes, MADV_DONTDUMP);
	if (rc == 0)
		rc = madvise(p, bytes, MADV_DONTFORK);
	assert(rc == 0);
	held += bytes;
	return p;
}

void *secret_grow(void *old, size_t n_old, size_t n)
{
	if (!old)
		return secret_new(n);
	size_t from = in_pages(n_old), to = in_pages(n);
	if (from == to)
		return old;
	assert(to > from);
	void *p = mremap(old, from, to, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		memory_exhausted();
	held += to - from;
	return p;
}

void secret_free(void *p, size_t n)
{
	if (!p)
		return;
	size_t bytes = in_pages(n);

	explicit_bzero(p, n);
	int rc = munmap(p, bytes);
	assert(rc == 0);
	held -= bytes;
}

size_t secret_held(void)
{
	return held;
}

__attribute__((noinline)) void secret_wipe_stack(void)
{
	char below[SECRET_STACK_BYTES];

	explicit_bzero(below, sizeof(below));
}
