/* livebook.h - what root knows by itself about generations in running processes
 *
 * DIR/live holds generations that are mapped there, or are to be, each named by its SHA-256,
 * and DIR/livebook an entry for each process and generation.  Both folders are root's alone. 
 * The parent writes an entry before the process is touched, and only of a generation that a
 * verifier of its own start has shown to be fit for it.  What a process really has mapped its
 * mappings say; the entry says of which program it is.  morphctl live puts files into DIR/live,
 * too, without entries: of these nothing is known here, and they are left alone as long as a
 * process has them.
 *
 * An entry is a text with a checksum (sumtext.h), named PID-START-GENERATION:
 *
 *   morph-livebook 1
 *   process <pid> <start>       decimal; start: field 22 of /proc/PID/stat
 *   owner <user>                who ran it
 *   original <64 hex digits>
 *   generation <64 hex digits>  the file in DIR/live
 *   path <path>                 of the program or library, to the end of the line
 *   sum <64 hex digits>
 */
#ifndef MANAGER_PARENT_LIVEBOOK_H
#define MANAGER_PARENT_LIVEBOOK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/digest.h"

struct err;

enum {
	LIVEBOOK_ENTRIES = 512,			/* processes, at most */
	LIVEBOOK_FILES = 64,			/* generations */
	LIVEBOOK_MIB = 1024,			/* of all of these */
	LIVEBOOK_YOUNG_S = 3600,	/* a file that nobody has mapped stays so long */
};

struct livebook {
	int book_fd, files_fd;			/* folders; -1: not open */
	char folder[PATH_MAX];			/* DIR/live */
};

struct livebook_entry {
	pid_t pid;
	uint64_t start;
	uint32_t owner;
	struct digest original, generation;
	char path[PATH_MAX];
};

/* Opens both, made 0700 if missing; -1 if others could write there. */
int livebook_open(struct livebook *b, const char *store_dir, struct err *err);
void livebook_close(struct livebook *b);

/* Durable when it returns; over a former one of that process and generation. */
int livebook_put(const struct livebook *b, const struct livebook_entry *e, struct err *err);
int livebook_remove(const struct livebook *b, const struct livebook_entry *e, struct err *err);
/* All that can be read, malloc'd, the caller's; -1: the folder cannot be read. */
int livebook_all(const struct livebook *b, struct livebook_entry **out, uint32_t *n,
		 struct err *err);

/* The generation's file, readable by root, whole on disk: made from `fd`, whose digest it is,
 * if it is not there.  ERR_REFUSED when there is no room. */
int livebook_keep(const struct livebook *b, int fd, const struct digest *generation,
		  struct err *err);
/* A descriptor of the file, which is used as long as that is open (livefiles.h); -1. */
int livebook_open_file(const struct livebook *b, const struct digest *generation,
		       struct err *err);
/* Nobody gets it again; whoever has it keeps it. */
void livebook_drop_file(const struct livebook *b, const struct digest *generation);
/* Removes files that have had their hour and of which `has` does not say that a process has
 * them. */
void livebook_sweep(const struct livebook *b,
		    bool (*has)(void *ctx, const struct digest *generation), void *ctx);

#endif
