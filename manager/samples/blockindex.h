/* blockindex.h - from a place in a mapped file to the block of the original
 *
 * What a block table and, for a generation, its block map say, in a form that is small enough
 * to be kept and quick to search: lib/ranges.h.  Malloc-backed (lib/memory.h).
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
/* Address of the place in the file itself; -1 when in no executable segment. */
int blockindex_addr(const struct blockindex *p, file_off off, uint64_t *out);

/* --- those that are kept --- */

/* By contents, so they hold for ever.  When there are more than max_bytes, those go that
 * were asked for neither in this round nor in the one before, and if that is not enough the
 * newest one: rounds ask for much the same ones in the same order, so the oldest would be
 * those that are wanted next. */
struct blockindex_kept;
struct blockindex_kept *blockindex_kept_new(size_t max_bytes);
void blockindex_kept_free(struct blockindex_kept *k);	/* NULL is allowed */
void blockindex_kept_round(struct blockindex_kept *k);
/* NULL: not there.  Valid until blockindex_kept_trim(). */
const struct blockindex *blockindex_kept_get(struct blockindex_kept *k,
					     const struct digest *content);
/* Takes p over. */
void blockindex_kept_put(struct blockindex_kept *k, const struct digest *content,
		     const struct digest *original, struct blockindex *p);
/* Brings it below the limit. */
void blockindex_kept_trim(struct blockindex_kept *k);
/* Its block table is another one now. */
void blockindex_kept_forget(struct blockindex_kept *k, const struct digest *original);
size_t blockindex_kept_bytes(const struct blockindex_kept *k);

#endif
