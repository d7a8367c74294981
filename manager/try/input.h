/* input.h - the standard input that each run of the command gets */
#ifndef MANAGER_TRY_INPUT_H
#define MANAGER_TRY_INPUT_H

#include <sys/types.h>

struct err;

/* Ours, if it is a file or a block device: *at is where it stands.  What comes by a pipe, a
 * socket or a device is read to its end, into a file without a name in `dir`.  *fd is the
 * caller's; -1: nothing, as from /dev/null, which is what a terminal becomes, and an input that
 * is closed.  ERR_USAGE: there are more than `most` bytes, as of what has no end, or it cannot
 * be read. */
int input_take(const char *dir, off_t most, int *fd, off_t *at, struct err *err);
/* A file without a name, as far as possible in `dir`; -1 with *err filled. */
int input_nameless(const char *dir, struct err *err);

#endif
