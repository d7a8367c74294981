/* private.c - folders of the store that are the parent's alone; see private.h
 *
 * Tested by tests/unit/manager/parent/test_ledger.c.
 */
#include "manager/parent/private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/log.h"

/* The name of a folder that was just made is on disk. */
static int sync_above(const char *store_dir, struct err *err)
{
	int fd = open(store_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd) < 0)
		rc = err_set(err, ERR_SYS, "'%s': fsync: %s", store_dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

int private_open(const char *store_dir, const char *name, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", store_dir, name) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", store_dir);
	if (mkdir(path, 0700) < 0) {
		if (errno != EEXIST)
			return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
	} else if (sync_above(store_dir, err) < 0) {
		return -1;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	} else if (st.st_uid != geteuid() || (st.st_mode & 022)) {
		err_set(err, ERR_REFUSED, "'%s': others can write there", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

void private_make_way(const char *store_dir)
{
	static const char *const name[] = { "morph.db", "morph.db-wal", "morph.db-shm",
					    "policy.good" };
	int dir = open(store_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char aside[64];

	for (size_t i = 0; dir >= 0 && i < sizeof(name) / sizeof(name[0]); i++) {
		if (fstatat(dir, name[i], &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode))
			continue;
		(void)snprintf(aside, sizeof(aside), "%s.no-file-%" PRIu64, name[i],
			       (uint64_t)st.st_ino);		/* fits */
		if (renameat(dir, name[i], dir, aside) == 0)
			role_warn("'%s/%s' is no file: now '%s'", store_dir, name[i], aside);
		else
			role_error("'%s/%s' is no file: rename: %s", store_dir, name[i],
				   strerror(errno));
	}
	if (dir >= 0)
		close(dir);
}
