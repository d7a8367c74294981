/* private.h - folders of the store that are the parent's alone */
#ifndef MANAGER_PARENT_PRIVATE_H
#define MANAGER_PARENT_PRIVATE_H

struct err;

/* Opens DIR/name, made 0700 if missing; -1 if others could write there. */
int private_open(const char *store_dir, const char *name, struct err *err);

#endif
