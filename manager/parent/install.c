/* install.c - the swap
 *
 *   check       refusals; the file holds what is expected
 *   keep        the original is in originals, synced, its digest seen
 *   journal     what will happen, synced
 *   temporary   new file beside the old one, content and attributes, synced
 *   look again  the path still is the same inode with the same content
 *   exchange    one system call; the directory synced
 *   look back   what came out is the inode that was looked at, else it is put back
 *   clean up    old file unlinked, journal removed
 *
 * INVARIANTS
 *   I1  before `exchange` the path is not touched, after it it is complete;
 *   I2  a file other than the one that was looked at is never unlinked: if somebody replaces
 *       the file between the last look and the exchange, theirs comes out of the exchange, is
 *       recognised and goes back;
 *   I3  the temporary's name is in the journal before the temporary exists, so none is ever
 *       left;
 *   I4  the journal goes last.
 *
 * Recovery decides by content alone: whatever the path holds, the temporary of the journal is
 * either our new file, the old one, or (exchanged, not yet looked back) somebody's newer one.
 */
#include "manager/parent/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install_exchange.h"
#include "manager/parent/install_file.h"
#include "manager/parent/install_journal.h"

/* --- originals --- */

int install_open_originals(const char *store_dir, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/originals", store_dir) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", store_dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
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

int install_open_original(int originals_fd, const struct digest *original, struct err *err)
{
	struct digest d;
	char hex[65];

	digest_hex(original, hex);
	int fd = openat(originals_fd, hex, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "original %s: open: %s", hex, strerror(errno));
	if (digest_fd(fd, &d, err) < 0) {
		err_wrap(err, "original %s", hex);
	} else if (!digest_equal(&d, original)) {
		err_set(err, ERR_INPUT, "original %s: its content is damaged", hex);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

/* Copies `fd` to originals/<digest>. */
static int keep_copy(int originals_fd, int fd, const struct digest *original, struct err *err)
{
	static const char temporary[] = "original.new";
	struct digest d;
	char hex[65];

	digest_hex(original, hex);
	int to = openat(originals_fd, temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW |
			O_CLOEXEC, 0600);
	if (to < 0)
		return err_set(err, ERR_SYS, "open: %s", strerror(errno));
	install_step("original opened");
	int rc = install_copy(fd, to, &d, err);
	if (rc == 0 && !digest_equal(&d, original))
		rc = err_set(err, ERR_REFUSED, "the file changed meanwhile");
	if (rc == 0)
		rc = install_sync(to, err);
	close(to);
	install_step("original copied");
	if (rc == 0 && renameat(originals_fd, temporary, originals_fd, hex) < 0)
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	if (rc < 0)
		(void)unlinkat(originals_fd, temporary, 0);	/* the next one overwrites it */
	return rc < 0 ? -1 : install_sync(originals_fd, err);
}

/* The original is in originals afterwards: it was, or the present file is it. */
static int keep_original(const struct install_request *r, const struct install_file *f,
			 struct err *err)
{
	struct err why;
	int fd = install_open_original(r->originals_fd, &r->original, &why);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!digest_equal(&r->original, &r->expected))
		return err_set(err, why.kind, "%s", why.text);
	if (keep_copy(r->originals_fd, f->fd, &r->original, err) < 0)
		return err_wrap(err, "keeping the original");
	return 0;
}

/* --- the swap --- */

static int make_name(char out[TEMPORARY_LEN + 1], struct err *err)
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuv";
	uint8_t random[6];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_set(err, ERR_SYS, "getrandom: %s", strerror(errno));
	memcpy(out, ".morph-", 7);
	for (int i = 0; i < 6; i++)
		out[7 + i] = digit[random[i] % 32];
	out[TEMPORARY_LEN] = '\0';
	return 0;
}

static int make_temporary(const struct install_journal *j, const struct install_file *f,
			  int from, struct err *err)
{
	struct digest d;
	int fd = openat(f->dir, j->temporary,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, ERR_SYS, "temporary file: %s", strerror(errno));
	install_step("temporary made");
	int rc = install_copy(from, fd, &d, err);
	if (rc == 0 && !digest_equal(&d, &j->to))
		rc = err_set(err, ERR_REFUSED, "the new content is not what was verified");
	install_step("temporary written");
	if (rc == 0)
		rc = install_copy_attributes(f->fd, &f->st, fd, err);
	install_step("attributes copied");
	if (rc == 0)
		rc = install_sync(fd, err);
	close(fd);
	return rc;
}

/* Puts the content of `from` at the path, whose file f holds j->from. */
static int swap(int originals_fd, struct install_journal *j, const struct install_file *f,
		int from, struct err *err)
{
	struct err ignored;
	struct stat dir;

	if (fstat(f->dir, &dir) < 0)
		return err_set(err, ERR_SYS, "directory: fstat: %s", strerror(errno));
	j->dev = dir.st_dev;
	j->inode = dir.st_ino;
	if (make_name(j->temporary, err) < 0)
		return -1;
	install_step("begin");
	if (install_journal_write(originals_fd, j, err) < 0)
		return -1;
	install_step("journal written");
	int rc = make_temporary(j, f, from, err);
	install_step("temporary synced");
	if (rc == 0)
		rc = install_look_again(f, &j->from, err);
	install_step("looked again");
	if (rc == 0)
		rc = install_exchange(f, j->temporary, &j->from, err);
	if (rc < 0) {
		/* As after a kill; what cannot be cleaned up now stays in the journal. */
		struct install_recovered done;

		(void)install_recover(originals_fd, &done, &ignored);
		return -1;
	}
	install_step("swapped");
	return install_journal_remove(originals_fd, err);
}

/* Opens and checks the file at the path and that it holds `expected`. */
static int open_checked(const char *path, bool allow_hard_links, const struct digest *expected,
			struct install_file *f, struct err *err)
{
	struct digest d;

	if (install_file_open(path, f, err) < 0)
		return -1;
	if (install_file_check(f, allow_hard_links, err) < 0)
		return err_wrap(err, "'%s'", path);
	if (!expected)
		return 0;
	if (digest_fd(f->fd, &d, err) < 0)
		return err_wrap(err, "'%s'", path);
	if (!digest_equal(&d, expected))
		return err_set(err, ERR_REFUSED, "'%s': the file changed meanwhile", path);
	return 0;
}

/* No operation may begin while another one's traces are there. */
static int settle(int originals_fd, struct err *err)
{
	struct install_recovered done;

	if (install_recover(originals_fd, &done, err) < 0)
		return -1;
	/* who asked must know; the next request goes on */
	if (done.outcome == INSTALL_SET_ASIDE)
		return err_set(
			err, ERR_REFUSED,
			"the journal of an earlier swap is damaged; it is "
			"kept as originals/%s, a file .morph-* may be left beside a program",
			done.path);
	return 0;
}

int install_generation(const struct install_request *r, struct err *err)
{
	struct install_journal j = { .from = r->expected, .to = r->generation };
	struct install_file f = { .dir = -1, .fd = -1 };
	int rc = -1;

	if (settle(r->originals_fd, err) < 0 ||
	    open_checked(r->path, r->allow_hard_links, &r->expected, &f, err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->generation)) {
		err_set(err, ERR_REFUSED, "'%s': this generation is installed already",
			r->path);
		goto out;
	}
	(void)snprintf(j.path, sizeof(j.path), "%s", r->path);	/* opened, so it fits */
	rc = keep_original(r, &f, err);
	install_step("original kept");
	if (rc == 0)
		rc = swap(r->originals_fd, &j, &f, r->generation_fd, err);
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
out:
	install_file_close(&f);
	return rc;
}

int install_restore(const struct restore_request *r, struct err *err)
{
	struct install_journal j = { .from = r->expected, .to = r->original };
	struct install_file f = { .dir = -1, .fd = -1 };
	int rc = -1, from = -1;

	if (settle(r->originals_fd, err) < 0 ||
	    open_checked(r->path, r->allow_hard_links, &r->expected, &f, err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->original)) {
		err_set(err, ERR_REFUSED, "'%s': the original is there already", r->path);
		goto out;
	}
	(void)snprintf(j.path, sizeof(j.path), "%s", r->path);	/* opened, so it fits */
	from = install_open_original(r->originals_fd, &r->original, err);
	if (from >= 0)
		rc = swap(r->originals_fd, &j, &f, from, err);
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
out:
	if (from >= 0)
		close(from);
	install_file_close(&f);
	return rc;
}

int install_check(const char *path, bool allow_hard_links, struct err *err)
{
	struct install_file f = { .dir = -1, .fd = -1 };
	int rc = open_checked(path, allow_hard_links, NULL, &f, err);

	install_file_close(&f);
	return rc;
}

/* --- recovery --- */

/* Content of a name in the directory: 1 and its digest, 0 not there or no regular file. */
static int content_of(int dir, const char *name, struct digest *out, struct err *err)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0
			: err_set(err, ERR_SYS, "'%s': open: %s", name, strerror(errno));
	int rc = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? 1 : 0;
	if (rc == 1 && digest_fd(fd, out, err) < 0)
		rc = -1;
	close(fd);
	return rc;
}

/* Removes the temporary, or puts it back if it is somebody's newer file. */
static int settle_temporary(const struct install_journal *j, int dir, const char *name,
			    enum install_outcome *outcome, struct err *err)
{
	struct digest at_path, at_temporary;
	int path = content_of(dir, name, &at_path, err);
	int temporary = content_of(dir, j->temporary, &at_temporary, err);

	if (path < 0 || temporary < 0)
		return -1;
	bool is_new = path && digest_equal(&at_path, &j->to);
	bool is_old = path && digest_equal(&at_path, &j->from);

	*outcome = is_new ? INSTALL_FINISHED : is_old ? INSTALL_UNDONE : INSTALL_OVERTAKEN;
	if (temporary && is_new && !digest_equal(&at_temporary, &j->from) &&
	    !digest_equal(&at_temporary, &j->to)) {
		if (renameat2(dir, j->temporary, dir, name, RENAME_EXCHANGE) < 0)
			return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
		*outcome = INSTALL_OVERTAKEN;
	}
	install_step("recovery looked");
	if (unlinkat(dir, j->temporary, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", j->temporary, strerror(errno));
	return install_sync(dir, err);
}

/* 1: it is open; 0: it is gone or another one by now, and has nothing of ours; -1: not
 * known. */
static int open_journal_dir(const struct install_journal *j, struct install_file *f,
			    struct err *err)
{
	struct err why;
	struct stat st;

	if (install_file_open_dir(j->path, f, &why) < 0)
		return why.kind == ERR_SYS ? err_set(err, ERR_SYS, "%s", why.text) : 0;
	if (fstat(f->dir, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	return st.st_dev == j->dev && st.st_ino == j->inode;
}

static int set_aside(int originals_fd, struct install_recovered *out, struct err *err)
{
	struct install_recovered done = { .outcome = INSTALL_SET_ASIDE };

	if (install_journal_set_aside(originals_fd, done.path, err) < 0)
		return -1;
	*out = done;
	return 0;
}

int install_recover(int originals_fd, struct install_recovered *out, struct err *err)
{
	struct install_recovered done = { .outcome = INSTALL_OVERTAKEN };
	struct install_file f = { .dir = -1, .fd = -1 };
	struct install_journal j;
	struct err why = { 0 };
	int rc = install_journal_read(originals_fd, &j, &why);

	if (rc < 0)
		return why.kind == ERR_INPUT ? set_aside(originals_fd, out, err)
					     : err_set(err, why.kind, "%s", why.text);
	if (rc == 0) {
		*out = (struct install_recovered){ .outcome = INSTALL_NOTHING };
		return 0;
	}
	rc = open_journal_dir(&j, &f, err);
	if (rc > 0)
		rc = settle_temporary(&j, f.dir, f.name, &done.outcome, err);
	install_file_close(&f);
	if (rc < 0)
		return err_wrap(err, "recovery of '%s'", j.path);
	install_step("recovery done");
	if (install_journal_remove(originals_fd, err) < 0)
		return -1;
	(void)snprintf(done.path, sizeof(done.path), "%s", j.path);	/* same size */
	done.from = j.from;
	done.to = j.to;
	*out = done;
	return 0;
}
