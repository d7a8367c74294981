/* install_back.h - the original back at a path, by what needs no journal and no free space
 *
 * For `morphctl undo`, which may have nothing but the originals, and for the parent when a disk
 * is full.  Every step can be the last: the path holds the whole of its old or its new content,
 * and whoever comes next finishes or clears away, because the temporary's name follows from the
 * file's.
 */
#ifndef MANAGER_PARENT_INSTALL_BACK_H
#define MANAGER_PARENT_INSTALL_BACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/digest.h"

struct err;
struct install_done;
struct install_file;
struct names;

struct back_request {
	const char *path;		/* absolute, without symbolic links */
	/* bytes of its front that the ledger does not know: where another system's root is */
	size_t beneath;
	const struct names *names;	/* further ones that it may have; NULL: not known */
	struct digest expected;		/* of what is at the path now */
	struct digest original;
	int originals_fd;
	int ledger_fd;			/* who else needs the original; -1: nobody can tell */
	struct install_done *done;	/* filled; may be NULL */
};

enum back_how {
	BACK_COPIED,	/* the original stays in originals as well */
	BACK_MOVED,	/* no room for a copy: it is at the path alone */
	BACK_SHARED,	/* the same, but others need it: one file with two names, until
			 * back_apart() finds room */
};

/* *how says what became of the original; ERR_REFUSED as for install_restore(). */
int install_back(const struct back_request *r, enum back_how *how, struct err *err);

/* After BACK_SHARED: the path and the file in originals are two files again.  1 done, 0 they
 * were, -1. */
int back_apart(const struct install_file *f, const struct digest *original, int originals_fd,
	       struct err *err);

enum { BACK_NAME_LEN = 13 };		/* ".morph-XXXXXX" */

/* The temporary's name for the file of that name. */
void back_temporary(const char *name, char out[BACK_NAME_LEN + 1]);
/* What a killed undo left beside the file, open for reading: a regular file that is root's or
 * the file owner's; -1: there is nothing of ours. */
int back_open_left(const struct install_file *f);
/* Takes it away; or, when it is somebody's newer file that our exchange took from its path,
 * puts it back there. */
int back_clear_left(const struct install_file *f, bool newer, struct err *err);

#endif
