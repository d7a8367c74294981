/* program.c - see program.h */
#include "manager/parent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
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

char *program_of_ours(const char *name)
{
	static const char *const place[] = { "", "../libexec/morph/" };
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;

	for (int i = 0; slash && i < 2; i++) {
		int folder = (int)(slash - self) + 1;

		if (snprintf(path, sizeof(path), "%.*s%s%s", folder, self, place[i], name) <
		    (int)sizeof(path) && access(path, X_OK) == 0)
			return strdup(path);
	}
	return NULL;
}
