/* tar.h - writes an archive in the ustar format of POSIX.1-2001 (pax), as far as reports
 * need it */
#ifndef MANAGER_WORK_TAR_H
#define MANAGER_WORK_TAR_H

#include "lib/rd.h"

struct err;

/* Appends a regular file, mode 0600, to the archive that fd holds.  name: at most 99 bytes. */
int tar_put(int fd, const char *name, struct bytes content, struct err *err);
/* The archive's end. */
int tar_end(int fd, struct err *err);

#endif
