/* hugepages.h - does the kernel map text of a file system with huge pages? */
#ifndef MANAGER_PARENT_HUGEPAGES_H
#define MANAGER_PARENT_HUGEPAGES_H

struct err;

enum { HUGEPAGES_BYTES = 2 << 20 };	/* smaller text is in none */

/* 0: text of a file beside the one at `path`, aligned for it, gets huge pages and keeps
 * them.  ERR_REFUSED: it does not; other errors: that cannot be found out. */
int hugepages_try(const char *path, struct err *err);

#endif
