/* input.c - makes standard input something that can be read again and again */
#include "manager/try/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static int drain(int to, struct err *err)
{
	struct pollfd p = { 0, POLLIN, 0 };
	char buf[65536];

	for (;;) {
		if (interrupt_poll(&p, 1, -1) < 0)
			return err_set(err, ERR_SYS, "interrupted");
		ssize_t n = read(0, buf, sizeof(buf));
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, "standard input: %s", strerror(errno));
		if (n > 0 && io_write_all(to, buf, (size_t)n, err) < 0)
			return -1;
	}
}

int input_take(const char *dir, int *fd, off_t *at, struct err *err)
{
	struct stat st;
	int mode = fcntl(0, F_GETFL), got = -1;

	*fd = -1;
	*at = 0;
	if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY || fstat(0, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		off_t here = lseek(0, 0, SEEK_CUR);

		got = fcntl(0, F_DUPFD_CLOEXEC, 3);
		if (got < 0 || here < 0)
			return err_set(err, ERR_SYS, "standard input: %s", strerror(errno));
		*at = here;
	} else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		got = input_nameless(dir, err);
		if (got < 0)
			return -1;
		if (drain(got, err) < 0) {
			close(got);
			return -1;
		}
	}
	*fd = got;
	return 0;
}
