/* look.h - which files the command's time is spent in, by the samples of one run */
#ifndef MANAGER_TRY_LOOK_H
#define MANAGER_TRY_LOOK_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct look_file {
	char *path;
	uint64_t samples;	/* 0: a library of which that is not known */
};

struct look {
	struct look_file *file;		/* [nfile] most samples first */
	size_t nfile;
	uint64_t samples;		/* all */
	uint64_t kernel;		/* of them, in the kernel */
};

/* What was watched (procwatch.h): samples are milliseconds, programs come first, then all that
 * they had mapped. */
int look_read_watched(const char *path, struct look *out, struct err *err);
/* Of a log of `morphctl record`.  Files that are not at their path any more are left out. */
int look_read(const char *log, struct look *out, struct err *err);
void look_free(struct look *l);

#endif
