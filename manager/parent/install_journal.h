/* install_journal.h - inside install: an operation under way, on disk
 *
 * Each operation has a file of its own in the originals directory, "journal-XXXXXX", a text
 * with a checksum (sumtext.h):
 *
 *   morph-journal 2
 *   from <64 hex digits>        content at the path before
 *   to <64 hex digits>          content after
 *   owner <user>                of the file; numbers are decimal
 *   directory <dev> <inode>     of the path's directory
 *   temporary <name>            beside the file; .morph-XXXXXX with the same letters
 *   path <path>                 to the end of the line; new lines in paths are refused
 *   sum <64 hex digits>
 *
 * Of a file with several names it is version 3, and has after the path for each further one:
 *
 *   also <dev> <inode> <name> <path>	its directory, the temporary there, the path
 *
 * Version 1, which was one file "journal", had no owner; what is left of it is still read.
 */
#ifndef MANAGER_PARENT_INSTALL_JOURNAL_H
#define MANAGER_PARENT_INSTALL_JOURNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"
#include "manager/parent/names.h"

struct err;

enum { TEMPORARY_LEN = 13,	/* ".morph-XXXXXX" */
       JOURNAL_LEN = 14,	/* "journal-XXXXXX" */
       JOURNAL_KEPT_LEN = 17 };	/* "journal.damaged-9" */

#define JOURNAL_ANYBODY UINT32_MAX	/* the owner where none is told */

struct install_journal_at {	/* of a further name */
	uint64_t dev, inode;
	char temporary[TEMPORARY_LEN + 1];
};

struct install_journal {
	struct digest from, to;
	uint32_t owner;
	uint64_t dev, inode;		/* of the directory */
	char temporary[TEMPORARY_LEN + 1];
	char path[PATH_MAX];
	struct names also;
	struct install_journal_at also_at[NAMES_MOST - 1];
};

/* One of its 1 + also.n names; the path is the journal's. */
struct install_journal_name {
	const char *path;
	struct install_journal_at at;
};
struct install_journal_name install_journal_nth(const struct install_journal *j, unsigned i);
bool install_journal_is_of(const struct install_journal *j, const char *path);

/* Durable when it returns. */
int install_journal_write(int originals, const struct install_journal *j, struct err *err);
/* 1 read, 0 there is none; -1: unreadable, or damaged (ERR_INPUT). */
int install_journal_read(int originals, const char *name, struct install_journal *out,
			 struct err *err);
int install_journal_remove(int originals, const char *name, struct err *err);
/* A damaged one is kept beside it under another name, which is in kept[]. */
int install_journal_set_aside(int originals, const char *name, char kept[JOURNAL_KEPT_LEN + 1],
			      struct err *err);
/* The name of the journal of an operation, in out[]. */
void install_journal_name(const struct install_journal *j, char out[JOURNAL_LEN + 1]);
/* The names of all that there are, in order: the caller frees each and the list.  How many;
 * -1: they cannot be listed. */
int install_journal_list(int originals, char ***out, struct err *err);

#endif
