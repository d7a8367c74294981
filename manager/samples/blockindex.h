/* blockindex.h - from a place in a mapped file to the block of the original
 *
 * Holds what a block table and, for a generation, its block map say, in a form that is small
 * enough to be kept and quick to search (lib/ranges.h).  Malloc-backed (lib/memory.h).
 */
#ifndef MANAGER_SAMPLES_BLOCKINDEX_H
#define MANAGER_SAMPLES_BLOCKINDEX_H

#include <stddef.h>

#include "lib/blockmap.h"
#include "lib/blocktable.h"

struct blockindex;

/* Both may be freed afterwards.  map == NULL: the file is the original itself. */
struct blockindex *blockindex_new(const struct blocktable *t, const struct blockmap *map);
void blockindex_free(struct blockindex *p);		/* NULL is allowed */
size_t blockindex_bytes(const struct blockindex *p);

/* Index in the block table; UINT32_MAX: in no block.  A place in the new text of a
 * generation is in the block that its image is of; one in the old text is what it is in the
 * original, because originals keep their addresses. */
uint32_t blockindex_block(const struct blockindex *p, file_off off);
/* Address in the original of the instruction that the place is in or stands for; -1: in no
 * block, or in what a generation has added to one. */
int blockindex_place(const struct blockindex *p, file_off off, vaddr *out);
/* Address of the place in the file itself; -1 when in no executable segment. */
int blockindex_addr(const struct blockindex *p, file_off off, uint64_t *out);

/* --- a cache of indexes, from one spool file to the next --- */

/* An index is kept by the content of the file that it is of, so it never becomes wrong.  When
 * the cache exceeds max_bytes, those indexes are dropped that were asked for neither in this
 * round nor in the one before, and if that is not enough the newest one.  (The oldest would be
 * wrong: each round asks for much the same indexes in the same order; they are wanted next.) */
struct blockindex_kept;
struct blockindex_kept *blockindex_kept_new(size_t max_bytes);
void blockindex_kept_free(struct blockindex_kept *k);	/* NULL is allowed */
/* Begins a round. */
void blockindex_kept_round(struct blockindex_kept *k);
/* NULL: not in the cache.  Valid until blockindex_kept_trim(). */
const struct blockindex *blockindex_kept_get(struct blockindex_kept *k,
					     const struct digest *content);
/* Enters p, which the cache owns from now on. */
void blockindex_kept_put(struct blockindex_kept *k, const struct digest *content,
		     const struct digest *original, struct blockindex *p);
/* Drops indexes until the cache is below its limit. */
void blockindex_kept_trim(struct blockindex_kept *k);
/* Drops the indexes of an original whose block table has changed. */
void blockindex_kept_forget(struct blockindex_kept *k, const struct digest *original);
size_t blockindex_kept_bytes(const struct blockindex_kept *k);

#endif
