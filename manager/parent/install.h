/* install.h - swapping files atomically, and back
 *
 * Runs in the privileged parent; parses nothing but its own journal.  At every instant, and
 * after a kill at any point, the path holds exactly the old or exactly the new content.
 *
 * `originals` is a directory that only the parent can write (DIR/originals): files named by the
 * SHA-256 of their content, and "journal", the one operation under way.
 */
#ifndef MANAGER_PARENT_INSTALL_H
#define MANAGER_PARENT_INSTALL_H

#include <stdbool.h>

#include "lib/digest.h"

struct err;

struct install_request {
	const char *path;		/* absolute, without symbolic links */
	struct digest expected;		/* of the file at the path now */
	/* of the pristine original; equal to `expected` when the original is at the path,
	 * else it is in originals */
	struct digest original;
	struct digest generation;	/* of what generation_fd holds */
	int generation_fd;		/* the verified generation, readable */
	int originals_fd;		/* directory, see above */
	bool allow_hard_links;
};

struct restore_request {
	const char *path;
	struct digest expected;		/* of the generation at the path now */
	struct digest original;
	int originals_fd;
	bool allow_hard_links;
};

/* Opens DIR/originals, made 0700 if missing; -1 if others could write there. */
int install_open_originals(const char *store_dir, struct err *err);

/* ERR_REFUSED with a sentence when Morph must not touch the file; the file is then
 * untouched. */
int install_generation(const struct install_request *r, struct err *err);
/* Only over `expected`, never over anything newer.  The original stays in originals. */
int install_restore(const struct restore_request *r, struct err *err);
/* The same refusals without doing anything: is the path a candidate at all? */
int install_check(const char *path, bool allow_hard_links, struct err *err);

enum install_outcome {
	INSTALL_NOTHING,	/* no operation was under way */
	INSTALL_UNDONE,	/* the old content is at the path */
	INSTALL_FINISHED,	/* the new content is at the path */
	INSTALL_OVERTAKEN,	/* somebody else's newer file is at the path, left alone */
	INSTALL_SET_ASIDE, /* the journal was damaged: `path` is its name in originals now */
};

struct install_recovered {
	enum install_outcome outcome;
	char path[4096];
	struct digest from, to;
};

/* At start: finishes or undoes what a killed process left behind.  Idempotent.  A journal
 * that cannot be believed is kept under another name and nothing is done by it: each path
 * holds the whole of its old or its new content at every moment, so all that can be left is
 * a temporary file beside one. */
int install_recover(int originals_fd, struct install_recovered *out, struct err *err);

/* A pristine original by digest, content checked; a descriptor for reading, or -1. */
int install_open_original(int originals_fd, const struct digest *original, struct err *err);

/* Test hook: called with the name of every step boundary. */
extern void (*install_step_hook)(const char *step);

#endif
