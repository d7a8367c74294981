/* sampleset.h - (file, offset) -> samples: what one pass over a spool gathers
 *
 * Malloc-backed and bounded: nothing is entered any more from SAMPLESET_MAX distinct places on,
 * or from twice as many at the latest.
 */
#ifndef MANAGER_SAMPLES_SAMPLESET_H
#define MANAGER_SAMPLES_SAMPLESET_H

#include <stdint.h>

#include "lib/addr.h"

enum { SAMPLESET_MAX = 1 << 21 };	/* places, 16 bytes each; chosen */

struct sampleset_item {
	file_off off;
	uint32_t file;
	uint32_t samples;
};

enum { SAMPLESET_RECENT = 4096 };

struct sampleset {		/* zeroed: empty */
	struct sampleset_item *item;
	uint32_t n, nfolded, cap;
	/* an item + 1, by a hash of its place; 0: none */
	uint32_t recent[SAMPLESET_RECENT];
};

/* One more sample; -1 when it did not fit. */
int sampleset_add(struct sampleset *s, uint32_t file, file_off off);
/* Makes item[0 .. n) the items, ascending by file and offset, every place once. */
void sampleset_sort(struct sampleset *s);
void sampleset_clear(struct sampleset *s);

#endif
