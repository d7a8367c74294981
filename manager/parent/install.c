/* install.c - the swap
 *
 *   check       refusals; the file holds what is expected, and what the ledger says of it
 *   keep        the original is in originals, synced, its digest seen
 *   journal     what will happen, synced
 *   temporary   new file beside the old one, content and attributes, synced; of a file with
 *               several names, a name of that new file beside each (install_set.h)
 *   ledger      which original the new file gives way to, synced (not of a restore); an entry
 *               for each name
 *   look again  the path still is the same inode with the same content, and so are all names
 *   exchange    one system call for each name; the directories synced
 *   look back   what came out is the inode that was looked at, and has no other name, else all
 *               names are put back
 *   clean up    old file unlinked, journal removed
 *
 * SEVERAL NAMES  The states that a kill can leave, each a whole program under every name:
 *
 *   before the first exchange	all names old		taken back: the temporaries go
 *   between two exchanges	some new, some old	taken back: the new ones are exchanged
 *							again, then the temporaries go
 *   after the last one		all new			finished: the old file goes
 *   while cleaning up		all new, durably	finished
 *
 * Which of them it is, install_recover.c sees by the names themselves; the journal says which
 * names and temporaries there are, and never changes.
 *
 * INVARIANTS
 *   I1  before `exchange` the path is not touched, after it it is complete;
 *   I2  a file other than the one that was looked at is never unlinked: if somebody replaces
 *       the file between the last look and the exchange, theirs comes out of the exchange, is
 *       recognised and goes back, and so do all other names of the swap;
 *   I3  the temporary's name is in the journal before the temporary exists, so none is ever
 *       left;
 *   I4  the journal goes last;
 *   I5  no generation is ever at a path without its entry in the ledger, and its original in
 *       originals;
 *   I6  no old file loses a name before all names are the new file's, durably.
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
#include "manager/parent/install_set.h"
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

/* Of all its names. */
static int make_room(const struct install_request *r, const struct install_set *s,
		     struct err *err)
{
	bool at_path = digest_equal(&r->original, &r->expected);

	for (unsigned i = 0; i < s->n; i++) {
		const struct originals_coming coming = {
			.path = install_set_path(s, i), .owner = s->f[0].st.st_uid,
			.original = r->original,
			.bytes = at_path ? (uint64_t)s->f[0].st.st_size : 0,
		};

		if (originals_room(r->originals_fd, r->ledger_fd, &coming, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_kept(int originals_fd, const struct digest *original)
{
	char hex[65];

	digest_hex(original, hex);
	return faccessat(originals_fd, hex, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* The original is in originals afterwards: it was, or the present file is it.  *fresh: it was
 * not. */
static int keep_original(const struct install_request *r, const struct install_set *s,
			 uint64_t *bytes, bool *fresh, struct err *err)
{
	bool at_path = digest_equal(&r->original, &r->expected);
	const struct install_file *f = &s->f[0];
	struct stat st;
	struct err why;

	/* First: what goes for it may be this very original. */
	if (make_room(r, s, err) < 0)
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
	*fresh = !is_kept(r->originals_fd, &r->original);
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
	int ledger_fd;			/* entries are made there; -1: none */
	struct digest original;		/* for the entries */
	uint64_t original_bytes;
	struct install_set set;		/* holds j.from */
	enum install_why why;
	struct install_temporaries temporary;
	struct install_journal j;
};

static int enter_in_ledger(const struct swap *s, struct err *err)
{
	const struct stat *generation = &s->temporary.made;

	for (unsigned i = 0; s->ledger_fd >= 0 && i < s->set.n; i++) {
		struct ledger_entry e = {
			.original = s->original, .generation = s->j.to,
			.original_bytes = s->original_bytes,
			.generation_bytes = (uint64_t)generation->st_size,
			.owner = generation->st_uid, .dev = generation->st_dev,
			.inode = generation->st_ino, .dir_dev = s->set.dir[i].dev,
			.dir_inode = s->set.dir[i].inode,
		};

		(void)snprintf(e.path, sizeof(e.path), "%s", install_set_path(&s->set, i));
		for (unsigned k = 0; k < s->set.n; k++)
			if (k != i && names_add(&e.also, install_set_path(&s->set, k)) < 0)
				return err_set(err, ERR_REFUSED, "its names are too long");
		if (ledger_put(s->ledger_fd, &e, err) < 0)
			return -1;
	}
	return 0;
}

/* What is to happen; to->temporary as well. */
static int fill_journal(struct swap *s, struct err *err)
{
	const struct install_set *set = &s->set;
	struct install_journal *j = &s->j;

	for (unsigned i = 0; i < set->n; i++)
		if (make_name(s->temporary.at[i], err) < 0)
			return -1;
	j->owner = set->f[0].st.st_uid;
	j->dev = set->dir[0].dev;
	j->inode = set->dir[0].inode;
	memcpy(j->temporary, s->temporary.at[0], sizeof(j->temporary));
	(void)snprintf(j->path, sizeof(j->path), "%s", set->path);	/* opened, so it fits */
	j->also = set->also;
	for (unsigned i = 1; i < set->n; i++) {
		struct install_journal_at *at = &j->also_at[i - 1];

		at->dev = set->dir[i].dev;
		at->inode = set->dir[i].inode;
		memcpy(at->temporary, s->temporary.at[i], sizeof(at->temporary));
	}
	return 0;
}

/* Puts the content of s->from at all names of s->set, which holds s->j.from. */
static int swap(struct swap *s, struct err *err)
{
	const struct install_set *set = &s->set;
	struct install_journal *j = &s->j;
	char name[JOURNAL_LEN + 1];

	if (fill_journal(s, err) < 0)
		return -1;
	install_journal_name(j, name);
	install_step("begin");
	int rc = install_journal_write(s->originals_fd, j, err);
	install_step("journal written");
	if (rc == 0)
		rc = make_temporary(j, &set->f[0], s->from, &s->temporary.made, err);
	if (rc == 0)
		rc = install_set_link(set, &s->temporary, err);
	install_step("temporary synced");
	if (rc == 0)
		rc = enter_in_ledger(s, err);
	install_step("in the ledger");
	if (rc == 0)
		rc = install_look_again(set, &j->from, err);
	install_step("looked again");
	if (rc == 0)
		rc = install_exchange(set, &s->temporary, &j->from,
				      s->why == INSTALL_ALL, err);
	if (rc < 0) {
		/* As after a kill; what cannot be cleaned up now stays in the journal. */
		(void)install_recover_path(s->originals_fd, j->path, NULL);
		return -1;
	}
	install_step("swapped");
	return install_journal_remove(s->originals_fd, name, err);
}

/* Opens and checks the file at the path, under all its names. */
static int open_checked(const char *path, const struct names *names, enum install_why why,
			struct install_set *s, struct err *err)
{
	if (install_set_open(path, names, s, err) < 0)
		return -1;
	return install_set_check(s, why, err) < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* The same, when what was interrupted there is settled, of a file that holds `expected`. */
static int open_expected(int originals_fd, struct swap *s, const char *path,
			 const struct names *names, struct err *err)
{
	struct digest d;

	if (install_recover_path(originals_fd, path, err) < 0 ||
	    open_checked(path, names, s->why, &s->set, err) < 0)
		return -1;
	for (unsigned i = 1; i < s->set.n; i++)
		if (install_recover_path(originals_fd, install_set_path(&s->set, i), err) < 0)
			return -1;
	if (digest_fd(s->set.f[0].fd, &d, err) < 0)
		return err_wrap(err, "'%s'", path);
	if (!digest_equal(&d, &s->j.from))
		return err_set(err, ERR_REFUSED, "'%s': the file changed meanwhile", path);
	return 0;
}

void install_done_text(const struct install_done *d, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < d->also.n && n < size; i++)	/* cut, if need be */
		n += (size_t)snprintf(out + n, size - n, "%s %s", i ? "," : ", also as",
				      names_at(&d->also, i));
	if (d->others && n < size)
		(void)snprintf(out + n, size - n, "; under %lu other name%s the file stays as "
			       "it is", d->others, d->others == 1 ? "" : "s");
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
		       "root's `morphctl undo` puts its original back", path);
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
			       "belongs to user %u now; root's `morphctl undo` puts its "
			       "original back",
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
	struct swap s = { .originals_fd = r->originals_fd, .from = r->generation_fd,
			  .ledger_fd = r->ledger_fd, .original = r->original,
			  .why = r->allow_hard_links ? INSTALL_FOUND : INSTALL_ALL,
			  .j = { .from = r->expected, .to = r->generation } };
	bool fresh = false;
	int rc = -1;

	if (open_expected(r->originals_fd, &s, r->path, r->names, err) < 0 ||
	    check_original(r, &s.set.f[0], err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->generation)) {
		err_set(err, ERR_REFUSED, "'%s': this generation is installed already",
			r->path);
		goto out;
	}
	rc = keep_original(r, &s.set, &s.original_bytes, &fresh, err);
	install_step("original kept");
	if (rc == 0)
		rc = swap(&s, err);
	/* Who makes swaps fail does not fill root's disk with their originals.  One that cannot
	 * be removed now stays. */
	if (rc < 0 && fresh)
		(void)originals_remove_new(r->originals_fd, r->ledger_fd, &r->original, NULL);
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
	else
		install_set_tell(&s.set, r->done);
out:
	install_set_close(&s.set);
	return rc;
}

/* A full disk takes neither journal nor copy, and somebody may wait for the original because
 * of it. */
static int without_room(const struct restore_request *r, const struct names *names,
			struct err *err)
{
	struct back_request b = {
		.path = r->path, .expected = r->expected, .original = r->original,
		.originals_fd = r->originals_fd, .ledger_fd = r->ledger_fd, .names = names,
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
	struct swap s = { .originals_fd = r->originals_fd, .from = -1, .ledger_fd = -1,
			  .why = INSTALL_BACK,
			  .j = { .from = r->expected, .to = r->original } };
	const struct digest *known = r->edited ? r->edited : &r->expected;
	struct ledger_entry e = { 0 };
	int rc = -1;
	struct err own;

	if (!err)
		err = &own;
	if ((r->ledger_fd >= 0 && ledger_find(r->ledger_fd, r->path, known, &e, err) < 0) ||
	    open_expected(r->originals_fd, &s, r->path, &e.also, err) < 0)
		goto out;
	if (r->ledger_fd >= 0 &&
	    check_bound(r->ledger_fd, r->path, known, &r->original, &s.set.f[0], err) < 0)
		goto out;
	if (digest_equal(&r->expected, &r->original)) {
		err_set(err, ERR_REFUSED, "'%s': the original is there already", r->path);
		goto out;
	}
	s.from = install_open_original(r->originals_fd, &r->original, err);
	if (s.from >= 0)
		rc = r->dry_run ? 0 : swap(&s, err);
	if (rc < 0)
		err_wrap(err, "'%s'", r->path);
	if (rc < 0 && s.from >= 0 && err->kind == ERR_SYS)
		rc = without_room(r, &e.also, err);
	if (rc == 0)
		install_set_tell(&s.set, r->done);
out:
	if (s.from >= 0)
		close(s.from);
	install_set_close(&s.set);
	return rc;
}

int install_check(const char *path, const struct names *names, bool allow_hard_links,
		  struct install_done *done, struct err *err)
{
	struct install_set s = { 0 };
	int rc = open_checked(path, names, allow_hard_links ? INSTALL_FOUND : INSTALL_ALL, &s,
			      err);

	if (rc == 0)
		install_set_tell(&s, done);
	install_set_close(&s);
	return rc;
}
