/* watch.c - inotify watches on the files of modules; see watch.h
 *
 * The kernel drops a watch together with the file that it is on, and a replaced program is
 * another file: so a path that was touched is taken out and has to be added again.
 *
 * Tested by tests/unit/manager/control/test_watch.c and tests/e2e/upgrade.sh.
 */
#include "manager/control/watch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "lib/hash.h"

enum { MAX_WATCHES = 4096, MAX_READS = 16 };

struct watched {
	int wd;			/* -1: touched, and not watched till it was looked at */
	uint64_t due_ms;	/* UINT64_MAX: not touched */
	uint64_t hash;		/* of path: thousands are looked through for every module */
	char *path;
};

struct watch {
	int fd;
	int n;
	struct watched at[MAX_WATCHES];
};

struct watch *watch_new(void)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd >= 0)
		return w;
	free(w);
	return NULL;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->n; i++)
		free(w->at[i].path);
	close(w->fd);
	free(w);
}

int watch_fd(const struct watch *w)
{
	return w->fd;
}

static struct watched *find(struct watch *w, const char *path)
{
	uint64_t hash = hash_text(path);

	for (int i = 0; i < w->n; i++)
		if (w->at[i].hash == hash && strcmp(w->at[i].path, path) == 0)
			return &w->at[i];
	return NULL;
}

/* False when there is no room. */
static bool enter(struct watch *w, int wd, const char *path, uint64_t due_ms)
{
	char *copy = w->n == MAX_WATCHES ? NULL : strdup(path);

	if (copy)
		w->at[w->n++] = (struct watched){ wd, due_ms, hash_text(path), copy };
	return copy != NULL;
}

bool watch_add(struct watch *w, const char *path)
{
	if (w->n == MAX_WATCHES || find(w, path))
		return false;
	/* Replacing a file changes its link count (IN_ATTRIB) and in the end deletes it. */
	int wd = inotify_add_watch(w->fd, path, IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF |
				   IN_DELETE_SELF);
	return wd >= 0 && enter(w, wd, path, UINT64_MAX);
}

/* What is known to be looked at needs no more events. */
static void touch(struct watch *w, struct watched *one, uint64_t due_ms)
{
	if (one->wd >= 0)
		(void)inotify_rm_watch(w->fd, one->wd);		/* gone with its file */
	one->wd = -1;
	if (due_ms < one->due_ms)
		one->due_ms = due_ms;
}

static void touch_wd(struct watch *w, int wd, uint64_t due_ms)
{
	for (int i = 0; i < w->n; i++)
		if (w->at[i].wd >= 0 && (wd < 0 || w->at[i].wd == wd))
			touch(w, &w->at[i], due_ms);
}

void watch_read(struct watch *w, uint64_t now_ms)
{
	char buf[4096];
	ssize_t n;

	for (int k = 0; k < MAX_READS && (n = read(w->fd, buf, sizeof(buf))) > 0; k++)
		for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n; ) {
			struct inotify_event e;

			memcpy(&e, buf + at, sizeof(e));
			if (e.mask & IN_Q_OVERFLOW)
				touch_wd(w, -1, now_ms + WATCH_OVERFLOW_MS);
			else if (!(e.mask & IN_IGNORED))
				touch_wd(w, e.wd, now_ms + WATCH_SETTLE_MS);
			at += (ssize_t)(sizeof(e) + e.len);
		}
}

uint64_t watch_due_ms(const struct watch *w)
{
	uint64_t due_ms = UINT64_MAX;

	for (int i = 0; i < w->n; i++)
		if (w->at[i].due_ms < due_ms)
			due_ms = w->at[i].due_ms;
	return due_ms;
}

bool watch_next(struct watch *w, uint64_t now_ms, char path[PATH_MAX])
{
	for (int i = 0; i < w->n; i++)
		if (w->at[i].due_ms <= now_ms) {
			(void)strncpy(path, w->at[i].path, PATH_MAX - 1);
			path[PATH_MAX - 1] = '\0';
			free(w->at[i].path);
			w->at[i] = w->at[--w->n];
			return true;
		}
	return false;
}

void watch_later(struct watch *w, const char *path, uint64_t due_ms)
{
	struct watched *one = find(w, path);

	if (one)
		touch(w, one, due_ms);
	else
		enter(w, -1, path, due_ms);
}
