/* renewed.h - a damaged generation with the build-id that goes with it
 *
 * The build-id follows from the block map.  Without this, a change of the map, or of the digest
 * of the original in it, would be noticed by that alone.
 */
#ifndef TESTS_UNIT_RENEWED_H
#define TESTS_UNIT_RENEWED_H

#include <stdint.h>
#include <string.h>

#include "binary/buildid.h"
#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/err.h"

/* The build-id that the generation should have goes to `want`; returns where it has one, NULL
 * if nobody can tell. */
static inline uint8_t *renewed_find(struct bytes original, uint8_t *gen, uint64_t n,
				    uint8_t *want)
{
	struct arena *a = arena_new();
	struct image o, g;
	struct err err;
	uint8_t *at = NULL;

	if (image_parse(original, a, &o, &err) == 0 &&
	    image_parse((struct bytes){ gen, n }, a, &g, &err) == 0) {
		struct buildid was = buildid_find(&o), is = buildid_find(&g);
		const struct section *s = image_section(&g, ".morph.map");
		struct bytes map = { 0 };

		if (s && s->h.sh_type != SHT_NOBITS)
			map = bytes_at(g.file, s->h.sh_offset, s->h.sh_size);
		if (map.p && was.id.n && was.id.n == is.id.n) {
			buildid_derive(was.id, map, want);
			at = gen + (is.id.p - gen);
		}
	}
	arena_free(a);
	return at;
}

/* How many bytes of build-id the original has. */
static inline uint64_t renewed_size(struct bytes original)
{
	struct arena *a = arena_new();
	struct image o;
	struct err err;
	uint64_t n = image_parse(original, a, &o, &err) == 0 ? buildid_find(&o).id.n : 0;

	arena_free(a);
	return n;
}

static inline bool renewed_fits(struct bytes original, uint8_t *gen, uint64_t n)
{
	uint8_t want[sizeof(struct digest)];
	const uint8_t *at = renewed_find(original, gen, n, want);

	return at && memcmp(at, want, renewed_size(original)) == 0;
}

static inline void renewed_set(struct bytes original, uint8_t *gen, uint64_t n)
{
	uint8_t want[sizeof(struct digest)];
	uint8_t *at = renewed_find(original, gen, n, want);

	if (at)
		memcpy(at, want, renewed_size(original));
}

/* `gen`, damaged, with another build-id if `pristine` has the same one. */
static inline struct bytes renewed_copy(struct bytes original, struct bytes pristine,
					struct bytes gen, struct arena *a)
{
	uint8_t *copy = arena_dup(a, gen.p, gen.n), *was = arena_dup(a, pristine.p, pristine.n);
	uint8_t want[sizeof(struct digest)];
	const uint8_t *old = renewed_find(original, was, pristine.n, want);
	const uint8_t *now = renewed_find(original, copy, gen.n, want);

	if (old && now && old - was == now - copy &&
	    memcmp(old, now, renewed_size(original)) == 0)
		renewed_set(original, copy, gen.n);
	return (struct bytes){ copy, gen.n };
}

#endif
