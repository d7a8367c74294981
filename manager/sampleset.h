/* sampleset.h - (file, offset) -> samples: what one pass over a spool gathers
 *
 * Malloc-backed and bounded: beyond SAMPLESET_MAX distinct places nothing new is entered.
 */
#ifndef MANAGER_SAMPLESET_H
#define MANAGER_SAMPLESET_H

#include <stdint.h>

#include "lib/addr.h"

enum { SAMPLESET_MAX = 1 << 21 };

struct sampleset_item {
	file_off off;
	uint32_t file;
	uint32_t samples;	/* 0: free */
};

struct sampleset {		/* zeroed: empty */
	struct sampleset_item *item;
	uint32_t n, cap;
};

/* One more sample; -1 when it did not fit. */
int sampleset_add(struct sampleset *s, uint32_t file, file_off off);
/* Makes item[0 .. n) the items, ascending by file and offset.  The set can then only be read and
 * cleared. */
void sampleset_sort(struct sampleset *s);
void sampleset_clear(struct sampleset *s);

#endif
