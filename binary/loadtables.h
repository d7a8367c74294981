/* loadtables.h - do sections hold all that the loader reads by dynamic entries? */
#ifndef BINARY_LOADTABLES_H
#define BINARY_LOADTABLES_H

struct err;
struct image;

/* ERR_INPUT where they do not: then nothing that section headers say of these tables can be
 * believed. */
int loadtables_check(const struct image *img, struct err *err);

#endif
