/* install_recover.h - finishing or undoing swaps that were interrupted
 *
 * Every operation has its own journal, and each is settled by itself: one that cannot be
 * settled now (a folder that cannot be written, say) stays, is tried again later, and is in the
 * way of swaps of its own path only.
 */
#ifndef MANAGER_PARENT_INSTALL_RECOVER_H
#define MANAGER_PARENT_INSTALL_RECOVER_H

#include <limits.h>

#include "lib/digest.h"

struct err;

enum install_outcome {
	INSTALL_NOTHING,	/* no operation was under way */
	INSTALL_UNDONE,		/* the old content is at the path and all other names */
	INSTALL_FINISHED,	/* the new content is */
	INSTALL_OVERTAKEN,	/* somebody else's newer file is at the path, left alone */
	INSTALL_SET_ASIDE,	/* the journal was damaged: `path` is its name in originals */
	INSTALL_STUCK,		/* `reason` says why not yet; `path` may be a journal's */
};

struct install_recovered {
	enum install_outcome outcome;
	char path[PATH_MAX];
	struct digest from, to;
	char reason[1024];
};

/* Settles what it can, and tells of every journal.  How many are stuck; -1: originals cannot
 * be read.  Idempotent.  A journal that cannot be believed is kept under another name and
 * nothing is done by it: each path holds the whole of its old or its new content at every
 * moment, so all that can be left is a temporary file beside one. */
int install_recover(int originals_fd,
		    void (*told)(void *ctx, const struct install_recovered *r), void *ctx,
		    struct err *err);
/* Those of files of which this path is a name only; -1 when one is stuck. */
int install_recover_path(int originals_fd, const char *path, struct err *err);

#endif
