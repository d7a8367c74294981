/* memory.c - allocation that never returns NULL
 *
 * Tested by tests/unit/lib/test_memory.c.
 */
#include "lib/memory.h"

#include <stdio.h>
#include <stdlib.h>

void memory_exhausted(void)
{
	(void)fputs("out of memory\n", stderr);	/* the process ends anyway */
	exit(1);
}

void *memory_need(void *p)
{
	if (!p)
		memory_exhausted();
	return p;
}

void *memory_new(size_t n, size_t size)
{
	return memory_need(calloc(n ? n : 1, size ? size : 1));
}

void *memory_grow(void *old, size_t n, size_t size)
{
	return memory_need(reallocarray(old, n ? n : 1, size ? size : 1));
}
