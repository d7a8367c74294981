/* program.c - programs of ours and of others, opened by path; see program.h */
#include "manager/parent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "manager/parent/regular.h"

int program_open(const char *path, struct err *err)
{
	struct stat st;

	if (path[0] != '/')
		return err_set(err, ERR_REFUSED, "'%s': not an absolute path", path);
	int fd = regular_open(AT_FDCWD, path, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, &st);
	if (fd == REGULAR_NOT)
		return err_set(err, ERR_REFUSED, "'%s': %s", path, S_ISLNK(st.st_mode) ?
			       "a symbolic link" : "not a regular file");
	if (fd < 0)
		return err_set(err, errno == ELOOP ? ERR_REFUSED : ERR_SYS, "'%s': open: %s",
			       path, errno == ELOOP ? "a symbolic link" : strerror(errno));
	if (st.st_size <= DIGEST_MAX_BYTES)
		return fd;
	close(fd);
	return err_set(err, ERR_REFUSED, "'%s': larger than %d MiB", path,
		       DIGEST_MAX_BYTES >> 20);
}

/* ELF's first bytes: magic, class, byte order; then, at 16, its type in that byte order.  A
 * core file, which holds a process's memory, is none of the two. */
int program_open_elf(const char *path, struct err *err)
{
	enum { EXECUTABLE = 2, SHARED = 3, TYPE_AT = 16, HEAD = 18 };
	uint8_t b[HEAD];
	int fd = program_open(path, err);

	if (fd < 0)
		return -1;
	if (pread(fd, b, HEAD, 0) != HEAD || memcmp(b, "\177ELF", 4) != 0) {
		err_set(err, ERR_REFUSED, "'%s': not an ELF file", path);
	} else {
		bool big = b[5] == 2;
		unsigned type = (unsigned)b[TYPE_AT + !big] << 8 | b[TYPE_AT + big];

		if (type == EXECUTABLE || type == SHARED)
			return fd;
		err_set(err, ERR_REFUSED, "'%s': neither a program nor a shared library", path);
	}
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
