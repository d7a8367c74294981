/* notify.h - tells systemd how the daemon is (sd_notify(3), by its own protocol)
 *
 * Nothing happens where nobody listens.
 */
#ifndef MANAGER_PARENT_NOTIFY_H
#define MANAGER_PARENT_NOTIFY_H

#include <stdbool.h>

/* "READY=1" and its like, or "" with the status alone.  A status that was told last is not told
 * again. */
void notify_tell(const char *state, const char *status);

struct notify_sampling {
	bool off, runs, paused;		/* for good; now; */
	unsigned ends;			/* so often the monitor has ended by itself */
	const char *clock;		/* "": not known yet */
};
/* The same, with the status of sampling. */
void notify_sampling(const char *state, const struct notify_sampling *how);

#endif
