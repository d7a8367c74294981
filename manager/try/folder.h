/* folder.h - the folder of one trial, which goes with all that is in it */
#ifndef MANAGER_TRY_FOLDER_H
#define MANAGER_TRY_FOLDER_H

struct err;

/* Makes a folder for this user alone, whose name begins so, in $TMPDIR, else in /tmp: an
 * absolute path without symbolic links, the caller's.  NULL with *err filled. */
char *folder_make(const char *name, struct err *err);
/* DIR/NAME, the caller's. */
char *folder_path(const char *dir, const char *name);
/* Removes the folder and all in it, in its own file system; -1 with *err filled when something
 * is left. */
int folder_remove(const char *dir, struct err *err);

#endif
