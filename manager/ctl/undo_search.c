/* undo_search.c - generations found by looking at files
 *
 * For a store that does not tell where its generations are.  All regular files of a page and
 * more are opened; those that begin as ELF files do and have the name of a generation's section
 * near their end are told.  Nothing is parsed.
 *
 * Tested by tests/e2e/undo.sh, which also says how long it takes.
 */
#include "manager/ctl/undo_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/blockmap.h"

/* no generation is smaller */
enum { LEAST_BYTES = 4096 };

struct search {
	bool (*f)(void *ctx, const char *path);
	void *ctx;
	unsigned *unread;
	char path[PATH_MAX];
};

static bool look(struct search *s, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);

	if (fd < 0)	/* who does not own a file may not leave its time of access */
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return true;
	bool may = blockmap_may_be_in(fd);
	close(fd);
	return may ? s->f(s->ctx, s->path) : true;
}

static int not_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static bool walk(struct search *s, int above, const char *name, size_t len)
{
	struct dirent **list;
	bool go_on = true;
	int dir = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int n = dir < 0 ? -1 : scandirat(dir, ".", &list, not_dots, alphasort);

	if (n < 0) {
		*s->unread += errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
		goto out;
	}
	for (int i = 0; i < n; i++) {
		int k = snprintf(s->path + len, sizeof(s->path) - len, "/%s", list[i]->d_name);
		struct stat st;

		if (!go_on || k >= (int)(sizeof(s->path) - len) ||
		    fstatat(dir, list[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			st.st_mode = 0;
		if (S_ISDIR(st.st_mode))
			go_on = walk(s, dir, list[i]->d_name, len + (size_t)k);
		else if (S_ISREG(st.st_mode) && st.st_size >= LEAST_BYTES)
			go_on = look(s, dir, list[i]->d_name);
		free(list[i]);
	}
	free(list);
out:
	if (dir >= 0)
		close(dir);
	return go_on;
}

void undo_search(const char *folder, bool (*f)(void *ctx, const char *path), void *ctx,
		 unsigned *unread)
{
	struct search s = { .f = f, .ctx = ctx, .unread = unread };
	size_t len = strlen(folder);

	while (len && folder[len - 1] == '/')
		len--;
	if (len < sizeof(s.path)) {
		memcpy(s.path, folder, len);
		(void)walk(&s, AT_FDCWD, folder, len);
	}
}
