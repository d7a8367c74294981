/* landlock.h - a process gives up files, networks and signals, for itself and for its children
 *
 * A thin cover of the kernel's Landlock.  Everything that Landlock can govern in a file system
 * is forbidden, except beneath the paths that are named.  TCP, abstract sockets and signals to
 * processes outside are forbidden as well, as far as the running kernel can do that.
 * Descriptors that are open stay usable.
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
	LANDLOCK_CONNECT = 16,	/* TCP connections to anywhere; of a rule without a path */
};

struct landlock_rule {		/* rights beneath a directory, or of one file */
	int fd;			/* of it, O_PATH is enough; -1: by path */
	const char *path;	/* nothing there, or NULL: no rule */
	unsigned rights;	/* of enum landlock_right */
};

/* The version of the kernel's Landlock; 0: it has none, or it is switched off. */
int landlock_version(void);
/* 1: done, and cannot be undone; 0: the kernel has no Landlock, nothing was done.  Needs "no
 * new privileges" or root. */
int landlock_confine(const struct landlock_rule *rule, int n, struct err *err);

#endif
