/* needed.h - versions that the loader looks for with imported symbols */
#ifndef BINARY_NEEDED_H
#define BINARY_NEEDED_H

#include "binary/image.h"

/* The name of the version that symbol number `symbol` of .dynsym must have to be found; ""
 * when there is none, as for a symbol that the file itself defines. */
const char *needed_version(const struct image *img, uint32_t symbol);

#endif
