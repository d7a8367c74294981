/* install_recover.c - finishing or undoing swaps that were interrupted; see install_recover.h
 *
 * It decides by content alone: whatever the path holds, the temporary of the journal is either
 * our new file (perhaps half of it), the old one, or (exchanged, not yet looked back)
 * somebody's newer one.
 *
 * SEVERAL NAMES  Each name of the file has a temporary of its own, and by what the two hold
 * each pair is in one of these states, whatever the others are in:
 *
 *   name   temporary                        how it comes about
 *   old    nothing, or the new, or half     before its exchange, or taken back
 *   new    old                              exchanged
 *   new    nothing                          exchanged, and cleaned up after that
 *   new    somebody's                       exchanged, not looked back: theirs goes back (R2)
 *   theirs anything                         replaced by somebody since: the name is theirs
 *
 * No old file is unlinked before all names are exchanged and that is durable.  So if a name
 * still is the old file, all that are new have the old one beside them: they are TAKEN BACK.
 * If none is, all that are not somebody's are new: it is FINISHED.  There is no third case, but
 * where somebody moved files of his own meanwhile: if a new name has no old file beside it, and
 * another is the old one, it becomes a name of that.  Taking back goes in the order of names
 * and can be killed at each step, because what decides, a name with the old file, stays.
 *
 * INVARIANTS
 *   R1  only a regular file of root's or of the file's owner is touched at the temporary's
 *       name: what is of another kind or somebody else's was not put there by us, and is left;
 *   R2  a newer file or link that came out of the exchange goes back to the path;
 *   R3  a journal goes when nothing of its operation is left, and no sooner;
 *   R4  of the names that are not somebody's, all are the old file then, or all the new.
 *
 * Tested by tests/unit/manager/parent/test_recover.c, test_recover_names.c, test_faults.c and
 * test_faults_names.c.
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

static int unlink_temporary(const struct install_journal *j, int dir, const char *temporary,
			    struct err *err)
{
	struct stat st;

	/* Looked at once more, since another file may have been put there; whoever can do that
	 * owns the folder and could remove his own file himself. */
	if (fstatat(dir, temporary, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_set(err, ERR_SYS, "'%s': %s", temporary,
						     strerror(errno));
	if (!S_ISREG(st.st_mode) || !is_ours(j, &st))
		return 0;
	if (unlinkat(dir, temporary, 0) < 0 && errno != ENOENT && errno != EISDIR)
		return err_set(err, ERR_SYS, "'%s': unlink: %s", temporary, strerror(errno));
	return 0;
}

/* --- the names of one journal --- */

enum name_state { GONE = 0, THEIRS, OLD, NEW };

struct place {				/* of a name */
	struct install_file f;		/* its directory only; f.dir < 0: gone, or another */
	struct install_journal_name name;
	enum name_state state;
};

struct places {
	unsigned n;
	struct place at[NAMES_MOST];
};

/* 1: it is open; 0: it is gone or another one by now, and has nothing of ours; -1: not
 * known. */
static int open_journal_dir(const struct install_journal_name *name, struct install_file *f,
			    struct err *err)
{
	struct err why;
	struct stat st;

	if (install_file_open_dir(name->path, f, &why) < 0)
		return why.kind == ERR_SYS ? err_set(err, ERR_SYS, "%s", why.text) : 0;
	if (fstat(f->dir, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	if (st.st_dev == name->at.dev && st.st_ino == name->at.inode)
		return 1;
	install_file_close(f);
	return 0;
}

static int open_places(const struct install_journal *j, struct places *p, struct err *err)
{
	for (unsigned i = 0; i <= j->also.n; i++) {
		struct place *at = &p->at[i];

		at->f = (struct install_file){ .dir = -1, .fd = -1 };
		at->name = install_journal_nth(j, i);
		at->state = GONE;
		p->n = i + 1;
		if (open_journal_dir(&at->name, &at->f, err) < 0)
			return -1;
	}
	return 0;
}

static void close_places(struct places *p)
{
	for (unsigned i = 0; i < p->n; i++)
		install_file_close(&p->at[i].f);
}

/* Fills its state; somebody's newer file that came out of the exchange goes back. */
static int look_at(const struct install_journal *j, struct place *p, struct err *err)
{
	struct digest at_path, at_temporary;
	const char *temporary = p->name.at.temporary;
	int path, beside;

	if (p->f.dir < 0)
		return 0;
	path = content_of(p->f.dir, p->f.name, &at_path, err);
	beside = content_of(p->f.dir, temporary, &at_temporary, err);
	if (path < 0 || beside < 0)
		return -1;
	bool newer = beside == LINK ||
		     (beside == REGULAR && !digest_equal(&at_temporary, &j->from) &&
		      !digest_equal(&at_temporary, &j->to));

	p->state = path != REGULAR ? THEIRS : digest_equal(&at_path, &j->to) ? NEW :
		   digest_equal(&at_path, &j->from) ? OLD : THEIRS;
	if (p->state == NEW && newer) {
		if (renameat2(p->f.dir, temporary, p->f.dir, p->f.name, RENAME_EXCHANGE) < 0)
			return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
		p->state = THEIRS;
	}
	return 0;
}

static const struct place *find_state(const struct places *p, enum name_state state)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->at[i].state == state)
			return &p->at[i];
	return NULL;
}

/* Whose files these are may have changed since: nobody gets what he has linked into a folder of
 * another. */
static int check_owners(const struct place *from, const struct place *to, struct err *err)
{
	struct stat x, y;

	if (fstat(from->f.dir, &x) < 0 || fstat(to->f.dir, &y) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	return x.st_uid == y.st_uid ? 0 :
	       err_set(err, ERR_SYS, "'%s' and '%s' are in folders of different owners by now",
		       from->name.path, to->name.path);
}

/* Nothing old lies beside `to`: what is at the name `from`, and is the old file, gets that name
 * too.  What was linked is looked at afterwards. */
static int link_old(const struct install_journal *j, const struct place *from,
		    const struct place *to, struct err *err)
{
	const char *temporary = to->name.at.temporary;
	struct digest d;

	if (check_owners(from, to, err) < 0 ||
	    unlink_temporary(j, to->f.dir, temporary, err) < 0)
		return -1;
	if (linkat(from->f.dir, from->f.name, to->f.dir, temporary, 0) < 0)
		return err_set(err, ERR_SYS, "'%s': link: %s", temporary, strerror(errno));
	int what = content_of(to->f.dir, temporary, &d, err);
	return what < 0 ? -1 : what == REGULAR && digest_equal(&d, &j->from) ? 0 :
	       err_set(err, ERR_SYS, "'%s': it was replaced", temporary);
}

/* R4: a name that is new becomes the old file's again; R2: if it still is, else what came out
 * of it goes back there. */
static int take_back(const struct install_journal *j, const struct place *old, struct place *p,
		     struct err *err)
{
	const char *temporary = p->name.at.temporary;
	struct digest d;
	int beside = content_of(p->f.dir, temporary, &d, err);

	if (beside < 0 || ((beside != REGULAR || !digest_equal(&d, &j->from)) &&
			   link_old(j, old, p, err) < 0))
		return -1;
	if (renameat2(p->f.dir, temporary, p->f.dir, p->f.name, RENAME_EXCHANGE) < 0)
		return err_set(err, ERR_SYS, "taking it back: %s", strerror(errno));
	beside = content_of(p->f.dir, temporary, &d, err);
	if (beside < 0)
		return -1;
	p->state = beside == REGULAR && digest_equal(&d, &j->to) ? OLD : THEIRS;
	if (p->state == THEIRS &&
	    renameat2(p->f.dir, temporary, p->f.dir, p->f.name, RENAME_EXCHANGE) < 0)
		return err_set(err, ERR_SYS, "exchange back: %s", strerror(errno));
	install_step("recovery took back");
	return 0;
}

static int sync_places(const struct places *p, struct err *err)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->at[i].f.dir >= 0 && install_sync(p->at[i].f.dir, err) < 0)
			return -1;
	return 0;
}

/* All names old or all new, durably, then the temporaries go. */
static int settle_places(const struct install_journal *j, struct places *p,
			 enum install_outcome *outcome, struct err *err)
{
	for (unsigned i = 0; i < p->n; i++)
		if (look_at(j, &p->at[i], err) < 0)
			return -1;
	const struct place *old = find_state(p, OLD);

	*outcome = old ? INSTALL_UNDONE : find_state(p, NEW) ? INSTALL_FINISHED
							      : INSTALL_OVERTAKEN;
	for (unsigned i = 0; old && i < p->n; i++)
		if (p->at[i].state == NEW && take_back(j, old, &p->at[i], err) < 0)
			return -1;
	if (p->n > 1 && sync_places(p, err) < 0)
		return -1;
	install_step("recovery looked");
	for (unsigned i = 0; i < p->n; i++)
		if (p->at[i].f.dir >= 0 &&
		    unlink_temporary(j, p->at[i].f.dir, p->at[i].name.at.temporary, err) < 0)
			return -1;
	return sync_places(p, err);
}

/* The journal of that name, which has been read. */
static int settle(int originals_fd, const char *name, const struct install_journal *j,
		  struct install_recovered *out, struct err *err)
{
	struct places p = { 0 };

	out->outcome = INSTALL_OVERTAKEN;
	int rc = open_places(j, &p, err);
	if (rc == 0)
		rc = settle_places(j, &p, &out->outcome, err);
	close_places(&p);
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
		    install_journal_is_of(&j, path))
			rc = settle(originals_fd, name[i], &j, &r, err);
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	return rc;
}
