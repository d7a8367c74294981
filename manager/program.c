#include "manager/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"

int program_open(const char *path, struct err *err)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct stat st;

	if (path[0] != '/')
		return err_set(err, ERR_REFUSED, "'%s': not an absolute path", path);
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0)
		return err_set(err, errno == ELOOP ? ERR_REFUSED : ERR_SYS, "'%s': open: %s",
			       path, errno == ELOOP ? "a symbolic link" : strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		err_set(err, ERR_REFUSED, "'%s': not a regular file", path);
	else if (st.st_size > DIGEST_MAX_BYTES)
		err_set(err, ERR_REFUSED, "'%s': larger than %d MiB", path,
			DIGEST_MAX_BYTES >> 20);
	else
		return fd;
	close(fd);
	return -1;
}
