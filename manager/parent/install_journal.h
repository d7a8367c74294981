/* install_journal.h - inside install: the one operation under way, on disk
 *
 * A file "journal" in the originals directory; lines, the last one a checksum over the ones
 * before:
 *
 *   morph-journal 1
 *   from <64 hex digits>        content at the path before
 *   to <64 hex digits>          content after
 *   directory <dev> <inode>     of the path's directory, decimal
 *   temporary <name>            beside the file
 *   path <path>                 to the end of the line; new lines in paths are refused
 *   sum <64 hex digits>
 */
#ifndef MANAGER_PARENT_INSTALL_JOURNAL_H
#define MANAGER_PARENT_INSTALL_JOURNAL_H

#include <limits.h>
#include <stdint.h>

#include "lib/digest.h"

struct err;

enum { TEMPORARY_LEN = 13,	/* ".morph-XXXXXX" */
       JOURNAL_KEPT_LEN = 17 };	/* "journal.damaged-9" */

struct install_journal {
	struct digest from, to;
	uint64_t dev, inode;		/* of the directory */
	char temporary[TEMPORARY_LEN + 1];
	char path[PATH_MAX];
};

/* Durable when it returns. */
int install_journal_write(int originals, const struct install_journal *j, struct err *err);
/* 1 read, 0 there is none, -1 damaged or unreadable. */
int install_journal_read(int originals, struct install_journal *out, struct err *err);
int install_journal_remove(int originals, struct err *err);
/* A damaged one is kept beside it under another name, which is in kept[]. */
int install_journal_set_aside(int originals, char kept[JOURNAL_KEPT_LEN + 1], struct err *err);

#endif
