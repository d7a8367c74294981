/* tempfolder.h - a folder for a moment, which does not stay, however the process ends */
#ifndef MANAGER_TRY_TEMPFOLDER_H
#define MANAGER_TRY_TEMPFOLDER_H

#include <limits.h>
#include <sys/types.h>

struct err;

struct tempfolder {
	char path[PATH_MAX];
	pid_t remover;
	int alive;		/* open as long as this process lives */
};

/* In TMPDIR, or /tmp; its name begins so. */
int tempfolder_make(struct tempfolder *out, const char *name, struct err *err);
/* With all that is in it. */
void tempfolder_remove(struct tempfolder *t);

#endif
