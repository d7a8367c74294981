/* unzstd.h - decompresses what `perf record -z` has written, a piece at a time
 *
 * All compressed records of a file are pieces of one stream, and a record may begin in one
 * piece and end in the next.
 */
#ifndef MANAGER_IMPORT_UNZSTD_H
#define MANAGER_IMPORT_UNZSTD_H

#include "lib/rd.h"
#include "lib/wr.h"

struct err;
struct unzstd;

/* A stream that says so much of itself is refused: no recording needs it, and a few bytes can
 * stand for any number. */
#define UNZSTD_MAX ((uint64_t)3 << 30)

struct unzstd *unzstd_new(struct err *err);	/* NULL: no memory */
void unzstd_free(struct unzstd *z);		/* NULL is allowed */
/* Appends what the piece stands for. */
int unzstd_add(struct unzstd *z, struct bytes piece, struct wr *out, struct err *err);

#endif
