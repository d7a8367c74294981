/* install_exchange.c - inside install: a finished file beside another one takes its place
 *
 * With the last look before, and the look back behind it (I1 and I2 of install.c).  What the
 * temporary holds, and how it is known after a kill, is the caller's: a journal in install.c,
 * its name in install_back.c.
 *
 * Tested by tests/unit/manager/parent/test_install.c and test_faults.c.
 */
#include "manager/parent/install_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install_file.h"

/* The path still is the inode that was looked at, with the content that was looked at; the
 * time of change tells of an owner, mode or attribute set since they were copied. */
int install_look_again(const struct install_file *f, const struct digest *expected,
		       struct err *err)
{
	struct digest d;
	struct stat st;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_dev != f->st.st_dev || st.st_ino != f->st.st_ino ||
	    st.st_ctim.tv_sec != f->st.st_ctim.tv_sec ||
	    st.st_ctim.tv_nsec != f->st.st_ctim.tv_nsec)
		return err_set(err, ERR_REFUSED, "the file changed meanwhile");
	if (digest_fd(f->fd, &d, err) < 0)
		return -1;
	if (!digest_equal(&d, expected))
		return err_set(err, ERR_REFUSED, "the file changed meanwhile");
	return 0;
}

/* Somebody replaced or wrote the file, or set its owner or mode, in the last moment: what
 * came out goes back to the path. */
static int look_back(const struct install_file *f, const char *temporary,
		     const struct digest *expected, struct err *err)
{
	struct digest d;
	struct stat st;

	if (fstatat(f->dir, temporary, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, ERR_SYS, "temporary file: %s", strerror(errno));
	if (st.st_dev == f->st.st_dev && st.st_ino == f->st.st_ino &&
	    st.st_mode == f->st.st_mode && st.st_uid == f->st.st_uid &&
	    st.st_gid == f->st.st_gid) {
		if (digest_fd(f->fd, &d, err) < 0)
			return -1;
		if (digest_equal(&d, expected))
			return 0;
	}
	if (renameat2(f->dir, temporary, f->dir, f->name, RENAME_EXCHANGE) < 0)
		return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
	return err_set(err, ERR_REFUSED, "the file changed meanwhile");
}

int install_exchange(const struct install_file *f, const char *temporary,
		     const struct digest *expected, struct err *err)
{
	if (renameat2(f->dir, temporary, f->dir, f->name, RENAME_EXCHANGE) == 0) {
		install_step("exchanged");
		if (look_back(f, temporary, expected, err) < 0)
			return -1;
		if (install_sync(f->dir, err) < 0)
			return -1;
		install_step("directory synced");
		if (unlinkat(f->dir, temporary, 0) < 0)
			return err_set(err, ERR_SYS, "old file: unlink: %s", strerror(errno));
	} else if (errno == EINVAL || errno == ENOSYS) {
		/* A file system without exchange: rename is atomic too, only nothing comes
		 * out to be looked at. */
		if (renameat(f->dir, temporary, f->dir, f->name) < 0)
			return err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	} else {
		return err_set(err, ERR_SYS, "exchange: %s", strerror(errno));
	}
	install_step("old file unlinked");
	return install_sync(f->dir, err);
}
