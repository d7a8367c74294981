/* digest.h - SHA-256, and MD5 for comparison with the lists of Debian's packages (libnettle) */
#ifndef LIB_DIGEST_H
#define LIB_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rd.h"

struct err;

struct digest {
	uint8_t b[32];
};

struct digest digest_of(struct bytes b);
/* Of the whole file, whatever the descriptor's position, which is kept.  A larger file than
 * DIGEST_MAX_BYTES is refused, so that nobody's endless file keeps the reader busy.  The limit
 * was chosen: five times the largest program of a distribution. */
enum { DIGEST_MAX_BYTES = 1 << 30 };
int digest_fd(int fd, struct digest *out, struct err *err);
/* The same in slices: `go_on` is asked after each, with the bytes of it, so that a long file
 * does not hold up everything else.  False: it is given up, ERR_SYS. */
struct digest_slices {
	bool (*go_on)(void *ctx, uint64_t bytes);
	void *ctx;
};
enum { DIGEST_SLICE = 4 << 20 };
int digest_fd_slices(int fd, const struct digest_slices *by, struct digest *out,
		     struct err *err);
/* Only to compare a file with a package's list: nothing is trusted because its MD5 is right. */
int digest_md5_fd(int fd, char hex[33], struct err *err);
bool digest_equal(const struct digest *x, const struct digest *y);
void digest_hex(const struct digest *d, char out[65]);
/* -1: not exactly 64 hex digits */
int digest_from_hex(const char *hex, struct digest *out);

#endif
