/* input.h - the standard input that each run of the command gets */
#ifndef MANAGER_TRY_INPUT_H
#define MANAGER_TRY_INPUT_H

#include <sys/types.h>

struct err;

/* Ours, if it is a regular file: *at is where it stands.  What comes by a pipe or a socket is
 * read to its end, into a file without a name in `dir`.  *fd is the caller's; -1: nothing, as
 * from /dev/null, which is what a terminal becomes. */
int input_take(const char *dir, int *fd, off_t *at, struct err *err);
/* A file without a name, as far as possible in `dir`; -1 with *err filled. */
int input_nameless(const char *dir, struct err *err);

#endif
