/* install_set.h - inside install: all names of a file, held by descriptors
 *
 * A file can have several names (hard links), in one folder or in several.  All that are found
 * are swapped together, so they stay names of one file.  Found are: those that were given, and
 * those in the folders of these; each is looked at here, and counts only if it leads to that
 * very file without a symbolic link.
 */
#ifndef MANAGER_PARENT_INSTALL_SET_H
#define MANAGER_PARENT_INSTALL_SET_H

#include <stdbool.h>

#include "manager/parent/install_file.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/names.h"

struct install_set {
	unsigned n;			/* names; 1 at least */
	/* the first is the path that was asked for, and has the file's descriptor; of the
	 * others fd is -1 and st that of the first */
	struct install_file f[NAMES_MOST];
	struct {
		uint64_t dev, inode;
		uint32_t owner;
		uint64_t mount;		/* 0: not known */
	} dir[NAMES_MOST];
	const char *path;		/* of the first; the caller's */
	struct names also;		/* of the others, in their order */
	bool more;			/* than there is room for */
};

/* As install_file_open(), of which the errors are; `given` may be NULL, and stays the
 * caller's. */
int install_set_open(const char *path, const struct names *given, struct install_set *out,
		     struct err *err);
void install_set_close(struct install_set *s);
const char *install_set_path(const struct install_set *s, unsigned i);
/* What waits beside a name, or was left there, is no name of the file; nor is what dpkg has
 * there while it replaces it. */
bool install_set_is_temporary(const char *name);

enum install_why {
	INSTALL_ALL,		/* a generation: one reason is that a name was not found, or
				 * must not be touched */
	INSTALL_FOUND,		/* a generation: such a name is left out of the set */
	INSTALL_BACK,		/* its original: likewise; and the file may have become
				 * set-id (install_file_check()) */
};

/* Every reason not to touch the file (ERR_REFUSED). */
int install_set_check(struct install_set *s, enum install_why why, struct err *err);

/* What is done under those names; done == NULL: nobody asks. */
struct install_done;
void install_set_tell(const struct install_set *s, struct install_done *done);

/* The names beside which a new file waits, one for each name of the set. */
struct install_temporaries {
	char at[NAMES_MOST][TEMPORARY_LEN + 1];
	struct stat made;		/* the new file */
};

/* The file at the first temporary gets the others as further names. */
int install_set_link(const struct install_set *s, const struct install_temporaries *t,
		     struct err *err);
/* Each folder once. */
int install_set_sync(const struct install_set *s, struct err *err);

#endif
