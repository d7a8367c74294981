/* install_exchange.c - inside install: a finished file beside another one takes its place
 *
 * With the last look before, and the look back after it (I1 and I2 of install.c).  What the
 * temporaries hold, and how they are known after a kill, is the caller's: a journal in
 * install.c, their names in install_back.c.
 *
 * Of a file with several names each is exchanged by itself, so for a moment some are the new
 * file's and some the old one's.  Only when all are exchanged, came out as the file that was
 * looked at, and are synced, the old file's are unlinked: until then each step can be taken
 * back, and is, when one of them does not go as it should.
 *
 * Tested by tests/unit/manager/parent/test_install.c, test_hardlinks.c and test_faults.c.
 */
#include "manager/parent/install_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install_set.h"

static int changed(struct err *err)
{
	return err_set(err, ERR_REFUSED, "the file changed meanwhile");
}

/* The names still are of the inode that was looked at, with the content that was looked at;
 * the time of change tells of an owner, mode, attribute or name set since then. */
int install_look_again(const struct install_set *s, const struct digest *expected,
		       struct err *err)
{
	const struct stat *was = &s->f[0].st;
	struct digest d;
	struct stat st;

	for (unsigned i = 0; i < s->n; i++)
		if (fstatat(s->f[i].dir, s->f[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_dev != was->st_dev || st.st_ino != was->st_ino ||
		    st.st_ctim.tv_sec != was->st_ctim.tv_sec ||
		    st.st_ctim.tv_nsec != was->st_ctim.tv_nsec)
			return changed(err);
	if (digest_fd(s->f[0].fd, &d, err) < 0)
		return -1;
	return digest_equal(&d, expected) ? 0 : changed(err);
}

static int exchange_one(const struct install_set *s, const struct install_temporaries *t,
			unsigned i)
{
	return renameat2(s->f[i].dir, t->at[i], s->f[i].dir, s->f[i].name, RENAME_EXCHANGE);
}

/* What came out at the i-th is the file, with the owner and mode that it had. */
static bool is_the_file(const struct install_set *s, const struct install_temporaries *t,
			unsigned i)
{
	const struct stat *was = &s->f[0].st;
	struct stat st;

	return fstatat(s->f[i].dir, t->at[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == was->st_dev && st.st_ino == was->st_ino &&
	       st.st_mode == was->st_mode && st.st_uid == was->st_uid &&
	       st.st_gid == was->st_gid;
}

/* And all of it: its content, and that it has no other names than those that came out. */
static int look_back(const struct install_set *s, const struct digest *expected, bool all,
		     struct err *err)
{
	struct digest d;
	struct stat st;

	if (digest_fd(s->f[0].fd, &d, err) < 0)
		return -1;
	if (fstat(s->f[0].fd, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	if (!digest_equal(&d, expected))
		return changed(err);
	return all && st.st_nlink != s->n ?
	       err_set(err, ERR_REFUSED, "it got another name meanwhile") : 0;
}

/* Our new file comes out of that, unless somebody has replaced it since: then theirs stays. */
static int take_back_one(const struct install_set *s, const struct install_temporaries *t,
			 unsigned i)
{
	struct stat st;

	if (exchange_one(s, t, i) < 0)
		return -1;
	return fstatat(s->f[i].dir, t->at[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == t->made.st_dev && st.st_ino == t->made.st_ino
		       ? 0
		       : exchange_one(s, t, i);
}

/* Of the first n; what was wrong with the exchange is in *err, unless this goes wrong. */
static int take_back(const struct install_set *s, const struct install_temporaries *t,
		     unsigned n, struct err *err)
{
	bool ok = true;

	while (n-- > 0) {
		ok = take_back_one(s, t, n) == 0 && ok;
		install_step("taken back");
	}
	return ok ? -1 : err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
}

static int unlink_old(const struct install_set *s, const struct install_temporaries *t,
		      struct err *err)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (unlinkat(s->f[i].dir, t->at[i], 0) < 0)
			return err_set(err, ERR_SYS, "old file: unlink: %s", strerror(errno));
		install_step("old file unlinked");
	}
	return install_set_sync(s, err);
}

/* A file system without exchange: rename is atomic too, only nothing comes out to be looked
 * at, and nothing can be taken back. */
static int rename_only(const struct install_set *s, const struct install_temporaries *t,
		       struct err *err)
{
	if (s->n > 1)
		return err_set(err, ERR_REFUSED, "it has %u names, and its file system cannot "
			       "exchange files", s->n);
	if (renameat(s->f[0].dir, t->at[0], s->f[0].dir, s->f[0].name) < 0)
		return err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	install_step("old file unlinked");
	return install_sync(s->f[0].dir, err);
}

int install_exchange(const struct install_set *s, const struct install_temporaries *t,
		     const struct digest *expected, bool all, struct err *err)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (exchange_one(s, t, i) < 0) {
			if (i == 0 && (errno == EINVAL || errno == ENOSYS))
				return rename_only(s, t, err);
			err_set(err, ERR_SYS, "exchange: %s", strerror(errno));
			return take_back(s, t, i, err);
		}
		install_step("exchanged");
		if (!is_the_file(s, t, i)) {
			changed(err);
			return take_back(s, t, i + 1, err);
		}
	}
	if (look_back(s, expected, all, err) < 0)
		return take_back(s, t, s->n, err);
	if (install_set_sync(s, err) < 0)
		return -1;
	install_step("directory synced");
	return unlink_old(s, t, err);
}
