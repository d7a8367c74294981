/* loadtables.h - checks that sections hold all that the loader reads through dynamic entries */
#ifndef BINARY_LOADTABLES_H
#define BINARY_LOADTABLES_H

struct err;
struct image;

/* ERR_INPUT where they do not: then section headers cannot be believed about these tables. */
int loadtables_check(const struct image *img, struct err *err);

#endif
