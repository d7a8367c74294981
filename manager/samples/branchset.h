/* branchset.h - taken branches and runs, by mapped file, that one pass over a spool gathers
 *
 * Malloc-backed and bounded: from BRANCHSET_MAX distinct ones on only those are counted that
 * are there already.
 */
#ifndef MANAGER_SAMPLES_BRANCHSET_H
#define MANAGER_SAMPLES_BRANCHSET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

enum { BRANCHSET_MAX = 1 << 22 };	/* chosen */

struct branchset_item {
	file_off from, to;	/* of a run: its first instruction, and the branch at its end */
	uint32_t file;
	uint32_t count : 31;	/* stays at the largest */
	uint32_t run : 1;
};

struct branchset {		/* zeroed: empty */
	struct branchset_item *item;
	uint32_t n, cap;
	uint32_t *slot;		/* [nslot] an item + 1, by a hash of it; 0: none */
	uint32_t nslot;		/* a power of two */
	bool sorted;
};

/* One more; -1 when there is no room for a new one. */
int branchset_add(struct branchset *s, uint32_t file, file_off from, file_off to, bool run);
/* Makes item[] ascending by file, from, to, branches before runs.  The set can then only be
 * read and cleared. */
void branchset_sort(struct branchset *s);
/* The items of a file, once sorted: *n of them. */
const struct branchset_item *branchset_of(const struct branchset *s, uint32_t file,
					  uint32_t *n);
void branchset_clear(struct branchset *s);

#endif
