/* ctl_keep.c - morphctl keep: the daemon lays a module out by a profile that is handed to it
 *
 * The profile goes over the socket as it is: it is looked into by the daemon's confined job
 * alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/work/answer.h"

/* As a string; NULL with *err filled. */
static char *read_text(const char *path, struct arena *a, struct err *err)
{
	static const char word[] = "morph-profile ";
	const size_t n = sizeof(word) - 1;
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct bytes b;

	if (fd < 0) {
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
		return NULL;
	}
	int rc = io_read_all(fd, ANSWER_MAX_PROFILE / 2, a, &b, err);
	close(fd);
	if (rc < 0) {
		err_wrap(err, "'%s'", path);
		return NULL;
	}
	/* the daemon would name the module, after it has analysed it */
	if (b.n < n || memcmp(b.p, word, n) != 0 || memchr(b.p, '\0', b.n)) {
		err_set(err, ERR_INPUT, "'%s': not a profile", path);
		return NULL;
	}
	char *text = arena_alloc(a, b.n + 1);
	memcpy(text, b.p, b.n);
	return text;
}

int ctl_keep(const struct ctl *ctl, int argc, char **argv)
{
	struct err err = { 0 };
	int code;

	if (argc != 3 || argv[1][0] == '-')
		return ctl_usage(ctl);
	struct arena *a = arena_new();
	char *path = realpath(argv[1], NULL), *text = NULL;
	if (!path)
		err_set(&err, ERR_SYS, "'%s': %s", argv[1], strerror(errno));
	else
		text = read_text(argv[2], a, &err);
	if (text) {
		const char *request[] = { "keep", path, text };

		code = ctl_talk(ctl, 3, request);
	} else {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	free(path);
	arena_free(a);
	return code;
}
