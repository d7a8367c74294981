/* mapping.h - the mappings of one address space: disjoint ranges, found by address
 *
 * Sets are shared: a fork takes a reference, and the first change after it makes a copy.
 * Malloc-backed (lib/memory.h).
 */
#ifndef MANAGER_SAMPLES_MAPPING_H
#define MANAGER_SAMPLES_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end;	/* [start, end), addresses in the process */
	uint64_t pgoff;		/* offset in the file of start, bytes */
	uint32_t file;		/* the user's number for the file */
};

struct mappings;		/* NULL is the empty set */

struct mappings *mappings_share(struct mappings *m);
void mappings_drop(struct mappings *m);		/* NULL is allowed */
/* Enters `add` (start < end), cutting away what was there.  Returns the set to use from now on,
 * which is another one if m was shared. */
struct mappings *mappings_put(struct mappings *m, const struct mapping *add);
/* Only cuts away what was in [start, end). */
struct mappings *mappings_cut(struct mappings *m, uint64_t start, uint64_t end);
/* Gives each mapping's file f >= first the number[f - first] + first, for all that share the
 * set at once.  A set is left alone that has had the same `round`, not 0, before. */
void mappings_renumber(struct mappings *m, const uint32_t *number, uint32_t first,
		       uint32_t round);
const struct mapping *mappings_find(struct mappings *m, uint64_t addr);
uint32_t mappings_count(const struct mappings *m);
/* Ascending by start. */
void mappings_each(const struct mappings *m, void (*f)(void *ctx, const struct mapping *m),
		   void *ctx);

#endif
