/* install_exchange.h - inside install: a finished file beside another one takes its place */
#ifndef MANAGER_PARENT_INSTALL_EXCHANGE_H
#define MANAGER_PARENT_INSTALL_EXCHANGE_H

#include <stdbool.h>

#include "lib/digest.h"

struct err;
struct install_set;
struct install_temporaries;

/* All names still are of the inode that was looked at, with `expected`, and owner, mode and
 * attributes as they were then. */
int install_look_again(const struct install_set *s, const struct digest *expected,
		       struct err *err);
/* The temporaries, complete and synced beside the names, are at these afterwards and the old
 * file is gone from them, durably.  `all`: only if it has no other name then.  ERR_REFUSED:
 * somebody was faster; theirs is where they put it, and the old file at all other names.
 * ERR_SYS: some names may have the new file and others the old one. */
int install_exchange(const struct install_set *s, const struct install_temporaries *t,
		     const struct digest *expected, bool all, struct err *err);

#endif
