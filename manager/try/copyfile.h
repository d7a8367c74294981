/* copyfile.h - a fresh copy of a program or library, to be run in its place */
#ifndef MANAGER_TRY_COPYFILE_H
#define MANAGER_TRY_COPYFILE_H

struct err;

/* With its permission bits, but neither set-user-id nor set-group-id.  `to` must not be there.
 */
int copyfile(const char *from, const char *to, struct err *err);

#endif
