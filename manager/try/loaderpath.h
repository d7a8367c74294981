/* loaderpath.h - other files in the places of some, without a namespace
 *
 * The program that the command line starts is replaced by starting a copy, the libraries by
 * copies to which LD_LIBRARY_PATH leads.  What programs find out about their own path is that
 * of the copy; programs that they start in turn stay what they are, and so do libraries that
 * the loader finds otherwise: whoever uses this has to see whether they were used.
 */
#ifndef MANAGER_TRY_LOADERPATH_H
#define MANAGER_TRY_LOADERPATH_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct world_image;

struct loaderpath {
	char *program;		/* to be started; NULL: the original */
	char *libraries;	/* folder for LD_LIBRARY_PATH; NULL: there are none */
	char *temporary;	/* folder for TMPDIR */
};

/* Puts copies into the new folder `dir`; `program` is the path that the command starts. */
int loaderpath_make(const char *dir, const char *program, const struct world_image *image,
		    size_t nimage, struct loaderpath *out, struct err *err);
/* Does the name say that the file is a library, which a program does not execute? */
bool loaderpath_is_library(const char *path);
/* This process and its children write from now on to files beneath `dir` alone, and to devices
 * that keep nothing.  -1: the kernel cannot do that. */
int loaderpath_confine(const char *dir, struct err *err);

#endif
