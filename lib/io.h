/* io.h - whole-file reading and writing through descriptors */
#ifndef LIB_IO_H
#define LIB_IO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/rd.h"

struct arena;
struct err;

/* The first thing that a program does: what is closed of its standard descriptors stays of no
 * use, but no file gets the number of one, for messages to be written into. */
void io_hold_standard(void);

/* All of `n` bytes, through EINTR and short writes. */
int io_write_all(int fd, const void *p, size_t n, struct err *err);
/* The whole content of a regular file or pipe as a private copy in the arena: a file truncated
 * under us cannot hurt.  More than `max` bytes is an error. */
int io_read_all(int fd, size_t max, struct arena *a, struct bytes *out, struct err *err);

/* A memory file with the text, at its start, which can be sealed; a descriptor, or -1. */
int io_memory_file(struct bytes text, struct err *err);
/* Is it one, of which nobody can change the content any more? */
bool io_is_sealed(int fd);
/* The file of that path gets the text and the mode, whatever the umask, for good when it
 * returns; whole or not at all: a full disk leaves the former one.  Of a folder that nobody
 * else writes in. */
int io_replace(const char *path, mode_t mode, struct bytes text, struct err *err);

/* An output that the command line names, in any folder. */
struct io_output {
	bool in_place;	/* what is there is no regular file: a rename would be its end */
	mode_t mode;	/* less the umask, or that of a file of one's own that is there */
	char at[PATH_MAX];	/* where a new file goes; links lead there, as /dev/stdout */
};
int io_output_of(const char *path, mode_t mode, struct io_output *out, struct err *err);
/* Can it be written, or standard output for "-"?  For who has much to do before. */
int io_output_check(const char *arg, struct err *err);

/* As io_replace(), for such an output, for which it is not waited; what is written in place may
 * be half written. */
int io_write_file(const char *path, mode_t mode, struct bytes text, struct err *err);

/* The same, or, for "-", to standard output. */
int io_write_output(const char *arg, struct bytes text, struct err *err);

/* Opens a file named on the command line.  "fd:N" is the inherited descriptor N: that is how
 * the Manager hands files to morph-edit.  Anything else is a path, "-" too. */
int io_open_read(const char *arg, struct err *err);
int io_open_write(const char *arg, struct err *err);	/* O_CREAT | O_TRUNC, 0666 & ~umask */

#endif
