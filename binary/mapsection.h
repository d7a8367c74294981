/* mapsection.h - finds and reads the block map in a generation; not used by the Verifier */
#ifndef BINARY_MAPSECTION_H
#define BINARY_MAPSECTION_H

#include "binary/image.h"

struct blockmap;
struct err;

#define MAPSECTION ".morph.map"

/* The section's content, which points into the file.  -1 with ERR_INPUT when `img` has no such
 * section: it is no generation. */
int mapsection_bytes(const struct image *img, struct bytes *out, struct err *err);
/* The block map in it, checked as by blockmap_read(); free it with blockmap_free(). */
int mapsection_read(const struct image *img, struct blockmap *out, struct err *err);

#endif
