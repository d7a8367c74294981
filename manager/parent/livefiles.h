/* livefiles.h - who is at work with a running process, and which files of DIR/live are in use
 *
 * Several commands, and the daemon, put generations into processes that run, without knowing of
 * each other.  So there are locks, which go when their holder does, however that ends:
 *
 *	a process	a byte of DIR/live/lock, at its number
 *	a file		on the file itself, by who maps it now or may map it again; it lasts as
 *			long as what was mapped through that descriptor, in any process
 *
 * What stays of one that was killed is a file that has no lock, that no process has mapped, and
 * that no entry of the livebook names: the next one sweeps it.
 */
#ifndef MANAGER_PARENT_LIVEFILES_H
#define MANAGER_PARENT_LIVEFILES_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* DIR/live of the store, which is made with its store if missing: its path is in `folder`.  -1:
 * it cannot be, or is not root's alone. */
int livefiles_open(const char *store_dir, char *folder, size_t size, struct err *err);
/* A descriptor with which the process is the caller's until it is closed.  -1: ERR_REFUSED
 * where somebody else has it. */
int livefiles_lock(const char *folder, pid_t pid, struct err *err);

/* The file is used until all copies of the descriptor are closed and nothing is mapped through
 * it.  False: it has been removed already. */
bool livefiles_use(int fd);
/* Nobody else uses it, nor begins to until the descriptor is closed. */
bool livefiles_unused(int fd);
/* Removes what nobody needs.  What cannot be removed now stays for the next time. */
void livefiles_sweep(const char *store_dir);

#endif
