/* watch.h - which modules' files somebody touches, by inotify
 *
 * A watch is only a hint of which file to look at: whether the file changed is decided by its
 * digest.  A file that is touched is looked at WATCH_SETTLE_MS later, and not watched till
 * then: so whoever touches it over and over costs one event for each look.  Malloc-backed.
 */
#ifndef MANAGER_CONTROL_WATCH_H
#define MANAGER_CONTROL_WATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	WATCH_SETTLE_MS = 1000,
	WATCH_OVERFLOW_MS = 10000,	/* when it is lost which ones were touched: all */
};

struct watch;

struct watch *watch_new(void);			/* NULL when the kernel gives none */
void watch_free(struct watch *w);		/* NULL is allowed */
int watch_fd(const struct watch *w);		/* for poll(2) */
/* True when the path was not watched and is from now on: what happened before must be looked
 * for.  Beyond the kernel's limit, or for a file that cannot be reached, there is no watch. */
bool watch_add(struct watch *w, const char *path);
/* When poll(2) says so. */
void watch_read(struct watch *w, uint64_t now_ms);
/* When a path is to be looked at; UINT64_MAX: none was touched. */
uint64_t watch_due_ms(const struct watch *w);
/* Takes out one path that is due; it is no longer watched, until it is added again. */
bool watch_next(struct watch *w, uint64_t now_ms, char path[PATH_MAX]);
/* As if the path, watched or not, had been touched: to be looked at then. */
void watch_later(struct watch *w, const char *path, uint64_t due_ms);

#endif
