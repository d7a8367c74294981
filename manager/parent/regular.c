/* regular.c - opening regular files, and nothing else; see regular.h
 *
 * Tested by tests/unit/manager/parent/test_regular.c.
 */
#include "manager/parent/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The file that `fd` only names, for reading. */
static int reopen(int fd)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);	/* fits */
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int regular_open(int dir, const char *name, uint64_t resolve, struct stat *st)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = resolve };
	int named = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	int fd = -1;

	if (named < 0)
		return -1;
	if (fstat(named, st) == 0)
		fd = S_ISREG(st->st_mode) ? reopen(named) : REGULAR_NOT;
	int e = errno;
	close(named);
	errno = e;
	return fd;
}
