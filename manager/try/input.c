/* input.c - makes standard input something that can be read again and again
 *
 * Tested by tests/unit/manager/try/test_input.c and tests/e2e/try.sh.
 */
#include "manager/try/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/try/interrupt.h"

int input_nameless(const char *dir, struct err *err)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)		/* a file system that has no such files */
		fd = memfd_create("morph-try", MFD_CLOEXEC);
	return fd < 0 ? err_set(err, ERR_SYS, "a file: %s", strerror(errno)) : fd;
}

static int too_much(off_t most, struct err *err)
{
	return err_set(err, ERR_USAGE, "standard input has no end, or more than %lld MiB: give "
		       "it as a file", (long long)(most >> 20));
}

static int drain(int to, off_t most, struct err *err)
{
	struct pollfd p = { 0, POLLIN, 0 };
	char buf[65536];
	off_t all = 0;

	for (;;) {
		if (interrupt_poll(&p, 1, -1) < 0)
			return err_set(err, ERR_SYS, "interrupted");
		ssize_t n = read(0, buf, sizeof(buf));
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return err_set(err, ERR_USAGE, "standard input: %s", strerror(errno));
		if (n > 0 && (all += n) > most)
			return too_much(most, err);
		if (n > 0 && io_write_all(to, buf, (size_t)n, err) < 0)
			return -1;
	}
}

/* How it is given to each run. */
enum input {
	INPUT_NONE,
	INPUT_SAME,		/* each opens it anew, and begins where it stands */
	INPUT_READ,
	INPUT_ENDLESS,
	INPUT_UNREADABLE,
};

static enum input kind_of(const struct stat *st, int mode)
{
	enum { MEMORY = 1, NOTHING = 3, ZERO = 5, FULL = 7, RANDOM = 8, URANDOM = 9 };
	bool memory = S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY;
	unsigned which = minor(st->st_rdev);

	if ((memory && which == NOTHING) || isatty(0))
		return INPUT_NONE;
	if ((mode & O_ACCMODE) == O_WRONLY || S_ISDIR(st->st_mode))
		return INPUT_UNREADABLE;
	if (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode))
		return INPUT_SAME;
	return memory && (which == ZERO || which == FULL || which == RANDOM || which == URANDOM)
		       ? INPUT_ENDLESS : INPUT_READ;
}

static int take_same(int *fd, off_t *at, struct err *err)
{
	off_t here = lseek(0, 0, SEEK_CUR);
	int got = here < 0 ? -1 : fcntl(0, F_DUPFD_CLOEXEC, 3);

	if (got < 0)
		return err_set(err, ERR_SYS, "standard input: %s", strerror(errno));
	*fd = got;
	*at = here;
	return 0;
}

static int take_read(const char *dir, off_t most, int *fd, struct err *err)
{
	int got = input_nameless(dir, err);

	if (got < 0)
		return -1;
	if (drain(got, most, err) < 0) {
		close(got);
		return -1;
	}
	*fd = got;
	return 0;
}

int input_take(const char *dir, off_t most, int *fd, off_t *at, struct err *err)
{
	struct stat st;
	int mode = fcntl(0, F_GETFL);

	*fd = -1;
	*at = 0;
	if (mode < 0 || fstat(0, &st) < 0)
		return 0;
	switch (kind_of(&st, mode)) {
	case INPUT_SAME:
		return take_same(fd, at, err);
	case INPUT_READ:
		return take_read(dir, most, fd, err);
	case INPUT_ENDLESS:
		return too_much(most, err);
	case INPUT_UNREADABLE:
		return err_set(err, ERR_USAGE, "standard input cannot be read: it is %s",
			       S_ISDIR(st.st_mode) ? "a directory" : "open for writing only");
	case INPUT_NONE:
		break;
	}
	return 0;
}
