/* private.h - folders of the store that are the parent's alone, and way for the manager's
 * files */
#ifndef MANAGER_PARENT_PRIVATE_H
#define MANAGER_PARENT_PRIVATE_H

struct err;

/* Opens DIR/name, made 0700 if missing; -1 if others could write there. */
int private_open(const char *store_dir, const char *name, struct err *err);

/* What stands where the manager has its files and is none goes aside: a manager that was taken
 * over may have left a folder there, which none after it has the right to move. */
void private_make_way(const char *store_dir);

#endif
