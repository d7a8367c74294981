/* programset.h - (hour, program, where) -> samples: which executables ran when samples came
 *
 * `where` is the file that a sample is in, of the spaces, or why it is in none.  Malloc-backed;
 * there are no more keys than samples.
 */
#ifndef MANAGER_SAMPLES_PROGRAMSET_H
#define MANAGER_SAMPLES_PROGRAMSET_H

#include <stdint.h>

#include "manager/samples/counter.h"

#define PROGRAMSET_UNKNOWN UINT32_MAX	/* in the place of a program */

struct programset_item {
	int64_t where;		/* file + 1, or -counter: COUNTER_KERNEL and its like */
	uint32_t hour;		/* since 1970 */
	uint32_t program;	/* file of the spaces, or PROGRAMSET_UNKNOWN */
	uint64_t samples;	/* 0: no item, in what is not sorted */
};

struct programset {		/* zeroed: empty */
	uint32_t n, cap;
	struct programset_item *item;
};

void programset_add(struct programset *s, uint32_t hour, uint32_t program, int64_t where);
/* From then on nothing is added: ascending by where, hour, program. */
void programset_sort(struct programset *s);
/* Those of one `where`, *n of them. */
const struct programset_item *programset_of(const struct programset *s, int64_t where,
					    uint32_t *n);
void programset_clear(struct programset *s);

#endif
