/* blockindex.h - from a place in a mapped file to the block of the original
 *
 * What a block table and, for a generation, its block map say, in a form that is small enough
 * to be kept and quick to search: lib/ranges.h.  Malloc-backed; a failed allocation exits as in
 * lib/arena.h.
 */
#ifndef MANAGER_SAMPLES_BLOCKINDEX_H
#define MANAGER_SAMPLES_BLOCKINDEX_H

#include <stddef.h>

#include "lib/blockmap.h"
#include "lib/blocktable.h"

struct places;

/* Both may be freed afterwards.  map == NULL: the file is the original itself. */
struct places *places_new(const struct blocktable *t, const struct blockmap *map);
void places_free(struct places *p);		/* NULL is allowed */
size_t places_bytes(const struct places *p);

/* Index in the block table; UINT32_MAX: in no block.  A place in the new text of a
 * generation is in the block that its image is of; one in the old text is what it is in the
 * original, because originals keep their addresses. */
uint32_t places_block(const struct places *p, file_off off);
/* Address of the place in the file itself; -1 when in no executable segment. */
int places_addr(const struct places *p, file_off off, uint64_t *out);

/* --- those that are kept --- */

/* By contents, so they hold for ever.  When there are more than max_bytes, those go that
 * were asked for neither in this round nor in the one before, and if that is not enough the
 * newest one: rounds ask for much the same ones in the same order, so the oldest would be
 * those that are wanted next. */
struct places_kept;
struct places_kept *places_kept_new(size_t max_bytes);
void places_kept_free(struct places_kept *k);	/* NULL is allowed */
void places_kept_round(struct places_kept *k);
/* NULL: not there.  Valid until places_kept_trim(). */
const struct places *places_kept_get(struct places_kept *k, const struct digest *content);
/* Takes p over. */
void places_kept_put(struct places_kept *k, const struct digest *content,
		     const struct digest *original, struct places *p);
/* Brings it below the limit. */
void places_kept_trim(struct places_kept *k);
/* Its block table is another one now. */
void places_kept_forget(struct places_kept *k, const struct digest *original);
size_t places_kept_bytes(const struct places_kept *k);

#endif
