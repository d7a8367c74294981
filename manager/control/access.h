/* access.h - who may see and change what, of those who ask on the socket
 *
 * Root, who started the daemon, and the group of the daemon's user may ask for everything
 * (control_trusted()).  Others may change what they own, and see what they own or, if the
 * policy says so, everything.  A module's owner is the owner of the file at its path.
 *
 * All commands ask here before they name a path or a program, or tell a sum over several users.
 * tests/unit/manager/control/test_access.c runs each for a user who owns nothing.
 */
#ifndef MANAGER_CONTROL_ACCESS_H
#define MANAGER_CONTROL_ACCESS_H

#include <stdbool.h>

struct client;
struct err;
struct store_module;
struct work;

/* Everything that is known of the machine: what others run, and how much. */
bool access_sees_all(const struct work *w, const struct client *cl);
bool access_owns(const struct client *cl, const struct store_module *m);
bool access_sees(const struct work *w, const struct client *cl, const struct store_module *m);
/* May he be told the path, or what program it is?  For every cell, line and sentence that is
 * not about a module that he is known to see. */
bool access_shows(const struct work *w, const struct client *cl, const char *path);
/* work_find() of what the client may see; of the rest he does not learn whether it is known. */
int access_find(struct work *w, const struct client *cl, const char *name,
		struct store_module *out, struct err *err);
/* The client may change the module at the path: also by what lies there now. */
int access_change(struct work *w, const struct client *cl, const char *path, struct err *err);

#endif
