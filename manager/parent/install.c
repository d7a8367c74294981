/* install.c - the swap
 *
 *   check       refusals; the file holds what is expected, and what the ledger says of it
 *   keep        the original is in originals, synced, its digest seen
 *   journal     what will happen, synced
 *   temporary   new file beside the old one, content and attributes, synced
 *   ledger      which original the new file gives way to, synced (not of a restore)
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
 *   I4  the journal goes last;
 *   I5  no generation is ever at a path without its entry in the ledger, and its original in
 *       originals.
 *
 * What is left of a swap that is killed is seen to by install_recover.c.
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
#include "manager/parent/install_back.h"
#include "manager/parent/install_exchange.h"
#include "manager/parent/install_file.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/install_recover.h"
#include "manager/parent/ledger.h"
#include "manager/parent/originals.h"
#include "manager/parent/private.h"

/* --- originals --- */

int install_open_originals(const char *store_dir, struct err *err)
{
	return private_open(store_dir, "originals", err);
}

/* Copies `fd` to originals/<digest>. */
static int keep_copy(int originals_fd, int fd, const struct digest *original, struct err *err)
{
	static const char temporary[] = "original.new";
	struct digest d;
	char hex[65];

	digest_hex(original, hex);
	(void)unlinkat(originals_fd, temporary, 0);	/* a kill's, if there is one */
	int to = openat(originals_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
			O_CLOEXEC, ORIGINALS_MODE);
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
			 uint64_t *bytes, struct err *err)
{
	bool at_path = digest_equal(&r->original, &r->expected);
	struct stat st;
	struct err why;

	/* First: what goes for it may be this very original. */
	const struct originals_coming coming = {
		.path = r->path, .owner = f->st.st_uid, .original = r->original,
		.bytes = at_path ? (uint64_t)f->st.st_size : 0,
	};
	if (originals_room(r->originals_fd, r->ledger_fd, &coming, err) < 0)
		return -1;
	int fd = install_open_original(r->originals_fd, &r->original, &why);
	if (fd >= 0) {
		int rc = fstat(fd, &st);

		close(fd);
		if (rc < 0)
			return err_set(err, ERR_SYS, "original: %s", strerror(errno));
		*bytes = (uint64_t)st.st_size;
		return 0;
	}
	if (!at_path)
		return err_set(err, why.kind, "%s", why.text);
	*bytes = (uint64_t)f->st.st_size;
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

/* *st: the new file. */
static int make_temporary(const struct install_journal *j, const struct install_file *f,
			  int from, struct stat *st, struct err *err)
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
	if (rc == 0 && fstat(fd, st) < 0)
		rc = err_set(err, ERR_SYS, "temporary file: %s", strerror(errno));
	close(fd);
	return rc;
}

struct swap {
	int originals_fd, from;		/* from: the new content, readable */
	int ledger_fd;			/* an entry is made there; -1: none */
	struct digest original;		/* for the entry */
	uint64_t original_bytes;
	const struct install_file *f;	/* holds j.from */
	struct install_journal j;
};

static int enter_in_ledger(const struct swap *s, const struct stat *generation,
			   const struct stat *dir, struct err *err)
{
	struct ledger_entry e = {
		.original = s->original, .generation = s->j.to,
		.original_bytes = s->original_bytes,
		.generation_bytes = (uint64_t)generation->st_size,
		.owner = generation->st_uid, .dev = generation->st_dev,
		.inode = generation->st_ino, .dir_dev = dir->st_dev, .dir_inode = dir->st_ino,
	};

	if (s->ledger_fd < 0)
		return 0;
	memcpy(e.path, s->j.path, sizeof(e.path));
	return ledger_put(s->ledger_fd, &e, err);
}

/* Puts the content of s->from at the path, whose file s->f holds s->j.from. */
static int swap(struct swap *s, struct err *err)
{
	const struct install_file *f = s->f;
	struct install_journal *j = &s->j;
	char name[JOURNAL_LEN + 1];
	struct stat dir, generation;

	if (fstat(f->dir, &dir) < 0)
		return err_set(err, ERR_SYS, "directory: fstat: %s", strerror(errno));
	j->owner = f->st.st_uid;
	j->dev = dir.st_dev;
	j->inode = dir.st_ino;
	if (make_name(j->temporary, err) < 0)
		return -1;
	install_journal_name(j, name);
	install_step("begin");
	int rc = install_journal_write(s->originals_fd, j, err);
	install_step("journal written");
	if (rc == 0)
		rc = make_temporary(j, f, s->from, &generation, err);
	install_step("temporary synced");
	if (rc == 0)
		rc = enter_in_ledger(s, &generation, &dir, err);
	install_step("in the ledger");
	if (rc == 0)
		rc = install_look_again(f, &j->from, err);
	install_step("looked again");
	if (rc == 0)
		rc = install_exchange(f, j->temporary, &j->from, err);
	if (rc < 0) {
		/* As after a kill; what cannot be cleaned up now stays in the journal. */
		(void)install_recover_path(s->originals_fd, j->path, NULL);
		return -1;
	}
	install_step("swapped");
	return install_journal_remove(s->originals_fd, name, err);
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

int install_bound(int ledger_fd, const char *path, const struct digest *generation,
		  const struct digest *original, struct err *err)
{
	struct ledger_entry e;
	int rc = ledger_find(ledger_fd, path, generation, &e, err);

	if (rc < 0)
		return err_wrap(err, "'%s'", path);
	if (rc > 0 && digest_equal(&e.original, original))
		return 0;
	return err_set(err, ERR_REFUSED,
		       "'%s': the ledger knows no such generation of it; if it is one, "
		       "`morphctl undo` puts its original back", path);
}

/* And that the file is still its owner's. */
static int check_bound(int ledger_fd, const char *path, const struct digest *generation,
		       const struct digest *original, const struct install_file *f,
		       struct err *err)
{
	struct ledger_entry e;

	if (install_bound(ledger_fd, path, generation, original, err) < 0 ||
	    ledger_find(ledger_fd, path, generation, &e, err) < 0)
		return -1;
	if (e.owner != f->st.st_uid)
		return err_set(err, ERR_REFUSED,
			       "'%s': it belonged to user %u when it was laid out anew, and "
			       "belongs to user %u now; `morphctl undo` puts its original back",
			       path, (unsigned)e.owner, (unsigned)f->st.st_uid);
	/* from here on its original is kept for the usual time */
	return ledger_seen(ledger_fd, path, generation, err);
}

/* What may be the original of what is at the path: that itself, unless it is a generation;
 * or what the ledger says. */
static int check_original(const struct install_request *r, const struct install_file *f,
			  struct err *err)
{
	struct ledger_entry e;

	if (!digest_equal(&r->original, &r->expected))
		return check_bound(r->ledger_fd, r->path, &r->expected, &r->original, f, err);
	int rc = ledger_find(r->ledger_fd, r->path, &r->expected, &e, err);
	if (rc > 0)
		return err_set(err, ERR_REFUSED, "'%s': a generation, not an original",
			       r->path);
	return rc;
}

int install_generation(const struct install_request *r, struct err *err)
{
	struct install_file f = { .dir = -1, .fd = -1 };
	struct swap s = { .originals_fd = r->originals_fd, .from = r->generation_fd,
			  .ledger_fd = r->ledger_fd, .original = r->original, .f = &f,
			  .j = { .from = r->expected, .to = r->generation } };
	int rc = -1;

	if (install_recover_path(r->originals_fd, r->path, err) < 0 ||
	    open_checked(r->path, r->allow_hard_links, &r->expected, &f, err) < 0 ||
	    check_original(r, &f, err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->generation)) {
		err_set(err, ERR_REFUSED, "'%s': this generation is installed already",
			r->path);
		goto out;
	}
	(void)snprintf(s.j.path, sizeof(s.j.path), "%s", r->path);	/* opened, so it fits */
	rc = keep_original(r, &f, &s.original_bytes, err);
	install_step("original kept");
	if (rc == 0 && swap(&s, err) < 0) {
		/* Who makes swaps fail does not fill root's disk with their originals.  What
		 * cannot be removed now goes with the next sweep. */
		struct originals_swept swept;

		(void)originals_sweep(r->originals_fd, r->ledger_fd, 0, &swept, NULL);
		rc = -1;
	}
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
out:
	install_file_close(&f);
	return rc;
}

/* A full disk takes neither journal nor copy, and somebody may wait for the original because
 * of it. */
static int without_room(const struct restore_request *r, struct err *err)
{
	struct back_request b = {
		.path = r->path, .expected = r->expected, .original = r->original,
		.originals_fd = r->originals_fd, .ledger_fd = r->ledger_fd,
		.allow_hard_links = r->allow_hard_links,
	};
	const struct err first = *err;
	enum back_how how;
	struct err why;

	if (install_back(&b, &how, &why) == 0)
		return 0;
	return err_set(err, first.kind, "%.480s; nor without a journal: %.480s", first.text,
		       why.text);
}

int install_restore(const struct restore_request *r, struct err *err)
{
	struct install_file f = { .dir = -1, .fd = -1 };
	struct swap s = { .originals_fd = r->originals_fd, .from = -1, .ledger_fd = -1,
			  .f = &f, .j = { .from = r->expected, .to = r->original } };
	int rc = -1;
	struct err own;

	if (!err)
		err = &own;
	if (install_recover_path(r->originals_fd, r->path, err) < 0 ||
	    open_checked(r->path, r->allow_hard_links, &r->expected, &f, err) < 0)
		goto out;
	if (r->ledger_fd >= 0 &&
	    check_bound(r->ledger_fd, r->path, r->edited ? r->edited : &r->expected,
			&r->original, &f, err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->original)) {
		err_set(err, ERR_REFUSED, "'%s': the original is there already", r->path);
		goto out;
	}
	(void)snprintf(s.j.path, sizeof(s.j.path), "%s", r->path);	/* opened, so it fits */
	s.from = install_open_original(r->originals_fd, &r->original, err);
	if (s.from >= 0)
		rc = swap(&s, err);
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
	if (rc < 0 && s.from >= 0 && err->kind == ERR_SYS)
		rc = without_room(r, err);
out:
	if (s.from >= 0)
		close(s.from);
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
