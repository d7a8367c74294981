/* tempfolder.h - a folder for a moment, which does not stay, however the process ends */
#ifndef MANAGER_TRY_TEMPFOLDER_H
#define MANAGER_TRY_TEMPFOLDER_H

#include <sys/types.h>

struct err;

struct tempfolder {
	char *path;		/* as folder_make() says */
	pid_t remover;
	int alive;		/* open as long as this process lives */
};

/* Its name begins so; tempfolder_remove(). */
int tempfolder_make(struct tempfolder *out, const char *name, struct err *err);
/* With all that is in it.  -1: something is left. */
int tempfolder_remove(struct tempfolder *t, struct err *err);

#endif
