/* ledger.h - what root knows by itself about what was swapped where
 *
 * DIR/ledger, a directory of root's with one entry for each path and generation that was put
 * there.  The parent writes an entry before the swap, and believes nobody else about what may
 * come back: a generation at a path gives way to the original of its entry, if the file is
 * still its owner's.  An entry of a swap that was undone does no harm: its generation is not at
 * the path, and its original was.
 *
 * An entry is a text with a checksum (sumtext.h), named by the SHA-256 of path, NUL and the
 * generation's digest, in hex:
 *
 *   morph-ledger 1
 *   original <64 hex digits>    pristine content, in originals
 *   generation <64 hex digits>  what was put in its place
 *   bytes <original> <generation>   sizes; numbers are decimal
 *   owner <user>                of the file, before and after
 *   file <dev> <inode>          of the generation
 *   directory <dev> <inode>
 *   path <path>                 to the end of the line
 *   also <path>                 for each further name that the file had; then it is version 2
 *   sum <64 hex digits>
 *
 * Of a file with several names each has its entry, with the others in it.
 *
 * The time of an entry's file is when its generation was last seen at the path (originals.h).
 */
#ifndef MANAGER_PARENT_LEDGER_H
#define MANAGER_PARENT_LEDGER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/digest.h"
#include "manager/parent/names.h"

struct err;

struct ledger_entry {
	struct digest original, generation;
	uint64_t original_bytes, generation_bytes;
	uint32_t owner;
	uint64_t dev, inode, dir_dev, dir_inode;
	char path[PATH_MAX];
	struct names also;
};

enum { LEDGER_NAME_LEN = 64 };

/* Opens DIR/ledger, made 0700 if missing; -1 if others could write there. */
int ledger_open(const char *store_dir, struct err *err);
/* Durable when it returns; over a former entry of that path and generation. */
int ledger_put(int ledger_fd, const struct ledger_entry *e, struct err *err);
/* 1 found, 0 there is none; -1: it cannot be read, or is damaged (ERR_INPUT). */
int ledger_find(int ledger_fd, const char *path, const struct digest *generation,
		struct ledger_entry *out, struct err *err);

/* 1: it has an entry of that path; 0: none; -1: not all could be read, and of those none is. */
int ledger_knows(int ledger_fd, const char *path, struct err *err);

/* With every entry, in the order of names, its name and when its generation was last seen.
 * -1: f said so, and no more are told; or some could not be read, and all others have been: a
 * damaged one is an ERR_INPUT that names it. */
int ledger_each(int ledger_fd,
		int (*f)(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
			 struct err *err),
		void *ctx, struct err *err);
/* Its generation is at the path now: by the entry's name; by what is in it. */
int ledger_touch(int ledger_fd, const char *name, struct err *err);
int ledger_seen(int ledger_fd, const char *path, const struct digest *generation,
		struct err *err);
/* Durable after ledger_sync(). */
int ledger_remove(int ledger_fd, const char *name, struct err *err);
int ledger_sync(int ledger_fd, struct err *err);

#endif
