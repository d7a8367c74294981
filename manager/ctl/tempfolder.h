/* tempfolder.h - a folder for a moment, which does not stay, however the process ends */
#ifndef MANAGER_CTL_TEMPFOLDER_H
#define MANAGER_CTL_TEMPFOLDER_H

#include <limits.h>
#include <sys/types.h>

struct err;

struct tempfolder {
	char path[PATH_MAX];
	pid_t remover;
	int alive;		/* open as long as this process lives */
};

/* In TMPDIR, or /tmp. */
int tempfolder_make(struct tempfolder *out, struct err *err);
/* With the files in it, which are in no folders. */
void tempfolder_remove(struct tempfolder *t);

#endif
