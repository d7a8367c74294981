/* buildid.h - the build-id of a file, by which debuggers and profilers know what belongs to it
 *
 * A generation has a build-id of its own: tools must not take the original's debug file, or
 * what they keep of the original, for it.  It follows from the original's and the block map,
 * has the same length, and stands in the same note.  The Editor writes it, the Verifier
 * compares.
 */
#ifndef BINARY_BUILDID_H
#define BINARY_BUILDID_H

#include "binary/image.h"

struct buildid {
	struct bytes id;		/* in the file; 0 bytes: there is none */
	const Elf64_Phdr *ph;		/* the PT_NOTE that it was found by */
};

/* The first note with a build-id of at most 32 bytes that is loaded. */
struct buildid buildid_find(const struct image *img);
/* Writes the original.n bytes of the generation's build-id. */
void buildid_derive(struct bytes original, struct bytes map, uint8_t *out);

#endif
