#include "manager/control/watch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MAX_WATCHES = 4096 };

struct watched {
	int wd;			/* -1: not watched any more */
	bool touched;
	uint64_t hash;		/* of path: thousands are looked through for every module */
	char *path;
};

struct watch {
	int fd;
	int n, npending;
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

static uint64_t hash_of(const char *path)
{
	uint64_t h = 14695981039346656037u;		/* FNV-1a */

	for (; *path; path++)
		h = (h ^ (uint8_t)*path) * 1099511628211u;
	return h;
}

bool watch_add(struct watch *w, const char *path)
{
	uint64_t hash = hash_of(path);

	for (int i = 0; i < w->n; i++)
		if (w->at[i].hash == hash && strcmp(w->at[i].path, path) == 0)
			return false;
	if (w->n == MAX_WATCHES)
		return false;
	/* Replacing a file changes its link count (IN_ATTRIB) and in the end deletes it. */
	int wd = inotify_add_watch(w->fd, path, IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF |
				   IN_DELETE_SELF);
	char *copy = wd < 0 ? NULL : strdup(path);
	if (copy)
		w->at[w->n++] = (struct watched){ wd, false, hash, copy };
	return copy != NULL;
}

static void touch(struct watch *w, int wd)
{
	for (int i = 0; i < w->n; i++)
		if ((wd < 0 || w->at[i].wd == wd) && !w->at[i].touched) {
			w->at[i].touched = true;
			w->npending++;
		}
}

void watch_read(struct watch *w)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(w->fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n; ) {
			struct inotify_event e;

			memcpy(&e, buf + at, sizeof(e));
			if (e.mask & IN_Q_OVERFLOW)
				touch(w, -1);	/* which ones is lost: all of them */
			else if (!(e.mask & IN_IGNORED))
				touch(w, e.wd);
			at += (ssize_t)(sizeof(e) + e.len);
		}
}

bool watch_pending(const struct watch *w)
{
	return w->npending > 0;
}

bool watch_next(struct watch *w, char path[PATH_MAX])
{
	for (int i = 0; i < w->n; i++)
		if (w->at[i].touched) {
			(void)strncpy(path, w->at[i].path, PATH_MAX - 1);
			path[PATH_MAX - 1] = '\0';
			(void)inotify_rm_watch(w->fd, w->at[i].wd);	/* gone with its file */
			free(w->at[i].path);
			w->at[i] = w->at[--w->n];
			w->npending--;
			return true;
		}
	return false;
}
