/* landlock.h - files, networks and signals that a process gives up for itself and what it
 * starts
 *
 * A thin cover of the kernel's Landlock: everything of a file system that Landlock can govern
 * is forbidden but beneath the paths that are named; so are TCP, abstract sockets and signals
 * to processes outside, as far as the kernel knows of these.  Descriptors that are open stay
 * usable.
 */
#ifndef LIB_LANDLOCK_H
#define LIB_LANDLOCK_H

#include <stdint.h>

struct err;

enum landlock_right {
	LANDLOCK_READ = 1,	/* read files */
	LANDLOCK_LIST = 2,	/* list directories */
	LANDLOCK_RUN = 4,	/* start programs */
	LANDLOCK_WRITE = 8,	/* write, make, rename and remove files, make folders */
};

struct landlock_rule {		/* rights beneath a directory, or of one file */
	int fd;			/* of it, O_PATH is enough; -1: by path */
	const char *path;	/* nothing there: no rule */
	unsigned rights;	/* of enum landlock_right */
};

/* The version of the kernel's Landlock; 0: it has none, or it is switched off. */
int landlock_version(void);
/* 1: done, and cannot be undone; 0: the kernel has no Landlock, nothing was done.  Needs "no
 * new privileges" or root. */
int landlock_confine(const struct landlock_rule *rule, int n, struct err *err);

#endif
