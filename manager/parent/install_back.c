/* install_back.c - the original back at a path, without a journal and without free space
 *
 *   clear       what a killed one before left under the temporary's name
 *   temporary   a copy of the original; where there is no room for one, and originals are on
 *               the same file system, the original itself by a second name
 *   attributes  owner, mode, attributes and times of the file at the path; synced
 *   exchange    as for every swap (install_exchange.c); what was there is unlinked
 *   apart       an original by a second name loses the first one, or, when other paths need
 *               it, is copied now that there is room
 *
 * The temporary's name follows from the file's: so no journal is needed to know it again.  Only
 * root and the owner of the folder can put something else there, and what is no regular file of
 * theirs is left alone.
 *
 * SEVERAL NAMES  The temporary gets a name beside each of them.  A kill between two exchanges
 * leaves some names to the original and some to the generation, and each is whole.  Then the
 * next undo finds the rest by the ledger, and they become names of the file that the first ones
 * are already, if that is as it should be: the same content, owner and mode.  So all are one
 * file again.
 *
 * As long as a file is in originals by a second name, its owner could write it.  So a file that
 * is not root's gets that only if nobody else needs the original.
 *
 * Tested by tests/unit/manager/parent/test_back.c, test_faults_names.c and tests/e2e/undo.sh.
 */
#include "manager/parent/install_back.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install.h"
#include "manager/parent/install_exchange.h"
#include "manager/parent/install_set.h"
#include "manager/parent/ledger.h"
#include "manager/parent/originals.h"

void back_temporary(const char *name, char out[BACK_NAME_LEN + 1])
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuv";
	struct digest d = digest_of((struct bytes){ (const uint8_t *)name, strlen(name) });

	memcpy(out, ".morph-", 7);
	for (int i = 0; i < 6; i++)
		out[7 + i] = digit[d.b[i] % 32];
	out[BACK_NAME_LEN] = '\0';
}

/* --- what a killed one left --- */

static bool is_ours(const struct install_file *f, const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       (st->st_uid == 0 || st->st_uid == geteuid() ||
		(S_ISREG(f->st.st_mode) && st->st_uid == f->st.st_uid));
}

int back_open_left(const struct install_file *f)
{
	char name[BACK_NAME_LEN + 1];
	struct stat st;

	back_temporary(f->name, name);
	int fd = openat(f->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &st) == 0 && is_ours(f, &st)))
		return fd;
	close(fd);
	return -1;
}

int back_clear_left(const struct install_file *f, bool newer, struct err *err)
{
	char name[BACK_NAME_LEN + 1];
	struct stat st;

	back_temporary(f->name, name);
	if (fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_set(err, ERR_SYS, "'%s': %s", name,
						     strerror(errno));
	if (!is_ours(f, &st))
		return err_set(err, ERR_REFUSED,
			       "'%s' is in its directory, and is not ours", name);
	if (newer && renameat2(f->dir, name, f->dir, f->name, RENAME_EXCHANGE) < 0)
		return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
	install_step("left looked at");
	if (unlinkat(f->dir, name, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", name, strerror(errno));
	return install_sync(f->dir, err);
}

/* --- the temporary --- */

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Room for all of it first: a copy that ends for want of room takes what is left from others
 * meanwhile. */
static int reserve(int fd, off_t size, struct err *err)
{
	if (size == 0 || fallocate(fd, 0, 0, size) == 0 || errno == EOPNOTSUPP ||
	    errno == ENOSYS)
		return 0;
	return err_set(err, ERR_SYS, "%lld bytes of room for it: %s", (long long)size,
		       strerror(errno));
}

static int copy_original(int dir, const char *name, int original, const struct digest *expected,
			 struct err *err)
{
	struct digest d;
	struct stat st;
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, ERR_SYS, "temporary file: %s", strerror(errno));
	install_step("temporary made");
	int rc = fstat(original, &st) < 0 ? err_set(err, ERR_SYS, "fstat: %s", strerror(errno))
					  : reserve(fd, st.st_size, err);
	if (rc == 0)
		rc = install_copy(original, fd, &d, err);
	if (rc == 0 && !digest_equal(&d, expected))
		rc = err_set(err, ERR_SYS, "the copy is not what was copied");
	install_step("temporary written");
	if (rc == 0)
		return fd;
	close(fd);
	(void)unlinkat(dir, name, 0);		/* the next one clears it away */
	return -1;
}

struct back {
	const struct back_request *r;
	struct install_set set;
	struct install_temporaries temporary;
	bool linked;			/* it is the original itself */
};

static int is_for_another(void *ctx, const char *name, time_t seen,
			  const struct ledger_entry *e, struct err *err)
{
	const struct back *b = ctx;

	(void)name;
	(void)seen;
	if (!digest_equal(&e->original, &b->r->original))
		return 0;
	for (unsigned i = 0; i < b->set.n; i++)
		if (strcmp(e->path, install_set_path(&b->set, i) + b->r->beneath) == 0)
			return 0;
	return err_set(err, ERR_REFUSED, "'%s' needs it", e->path);
}

/* Also when that cannot be known.  Names that are left need it next. */
static bool others_need(struct back *b)
{
	struct err ignored;

	return b->r->ledger_fd < 0 || b->set.f[0].st.st_nlink > b->set.n ||
	       ledger_each(b->r->ledger_fd, is_for_another, b, &ignored) < 0;
}

/* The original itself, by a second name; *why says why it cannot be copied. */
static int link_original(struct back *b, const struct err *why, struct err *err)
{
	const struct back_request *r = b->r;
	const struct install_file *f = &b->set.f[0];
	const char *name = b->temporary.at[0];
	struct digest d;
	char hex[65];

	if (f->st.st_uid != 0 && f->st.st_uid != geteuid() && others_need(b))
		return err_set(err, why->kind,
			       "%s; the original itself cannot take its place, because "
			       "other files need it", why->text);
	digest_hex(&r->original, hex);
	if (linkat(r->originals_fd, hex, f->dir, name, 0) < 0)
		return err_set(err, why->kind, "%s; the original itself cannot take its place"
			       "%s: %s", why->text, errno == EXDEV ? ", it is in another file "
			       "system or mount" : "", strerror(errno));
	install_step("original linked");
	int fd = openat(f->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? err_set(err, ERR_SYS, "temporary file: %s", strerror(errno))
			: digest_fd(fd, &d, err);
	if (rc == 0 && !digest_equal(&d, &r->original))
		rc = err_set(err, ERR_INPUT, "original %s: its content is damaged", hex);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	(void)unlinkat(f->dir, name, 0);	/* the next one clears it away */
	return -1;
}

/* A name of the file that a killed undo has given its original already. */
static bool is_sibling(const struct back *b, const struct install_file *f)
{
	const struct stat *was = &b->set.f[0].st;
	struct digest d;
	struct stat dir;

	return f->fd >= 0 && f->st.st_dev == was->st_dev && f->st.st_uid == was->st_uid &&
	       f->st.st_gid == was->st_gid && f->st.st_mode == was->st_mode &&
	       fstat(f->dir, &dir) == 0 && dir.st_uid == b->set.dir[0].owner &&
	       digest_fd(f->fd, &d, NULL) == 0 && digest_equal(&d, &b->r->original);
}

/* 1: the temporary is a name of that file, *st; 0: there is none. */
static int link_sibling(const struct back *b, struct stat *st)
{
	const struct install_file *to = &b->set.f[0];
	int rc = 0;

	for (unsigned i = 0; b->r->names && i < b->r->names->n && !rc; i++) {
		const char *path = names_at(b->r->names, i);
		struct install_file f;

		if (names_have(&b->set.also, path) || install_file_open(path, &f, NULL) < 0)
			continue;
		rc = is_sibling(b, &f) &&
		     linkat(f.dir, f.name, to->dir, b->temporary.at[0], 0) == 0;
		if (rc && (fstatat(to->dir, b->temporary.at[0], st, AT_SYMLINK_NOFOLLOW) < 0 ||
			   !same_inode(st, &f.st))) {
			(void)unlinkat(to->dir, b->temporary.at[0], 0);	/* or the next one */
			rc = 0;
		}
		install_file_close(&f);
	}
	return rc;
}

static int make_temporary(struct back *b, int original, struct stat *st, struct err *err)
{
	const struct install_file *f = &b->set.f[0];
	struct err why;

	if (link_sibling(b, st))
		return 0;
	int fd = copy_original(f->dir, b->temporary.at[0], original, &b->r->original, &why);

	b->linked = fd < 0;
	if (fd < 0)
		fd = link_original(b, &why, err);
	if (fd < 0)
		return -1;
	int rc = fstat(fd, st) < 0 ? err_set(err, ERR_SYS, "fstat: %s", strerror(errno))
				   : install_copy_attributes(f->fd, &f->st, fd, err);
	install_step("attributes copied");
	if (rc == 0)
		rc = install_sync(fd, err);
	close(fd);
	return rc;
}

/* --- two names become two files, or one name --- */

int back_apart(const struct install_file *f, const struct digest *original, int originals_fd,
	       struct err *err)
{
	char hex[65], temporary[sizeof(hex) + 4];
	struct stat kept;

	digest_hex(original, hex);
	if (f->fd < 0 || fstatat(originals_fd, hex, &kept, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !same_inode(&kept, &f->st))
		return 0;
	(void)snprintf(temporary, sizeof(temporary), "%s.new", hex);	/* fits */
	if (unlinkat(originals_fd, temporary, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", temporary, strerror(errno));
	int fd = copy_original(originals_fd, temporary, f->fd, original, err);
	if (fd < 0)
		return err_wrap(err, "keeping the original");
	int rc = fchmod(fd, ORIGINALS_MODE) < 0
			 ? err_set(err, ERR_SYS, "chmod: %s", strerror(errno))
			 : install_sync(fd, err);
	close(fd);
	if (rc == 0 && renameat(originals_fd, temporary, originals_fd, hex) < 0)
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	if (rc < 0)
		(void)unlinkat(originals_fd, temporary, 0);	/* as above */
	install_step("apart");
	return rc < 0 || install_sync(originals_fd, err) < 0 ? -1 : 1;
}

/* There may be room now that the generation is gone. */
static enum back_how settle_linked(struct back *b)
{
	const struct back_request *r = b->r;
	struct install_file f = { .dir = -1, .fd = -1 };
	enum back_how how = BACK_SHARED;
	struct err ignored;
	char hex[65];

	digest_hex(&r->original, hex);
	if (install_file_open(r->path, &f, &ignored) == 0 &&
	    back_apart(&f, &r->original, r->originals_fd, &ignored) >= 0)
		how = BACK_COPIED;
	else if (!others_need(b) && unlinkat(r->originals_fd, hex, 0) == 0)
		how = BACK_MOVED;
	install_file_close(&f);
	return how;
}

/* --- all of it --- */

static int open_expected(const struct back_request *r, struct install_set *s, struct err *err)
{
	struct digest d;

	if (install_set_open(r->path, r->names, s, err) < 0)
		return -1;
	if (install_set_check(s, INSTALL_BACK, err) < 0 || digest_fd(s->f[0].fd, &d, err) < 0)
		return err_wrap(err, "'%s'", r->path);
	if (!digest_equal(&d, &r->expected))
		return err_set(err, ERR_REFUSED, "'%s': the file changed meanwhile", r->path);
	return 0;
}

/* Two that are at the same file at once would take the other's temporary for a dead one's. */
static int lock(int original, struct err *err)
{
	if (flock(original, LOCK_EX) < 0)
		return err_set(err, ERR_SYS, "original: lock: %s", strerror(errno));
	return 0;
}

static int clear_left(const struct back *b, struct err *err)
{
	for (unsigned i = 0; i < b->set.n; i++)
		if (back_clear_left(&b->set.f[i], false, err) < 0)
			return -1;
	return 0;
}

/* Of this undo: the new file, or the old one whose name is somebody's by now.  After an
 * exchange that was not seen to be right it may be anybody's: the next undo looks at it. */
static void clear_own(const struct back *b)
{
	struct err ignored;
	struct stat st;

	for (unsigned i = 0; i < b->set.n; i++) {
		const struct install_file *f = &b->set.f[i];

		if (fstatat(f->dir, b->temporary.at[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (same_inode(&st, &b->temporary.made) || same_inode(&st, &f->st)))
			(void)back_clear_left(f, false, &ignored);
	}
}

static int put_back(struct back *b, int original, struct err *err)
{
	const struct digest *expected = &b->r->expected;

	for (unsigned i = 0; i < b->set.n; i++)
		back_temporary(b->set.f[i].name, b->temporary.at[i]);
	if (clear_left(b, err) < 0)
		return -1;
	install_step("begin");
	int rc = make_temporary(b, original, &b->temporary.made, err);
	if (rc == 0)
		rc = install_set_link(&b->set, &b->temporary, err);
	install_step("temporary synced");
	if (rc == 0)
		rc = install_look_again(&b->set, expected, err);
	install_step("looked again");
	if (rc == 0)
		rc = install_exchange(&b->set, &b->temporary, expected, false, err);
	if (rc < 0)
		clear_own(b);
	install_step("put back");
	return rc;
}

int install_back(const struct back_request *r, enum back_how *how, struct err *err)
{
	struct back b = { .r = r };
	int rc = -1, original = -1;

	if (digest_equal(&r->expected, &r->original)) {
		err_set(err, ERR_REFUSED, "'%s': the original is there already", r->path);
		goto out;
	}
	if (open_expected(r, &b.set, err) < 0)
		goto out;
	original = install_open_original(r->originals_fd, &r->original, err);
	install_step("not yet locked");
	if (original >= 0 && lock(original, err) == 0)
		rc = put_back(&b, original, err);
	if (rc < 0) {
		err_wrap(err, "'%s'", r->path);
		goto out;
	}
	*how = b.linked ? settle_linked(&b) : BACK_COPIED;
	install_set_tell(&b.set, r->done);
out:
	if (original >= 0)
		close(original);
	install_set_close(&b.set);
	return rc;
}
