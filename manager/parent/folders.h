/* folders.h - where programs are that the privileged parent opens and replaces
 *
 * The policy is the Manager's to read, so a Manager that was taken over has none.  This list is
 * the parent's own: a fixed one, and what root's command line adds (--folders).
 */
#ifndef MANAGER_PARENT_FOLDERS_H
#define MANAGER_PARENT_FOLDERS_H

struct err;

extern const char *const folders_usual[];	/* ends with NULL */

/* 0: `path` is absolute, spelled in the one way that has no ".", ".." or empty part, and
 * below one of the usual folders or one of `more` ("DIR:DIR...", may be empty).  Else -1,
 * ERR_REFUSED. */
int folders_check(const char *more, const char *path, struct err *err);
/* The first half of it alone. */
int folders_spelled(const char *path, struct err *err);
/* The same of all of these. */
struct names;
int folders_check_names(const char *folders, const struct names *names, struct err *err);

#endif
