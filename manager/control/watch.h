/* watch.h - which modules' files somebody touches, by inotify
 *
 * A watch is only a hint of which file to look at: whether the file changed is decided by its
 * digest.  Malloc-backed.
 */
#ifndef MANAGER_CONTROL_WATCH_H
#define MANAGER_CONTROL_WATCH_H

#include <limits.h>
#include <stdbool.h>

struct watch;

struct watch *watch_new(void);			/* NULL when the kernel gives none */
void watch_free(struct watch *w);		/* NULL is allowed */
int watch_fd(const struct watch *w);		/* for poll(2) */
/* True when the path was not watched and is from now on: what happened before must be looked
 * for.  Beyond the kernel's limit, or for a file that cannot be reached, there is no watch. */
bool watch_add(struct watch *w, const char *path);
void watch_read(struct watch *w);		/* when poll(2) says so */
bool watch_pending(const struct watch *w);
/* Takes out one path that was touched; it is no longer watched, until it is added again. */
bool watch_next(struct watch *w, char path[PATH_MAX]);

#endif
