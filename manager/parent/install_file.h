/* install_file.h - inside install: a file in its directory, what speaks against touching it,
 * and a copy of it beside it
 */
#ifndef MANAGER_PARENT_INSTALL_FILE_H
#define MANAGER_PARENT_INSTALL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/digest.h"

struct err;

struct install_file {
	int dir;		/* its directory, -1: none */
	int fd;			/* the file, readable, -1: none */
	const char *name;	/* in dir; points into the path given */
	struct stat st;
};

/* Only the directory of an absolute path; out->fd is -1.  ERR_SYS: it may be there; of
 * another kind: it is not, or no path leads to it. */
int install_file_open_dir(const char *path, struct install_file *out, struct err *err);
/* Opens an absolute path whose every component is what it says: no symbolic links, no "..".
 * The file itself may be missing: fd is -1 then; so it is for what is not a regular file,
 * which is not opened and has st.st_mode.  Close with install_file_close() in any case. */
int install_file_open(const char *path, struct install_file *out, struct err *err);
void install_file_close(struct install_file *f);

/* Every reason not to touch the file or its directory (ERR_REFUSED), but for its other names
 * (install_set.h).  `back`: its original comes back, to which that it was made set-id, or was
 * given capabilities, is handed on. */
int install_file_check(const struct install_file *f, bool back, struct err *err);
/* Those of the directory and all above it alone; f->st is the file's. */
int install_file_check_dirs(const struct install_file *f, struct err *err);

/* Copies from's content from its beginning and gives the digest of what was written. */
int install_copy(int from, int to, struct digest *out, struct err *err);
/* Owner, mode, extended attributes, times of `from`: in the order that loses nothing. */
int install_copy_attributes(int from, const struct stat *st, int to, struct err *err);

/* Test hook: called with the name of every step boundary. */
extern void (*install_step_hook)(const char *step);
void install_step(const char *name);
int install_sync(int fd, struct err *err);

#endif
