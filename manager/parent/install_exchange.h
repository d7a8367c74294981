/* install_exchange.h - inside install: a finished file beside another one takes its place */
#ifndef MANAGER_PARENT_INSTALL_EXCHANGE_H
#define MANAGER_PARENT_INSTALL_EXCHANGE_H

#include "lib/digest.h"

struct err;
struct install_file;

/* The path still is the inode f that was looked at, with `expected`, and owner, mode and
 * attributes as they were then. */
int install_look_again(const struct install_file *f, const struct digest *expected,
		       struct err *err);
/* `temporary`, complete and synced beside f, is at the path afterwards and the old file is
 * gone, durably.  ERR_REFUSED: somebody was faster, and theirs is at the path. */
int install_exchange(const struct install_file *f, const char *temporary,
		     const struct digest *expected, struct err *err);

#endif
