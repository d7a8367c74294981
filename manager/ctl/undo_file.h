/* undo_file.h - one file: is it a generation, of what, may its original come back, and back */
#ifndef MANAGER_CTL_UNDO_FILE_H
#define MANAGER_CTL_UNDO_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct undo_store {
	const char *root;		/* "", or where the other system's root is */
	const char *folder;		/* the daemon's --store, below root */
	int originals_fd;
	int ledger_fd;			/* -1: there is none */
	const char *morph_verify;	/* the program; NULL: nothing can be proven */
	/* also of a generation that somebody edited, or that was destroyed */
	bool force;
	bool dry_run;			/* nothing is changed */
};

enum undo_result {
	UNDO_NOTHING,	/* no generation: left as it is */
	UNDO_RESTORED,	/* or would be, in a dry run */
	UNDO_GONE,	/* nothing is at the path */
};

enum { UNDO_SAID = 5120 };	/* the names of a file, and what is said of them */

/* `path`: absolute, without symbolic links, root included.  *result says what came of it, in
 * words in said[].  -1: a generation still is at the path, or that cannot be known. */
int undo_file(const struct undo_store *s, const char *path, enum undo_result *result,
	      char said[UNDO_SAID], struct err *err);
/* Is at the path what is left of a generation that was destroyed? */
bool undo_file_is_broken(const struct undo_store *s, const char *path);
/* Nothing is at the path: 1 and the name of the original that was there before, which is kept;
 * 0: none is. */
int undo_file_kept(const struct undo_store *s, const char *path, char hex[65]);

#endif
