/* undo_live.h - generations of running processes, taken out without the daemon */
#ifndef MANAGER_CTL_UNDO_LIVE_H
#define MANAGER_CTL_UNDO_LIVE_H

struct err;

/* Takes out of all processes what they have of the program at the path by the store's own word
 * (livebook.h); path == NULL: all that is mapped from the store, whoever has done it.  What
 * came of each is told on standard error.  0: nothing is left; -1: something is, *err says
 * why. */
int undo_live(const char *store, const char *path, struct err *err);

#endif
