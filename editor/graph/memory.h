/* memory.h - allocation for algorithms that use and free arrays of their own
 *
 * Never NULL.  When memory is exhausted the process ends as lib/arena.h says: it is one job.
 */
#ifndef EDITOR_GRAPH_MEMORY_H
#define EDITOR_GRAPH_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

static inline void *memory_grow(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size ? size : 1);

	if (!p) {
		(void)fprintf(stderr, "out of memory\n");	/* nothing else left to do */
		exit(1);
	}
	return p;
}

/* Zeroed. */
static inline void *memory_new(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p) {
		(void)fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

#endif
