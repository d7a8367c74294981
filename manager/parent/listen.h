/* listen.h - the socket at which morphctl reaches the daemon */
#ifndef MANAGER_PARENT_LISTEN_H
#define MANAGER_PARENT_LISTEN_H

struct err;

/* Makes it at the path, in the place of what is there; anyone may connect. */
int listen_at(const char *path, struct err *err);

#endif
