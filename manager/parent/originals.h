/* originals.h - how long originals are kept
 *
 * An original stays as long as an entry of the ledger, or a journal, names it.  An entry stays
 *
 *	while its generation is at its path;
 *	while that cannot be known, since the path's folder is not there (a disk that is not
 *	mounted), or is another one;
 *	and ORIGINALS_KEPT_DAYS after its generation was last seen there: a backup may put it
 *	back, and the history be asked for it.
 *
 * An original goes with its last entry, never for want of one: a ledger that was lost says
 * nothing of what is at the paths, and then originals are all that generations can be undone
 * by.  So one that no entry names stays until somebody removes it by hand; besides a lost
 * ledger, a kill between an entry and its original leaves such.
 *
 * Originals of programs that are not root's take a bounded part of root's disk: when another
 * one does not fit, entries of that owner whose generations are not at their paths go, the
 * oldest first, and if that is not enough, the swap is refused.
 *
 * Originals from before there was a ledger have another mode than ORIGINALS_MODE, and stay.
 */
#ifndef MANAGER_PARENT_ORIGINALS_H
#define MANAGER_PARENT_ORIGINALS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/digest.h"

struct err;

enum {
	ORIGINALS_MODE = 0400,
	ORIGINALS_KEPT_DAYS = 30,
	ORIGINALS_OWNER_MIB = 512,	/* of one owner who is not root */
	ORIGINALS_OWNER_ENTRIES = 1000,
	ORIGINALS_PATH_ENTRIES = 64,
};

struct originals_swept {
	unsigned entries, originals;	/* removed */
	uint64_t bytes;			/* of these originals */
};

/* A pristine original by digest, content checked; a descriptor for reading, or -1. */
int install_open_original(int originals_fd, const struct digest *original, struct err *err);
/* Removes entries that have had their time, then their originals that nothing else names.  A
 * kill in between leaves originals, never an entry without its original.  What cannot be read
 * (a damaged entry) stops it before anything is removed. */
int originals_sweep(int originals_fd, int ledger_fd, time_t now, struct originals_swept *out,
		    struct err *err);
/* One that was kept for a swap that has failed, and not there before: removed, unless something
 * names it. */
int originals_remove_new(int originals_fd, int ledger_fd, const struct digest *original,
			 struct err *err);
/* *out: how many are kept that neither the ledger nor a journal names.  -1: not all of what
 * names them could be read (*out goes by what could), or they cannot be listed (it is left as
 * it was). */
int originals_unnamed(int originals_fd, int ledger_fd, unsigned *out, struct err *err);

/* A swap that is about to come. */
struct originals_coming {
	const char *path;
	uid_t owner;
	struct digest original;
	uint64_t bytes;			/* of the original */
};

/* Makes room for it in the ledger and originals, if it must; ERR_REFUSED, and nothing is
 * removed, when there is none. */
int originals_room(int originals_fd, int ledger_fd, const struct originals_coming *c,
		   struct err *err);

#endif
