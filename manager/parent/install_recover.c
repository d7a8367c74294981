/* install_recover.c - finishing or undoing swaps that were interrupted; see install_recover.h
 *
 * It decides by content alone: whatever the path holds, the temporary of the journal is either
 * our new file (perhaps half of it), the old one, or (exchanged, not yet looked back)
 * somebody's newer one.
 *
 * INVARIANTS
 *   R1  only a regular file of root's or of the file's owner is touched at the temporary's
 *       name: what is of another kind or somebody else's was not put there by us, and is left;
 *   R2  a newer file or link that came out of the exchange goes back to the path;
 *   R3  a journal goes when nothing of its operation is left, and no sooner.
 *
 * Tested by tests/unit/manager/parent/test_recover.c, test_install.c, test_faults.c.
 */
#include "manager/parent/install_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install_file.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/regular.h"

enum { NOTHING = 0, REGULAR, LINK, OTHER };

/* What is at a name in the directory, and the digest of a regular file; -1 with *err. */
static int content_of(int dir, const char *name, struct digest *out, struct err *err)
{
	struct stat st;
	int fd = regular_open(dir, name, 0, &st);

	if (fd == REGULAR_NOT)
		return S_ISLNK(st.st_mode) ? LINK : OTHER;
	if (fd < 0 && errno == ENOENT)
		return NOTHING;
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", name, strerror(errno));
	int rc = digest_fd(fd, out, err) < 0 ? -1 : REGULAR;
	close(fd);
	return rc;
}

/* R1; it may be half written, and still root's. */
static bool is_ours(const struct install_journal *j, const struct stat *st)
{
	return j->owner == JOURNAL_ANYBODY || st->st_uid == j->owner || st->st_uid == geteuid();
}

static int unlink_temporary(const struct install_journal *j, int dir, struct err *err)
{
	struct stat st;

	/* Looked at once more, since another file may have been put there; whoever can do that
	 * owns the folder and could remove his own file himself. */
	if (fstatat(dir, j->temporary, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_set(err, ERR_SYS, "'%s': %s", j->temporary,
						     strerror(errno));
	if (!S_ISREG(st.st_mode) || !is_ours(j, &st))
		return 0;
	if (unlinkat(dir, j->temporary, 0) < 0 && errno != ENOENT && errno != EISDIR)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", j->temporary, strerror(errno));
	return 0;
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
	bool is_new = path == REGULAR && digest_equal(&at_path, &j->to);
	bool is_old = path == REGULAR && digest_equal(&at_path, &j->from);
	bool newer = temporary == LINK ||
		     (temporary == REGULAR && !digest_equal(&at_temporary, &j->from) &&
		      !digest_equal(&at_temporary, &j->to));

	*outcome = is_new ? INSTALL_FINISHED : is_old ? INSTALL_UNDONE : INSTALL_OVERTAKEN;
	if (is_new && newer) {
		if (renameat2(dir, j->temporary, dir, name, RENAME_EXCHANGE) < 0)
			return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
		*outcome = INSTALL_OVERTAKEN;
	}
	install_step("recovery looked");
	if (unlink_temporary(j, dir, err) < 0)
		return -1;
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

/* The journal of that name, which has been read. */
static int settle(int originals_fd, const char *name, const struct install_journal *j,
		  struct install_recovered *out, struct err *err)
{
	struct install_file f = { .dir = -1, .fd = -1 };

	out->outcome = INSTALL_OVERTAKEN;
	int rc = open_journal_dir(j, &f, err);
	if (rc > 0)
		rc = settle_temporary(j, f.dir, f.name, &out->outcome, err);
	install_file_close(&f);
	if (rc < 0)
		return err_wrap(err, "recovery of '%s'", j->path);
	install_step("recovery done");
	return install_journal_remove(originals_fd, name, err);
}

static void recover_one(int originals_fd, const char *name, struct install_recovered *out)
{
	struct install_journal j;
	struct err err = { 0 };

	*out = (struct install_recovered){ .outcome = INSTALL_NOTHING };
	int rc = install_journal_read(originals_fd, name, &j, &err);
	if (rc > 0) {
		memcpy(out->path, j.path, sizeof(j.path));
		out->from = j.from;
		out->to = j.to;
		rc = settle(originals_fd, name, &j, out, &err);
	} else if (rc < 0) {
		(void)snprintf(out->path, sizeof(out->path), "originals/%s", name);
		if (err.kind == ERR_INPUT) {
			char kept[JOURNAL_KEPT_LEN + 1];

			rc = install_journal_set_aside(originals_fd, name, kept, &err);
			out->outcome = INSTALL_SET_ASIDE;
			if (rc == 0)
				(void)snprintf(out->path, sizeof(out->path), "%s", kept);
		}
	}
	if (rc < 0) {
		out->outcome = INSTALL_STUCK;
		(void)snprintf(out->reason, sizeof(out->reason), "%s", err.text);
	}
}

int install_recover(int originals_fd,
		    void (*told)(void *ctx, const struct install_recovered *r), void *ctx,
		    struct err *err)
{
	struct install_recovered r;
	char **name;
	int n = install_journal_list(originals_fd, &name, err), stuck = 0;

	for (int i = 0; i < n; i++) {
		if (name[i]) {
			recover_one(originals_fd, name[i], &r);
			stuck += r.outcome == INSTALL_STUCK;
			if (r.outcome != INSTALL_NOTHING)
				told(ctx, &r);
		}
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	return n < 0 ? -1 : stuck;
}

int install_recover_path(int originals_fd, const char *path, struct err *err)
{
	struct install_recovered r;
	struct install_journal j;
	char **name;
	int n = install_journal_list(originals_fd, &name, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n; i++) {
		/* One that cannot be read is of no known path, and install_recover()'s. */
		if (rc == 0 && name[i] &&
		    install_journal_read(originals_fd, name[i], &j, NULL) > 0 &&
		    strcmp(j.path, path) == 0)
			rc = settle(originals_fd, name[i], &j, &r, err);
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	return rc;
}
