/* dropins.c - a configuration file and the files of the folder beside it, as one text
 *
 * Tested by tests/unit/lib/test_dropins.c.
 */
#include "lib/dropins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/wr.h"

static const char mark[] = "--- # file: ";

static int open_file(const char *path, struct err *err)
{
	struct stat st;
	/* a FIFO would be waited for */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return err_set(err, ERR_USAGE, "'%s': not a regular file", path);
}

/* The next line that begins a part, from the line at `at` on; text.n: none. */
static size_t find_mark(struct bytes text, size_t at)
{
	static const size_t n = sizeof(mark) - 1;

	while (at < text.n) {
		if (text.n - at > n && memcmp(text.p + at, mark, n) == 0)
			return at;
		const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
		if (!end)
			break;
		at = (size_t)(end - text.p) + 1;
	}
	return text.n;
}

static int append(const char *path, size_t max, struct wr *out, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes text;
	int fd = open_file(path, err);
	int rc = fd < 0 ? -1 : io_read_all(fd, max, a, &text, err);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && rc < 0)
		err_wrap(err, "'%s'", path);
	if (rc == 0 && find_mark(text, 0) < text.n)
		rc = err_set(err, ERR_USAGE, "'%s': a line begins with '%s', which stands "
			     "between files", path, mark);
	if (rc == 0) {
		wr_text(out, mark);
		wr_text(out, path);
		wr_text(out, "\n");
		wr_raw(out, text.p, text.n);
		if (text.n && text.p[text.n - 1] != '\n')
			wr_text(out, "\n");
	}
	arena_free(a);
	if (rc == 0 && out->n > max)
		rc = err_set(err, ERR_USAGE, "'%s': more than %zu bytes, with the files before "
			     "it", path, max);
	return rc;
}

static int join(const char *path, const char *folder, struct dirent *const *e, int n,
		size_t max, struct err *err)
{
	char one[PATH_MAX + NAME_MAX + 2];
	struct wr text = { 0 };
	int rc = append(path, max, &text, err);

	for (int i = 0; i < n && rc == 0; i++) {
		/* fits */
		(void)snprintf(one, sizeof(one), "%s/%s", folder, e[i]->d_name);
		rc = append(one, max, &text, err);
	}
	if (rc == 0)
		rc = io_memory_file(wr_bytes(&text), err);
	wr_free(&text);
	return rc;
}

static const char *suffix;	/* for choose(), which scandir() calls */

static int choose(const struct dirent *e)
{
	size_t n = strlen(e->d_name), k = strlen(suffix);

	return e->d_name[0] != '.' && !strchr(e->d_name, '\n') && n > k &&
	       strcmp(e->d_name + n - k, suffix) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int dropins_open(const char *path, size_t max, struct err *err)
{
	const char *base = strrchr(path, '/'), *dot;
	char folder[PATH_MAX];
	struct dirent **e = NULL;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (!dot || snprintf(folder, sizeof(folder), "%s.d", path) >= (int)sizeof(folder))
		return open_file(path, err);
	suffix = dot;
	int n = scandir(folder, &e, choose, by_name), rc;
	if (n < 0 && errno != ENOENT)
		rc = err_set(err, ERR_SYS, "'%s': %s", folder, strerror(errno));
	else if (n <= 0)
		rc = open_file(path, err);
	else if (n > DROPINS_MAX)
		rc = err_set(err, ERR_USAGE, "'%s': more than %d files", folder, DROPINS_MAX);
	else
		rc = join(path, folder, e, n, max, err);
	for (int i = 0; i < n; i++)
		free(e[i]);
	free(e);
	return rc;
}

struct bytes dropins_part(struct bytes *rest, char name[DROPINS_NAME_MAX])
{
	struct bytes part = *rest;
	const uint8_t *line_end = part.n ? memchr(part.p, '\n', part.n) : NULL;
	const size_t head = sizeof(mark) - 1;

	if (!line_end || find_mark(part, 0) != 0 ||
	    (size_t)(line_end - part.p) - head >= DROPINS_NAME_MAX) {
		*rest = (struct bytes){ part.p + part.n, 0 };
		return part;
	}
	size_t n = (size_t)(line_end - part.p) - head;
	memcpy(name, part.p + head, n);
	name[n] = '\0';
	part.p += head + n + 1;
	part.n -= head + n + 1;
	*rest = part;
	part.n = find_mark(part, 0);
	rest->p += part.n;
	rest->n -= part.n;
	return part;
}
