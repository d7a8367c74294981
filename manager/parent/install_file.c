/* install_file.c - one file and its directory, held by descriptors
 *
 * A path is resolved once, with RESOLVE_NO_SYMLINKS; from then on everything is relative to the
 * directory's descriptor, so nobody can lead the privileged parent elsewhere by renaming above
 * it.
 */
#include "manager/parent/install_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/folders.h"
#include "manager/parent/regular.h"

void (*install_step_hook)(const char *step);

void install_step(const char *name)
{
	if (install_step_hook)
		install_step_hook(name);
}

int install_sync(int fd, struct err *err)
{
	return fsync(fd) < 0 ? err_set(err, ERR_SYS, "fsync: %s", strerror(errno)) : 0;
}

static int open_dir(const char *path, struct err *err)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_REFUSED, "'%s': a symbolic link is in the path", path);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return err_set(err, ERR_INPUT, "'%s': open: %s", path, strerror(errno));
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	return (int)fd;
}

int install_file_open_dir(const char *path, struct install_file *out, struct err *err)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');

	*out = (struct install_file){ .dir = -1, .fd = -1 };
	if (folders_spelled(path, err) < 0)
		return -1;
	if (strlen(path) >= sizeof(dir))
		return err_set(err, ERR_REFUSED, "'%s': path too long", path);
	(void)snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	out->name = slash + 1;
	out->dir = open_dir(dir, err);
	return out->dir < 0 ? -1 : 0;
}

int install_file_open(const char *path, struct install_file *out, struct err *err)
{
	if (install_file_open_dir(path, out, err) < 0)
		return -1;

	int fd = regular_open(out->dir, out->name, 0, &out->st);
	out->fd = fd >= 0 ? fd : -1;
	if (fd >= 0)
		return 0;
	if (fd == REGULAR_NOT) {
		if (!S_ISLNK(out->st.st_mode))
			return 0;
		err_set(err, ERR_REFUSED, "'%s': a symbolic link", path);
	} else if (errno == ENOENT) {
		out->st = (struct stat){ 0 };
		return 0;
	} else {
		err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	}
	install_file_close(out);
	return -1;
}

void install_file_close(struct install_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	f->fd = f->dir = -1;
}

/* --- what speaks against it --- */

/* With an access list the group's bit of the mode is what the list gives at most to anybody. */
static bool has_access_list(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has = fd < 0 || fgetxattr(fd, "system.posix_acl_access", NULL, 0) >= 0;

	if (fd >= 0)
		close(fd);
	return has;
}

/* Only root and the file's owner can change what is in the directory; sticky ones, in which
 * others can change only what is theirs, are good enough above it. */
static int check_dir(int dir, const struct stat *st, uid_t owner, const char *which,
		     struct err *err)
{
	bool above = strcmp(which, "its directory") != 0;

	if (st->st_uid != 0 && st->st_uid != owner)
		return err_set(err, ERR_REFUSED, "%s belongs to another user", which);
	if (above && (st->st_mode & S_ISVTX))
		return 0;
	if (st->st_mode & S_IWOTH)
		return err_set(err, ERR_REFUSED, "others can write %s", which);
	if ((st->st_mode & S_IWGRP) && (st->st_gid != 0 || has_access_list(dir)))
		return err_set(err, ERR_REFUSED, "a group can write %s", which);
	return 0;
}

/* Also of the directory: in one that can only grow a new file could be neither swapped in nor
 * removed. */
static int check_flags(int fd, const char *which, struct err *err)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0) {
		if (errno == ENOTTY || errno == EOPNOTSUPP || errno == EINVAL ||
		    errno == ENOSYS)
			return 0;	/* the file system has no such flags */
		return err_set(err, ERR_SYS, "flags: %s", strerror(errno));
	}
	if (flags & FS_IMMUTABLE_FL)
		return err_set(err, ERR_REFUSED, "%s is immutable", which);
	if (flags & FS_APPEND_FL)
		return err_set(err, ERR_REFUSED, "%s is append-only", which);
	if (flags & FS_VERITY_FL)
		return err_set(err, ERR_REFUSED, "%s is protected by fs-verity", which);
	return 0;
}

/* The file's directory and all above it, up from the descriptor: whoever could put another
 * one in the place of one of them could choose which file it is that we swap. */
int install_file_check_dirs(const struct install_file *f, struct err *err)
{
	int dir = fcntl(f->dir, F_DUPFD_CLOEXEC, 0), rc = -1, above;
	const char *which = "its directory";
	struct stat st, up;

	if (dir >= 0 && check_flags(dir, which, err) < 0)
		goto out;
	while (dir >= 0 && fstat(dir, &st) == 0) {
		if (check_dir(dir, &st, f->st.st_uid, which, err) < 0)
			goto out;
		above = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = above;
		if (dir < 0 || fstat(dir, &up) < 0)
			break;
		if (up.st_dev == st.st_dev && up.st_ino == st.st_ino) {
			rc = 0;			/* the root is above itself */
			goto out;
		}
		which = "a directory above it";
	}
	err_set(err, ERR_SYS, "%s: %s", which, strerror(errno));
out:
	if (dir >= 0)
		close(dir);
	return rc;
}

static int check_xattrs(int fd, bool back, struct err *err)
{
	static const struct {
		const char *name, *reason;
	} refused[] = {
		{ "security.capability", "it has file capabilities" },
		{ "security.ima", "it is measured by IMA" },
		{ "security.evm", "it is protected by EVM" },
	};

	for (size_t i = back ? 1 : 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (fgetxattr(fd, refused[i].name, NULL, 0) >= 0)
			return err_set(err, ERR_REFUSED, "%s", refused[i].reason);
		if (errno != ENODATA && errno != EOPNOTSUPP)
			return err_set(err, ERR_SYS, "%s: %s", refused[i].name,
				       strerror(errno));
	}
	return 0;
}

int install_file_check(const struct install_file *f, bool back, struct err *err)
{
	if (f->fd < 0 && f->st.st_mode)
		return err_set(err, ERR_REFUSED, "not a regular file");
	if (f->fd < 0)
		return err_set(err, ERR_REFUSED, "no such file");
	if (!back && f->st.st_mode & (S_ISUID | S_ISGID))
		return err_set(err, ERR_REFUSED, "it is set-id");
	if (install_file_check_dirs(f, err) < 0 || check_flags(f->fd, "it", err) < 0)
		return -1;
	return check_xattrs(f->fd, back, err);
}

/* --- copies --- */

int install_copy(int from, int to, struct digest *out, struct err *err)
{
	static uint8_t buf[65536];
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(from, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_SYS, "read: %s", strerror(errno));
		if (n == 0)
			break;
		if (io_write_all(to, buf, (size_t)n, err) < 0)
			return -1;
		at += n;
	}
	/* What counts is what a reader will get. */
	return digest_fd(to, out, err);
}

static int copy_xattr(int from, int to, const char *name, struct err *err)
{
	char *value = NULL;
	int rc = -1;
	ssize_t n = fgetxattr(from, name, NULL, 0);

	if (n >= 0) {
		value = malloc((size_t)n + 1);
		n = value ? fgetxattr(from, name, value, (size_t)n) : -1;
	}
	if (n < 0 || fsetxattr(to, name, value, (size_t)n, 0) < 0)
		err_set(err, ERR_SYS, "extended attribute %s: %s", name, strerror(errno));
	else
		rc = 0;
	free(value);
	return rc;
}

static int copy_xattrs(int from, int to, struct err *err)
{
	ssize_t n = flistxattr(from, NULL, 0);
	int rc = 0;

	if (n == 0 || (n < 0 && errno == EOPNOTSUPP))
		return 0;
	char *list = n < 0 ? NULL : malloc((size_t)n);
	if (list)
		n = flistxattr(from, list, (size_t)n);
	if (!list || n < 0) {
		free(list);
		return err_set(err, ERR_SYS, "extended attributes: %s", strerror(errno));
	}
	for (char *name = list; name < list + n && rc == 0; name += strlen(name) + 1)
		rc = copy_xattr(from, to, name, err);
	free(list);
	return rc;
}

int install_copy_attributes(int from, const struct stat *st, int to, struct err *err)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	struct stat made;

	/* chown clears mode bits and capabilities, so it comes first; an ACL is an extended
	 * attribute and chmod would change its mask, so chmod comes before those. */
	if (fchown(to, st->st_uid, st->st_gid) < 0)
		return err_set(err, ERR_SYS, "chown: %s", strerror(errno));
	if (fchmod(to, st->st_mode & 07777) < 0 || fstat(to, &made) < 0)
		return err_set(err, ERR_SYS, "chmod: %s", strerror(errno));
	if (made.st_mode != st->st_mode)	/* without CAP_FSETID */
		return err_set(err, ERR_SYS, "chmod: mode %04o became %04o",
			       (unsigned)st->st_mode & 07777, (unsigned)made.st_mode & 07777);
	if (copy_xattrs(from, to, err) < 0)
		return -1;
	if (futimens(to, times) < 0)
		return err_set(err, ERR_SYS, "times: %s", strerror(errno));
	return 0;
}
