/* undo_links.h - names (hard links) of a generation that no list has
 *
 * A swap and an undo take at most NAMES_MOST names of a file at once.  Somebody may have given
 * a generation any number of names since: those in the folders of names that are known are
 * found here, by the inode that the generation had.
 */
#ifndef MANAGER_CTL_UNDO_LINKS_H
#define MANAGER_CTL_UNDO_LINKS_H

#include <stddef.h>
#include <sys/types.h>

struct digest;
struct err;
struct names;
struct undo_store;

struct undo_links {		/* zeroed: none */
	size_t n;
	struct undo_link {
		char *path;	/* malloc'd, as it is opened */
		ino_t inode;
	} *at;
};

struct undo_links_of {
	const char *path;	/* of the file, as it is opened */
	const char *known_as;	/* as the ledger has it */
	const struct names *names;	/* further ones, as they are opened */
	const struct digest *original;
	ino_t inode;		/* of the generation that was there; 0: not known */
};

/* Names, as they are now, of that inode and of those that the ledger has of generations of the
 * original at the path.  What has the name of ours for a while is none.  -1: a folder cannot be
 * read. */
int undo_links_find(const struct undo_store *s, const struct undo_links_of *of,
		    struct undo_links *out, struct err *err);
void undo_links_free(struct undo_links *l);

#endif
