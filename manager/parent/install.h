/* install.h - swapping files atomically, and back
 *
 * Runs in the privileged parent; parses nothing but its own journals and ledger.  At every
 * instant, and after a kill at any point, the path holds exactly the old or exactly the new
 * content.  A file with several names is swapped under all of them; after a kill the recovery
 * leaves all names to the old or all to the new file.
 *
 * `originals` is a directory that only the parent can write (DIR/originals): files named by the
 * SHA-256 of their content, and a journal for each operation under way (install_journal.h).
 * `ledger` says which original a generation at a path gives way to (ledger.h).
 */
#ifndef MANAGER_PARENT_INSTALL_H
#define MANAGER_PARENT_INSTALL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/digest.h"
#include "manager/parent/names.h"
#include "manager/parent/originals.h"

struct err;

/* Under which other names a file was swapped as well, and how many more it has. */
struct install_done {
	struct names also;
	unsigned long others;
};
/* ", also as PATH, PATH; ...", or "". */
void install_done_text(const struct install_done *d, char *out, size_t size);

struct install_request {
	const char *path;		/* absolute, without symbolic links */
	struct digest expected;		/* of the file at the path now */
	/* of the pristine original; equal to `expected` when the original is at the path,
	 * else it is that of `expected` in the ledger */
	struct digest original;
	struct digest generation;	/* of what generation_fd holds */
	int generation_fd;		/* the verified generation, readable */
	int originals_fd, ledger_fd;	/* directories, see above */
	const struct names *names;	/* further ones that it may have; NULL: not known */
	bool allow_hard_links;		/* some that are not found keep the old content */
	struct install_done *done;	/* filled; may be NULL */
};

struct restore_request {
	const char *path;
	struct digest expected;		/* of the generation at the path now */
	struct digest original;
	int originals_fd;
	/* -1: root himself asks, and by no ledger: any original then may come to any path */
	int ledger_fd;
	/* `expected` was shown to be this generation, edited by somebody; NULL: it is the
	 * generation itself */
	const struct digest *edited;
	bool dry_run;			/* everything but the swap */
	struct install_done *done;	/* filled; may be NULL */
};

/* Opens DIR/originals, made 0700 if missing; -1 if others could write there. */
int install_open_originals(const char *store_dir, struct err *err);

/* ERR_REFUSED with a sentence when Morph must not touch the file; the file is then
 * untouched. */
int install_generation(const struct install_request *r, struct err *err);
/* Only over `expected`, never over anything newer, and only what the ledger binds to it; under
 * all names that the ledger has or that are found.  The original stays in originals. */
int install_restore(const struct restore_request *r, struct err *err);
/* The same refusals as of install_generation() without doing anything: is the path a candidate
 * at all?  *done, unless NULL, is what it would be. */
int install_check(const char *path, const struct names *names, bool allow_hard_links,
		  struct install_done *done, struct err *err);

/* 0: the ledger binds the generation at the path to that original; else a refusal. */
int install_bound(int ledger_fd, const char *path, const struct digest *generation,
		  const struct digest *original, struct err *err);

#endif
