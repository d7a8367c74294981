/* regular.h - opening regular files, and nothing else
 *
 * Opening a device or a pipe can have consequences, and its owner chooses what is at a name.
 * So what is there is looked at by a descriptor that opens nothing (O_PATH), and only a
 * regular file is then opened for reading, through that descriptor: nobody comes between.
 */
#ifndef MANAGER_PARENT_REGULAR_H
#define MANAGER_PARENT_REGULAR_H

#include <stdint.h>
#include <sys/stat.h>

enum { REGULAR_NOT = -2 };

/* `name` in `dir` (AT_FDCWD: or a path), not by a symbolic link at its end; `resolve` as in
 * openat2(2).  A descriptor for reading, the caller's, and *st; -1 with errno; REGULAR_NOT: it
 * is something else, which *st tells. */
int regular_open(int dir, const char *name, uint64_t resolve, struct stat *st);

#endif
