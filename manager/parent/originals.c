/* originals.c - originals by digest; which go, and when; see originals.h
 *
 * Entries go first and are synced, then originals that nothing names: so no entry ever names an
 * original that is gone.
 *
 * Tested by tests/unit/manager/parent/test_originals.c.
 */
#include "manager/parent/originals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "manager/parent/install_file.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/ledger.h"
#include "manager/parent/regular.h"

enum presence { AT_PATH, NOT_AT_PATH, NOT_KNOWN };

struct known {			/* an entry, as far as it matters here */
	char name[LEDGER_NAME_LEN + 1];
	struct digest original;
	uint64_t bytes;
	uid_t owner;
	time_t seen;
	enum presence presence;
	bool at_its_path;		/* that of list.coming */
	bool gone;
};

struct list {
	struct known *entry;
	size_t n, room;
	/* only those that matter for it: its path's, and its owner's if his are bounded; NULL:
	 * all */
	const struct originals_coming *coming;
};

/* --- one of them --- */

int install_open_original(int originals_fd, const struct digest *original, struct err *err)
{
	struct digest d;
	struct stat st;
	char hex[65];

	digest_hex(original, hex);
	int fd = regular_open(originals_fd, hex, 0, &st);
	if (fd == REGULAR_NOT)
		return err_set(err, ERR_INPUT, "original %s: not a regular file", hex);
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

/* Root's are not; and where all belongs to one user, his are root's. */
static bool is_bounded(uid_t owner)
{
	return owner != geteuid();
}

/* --- is a generation at its path? --- */

static enum presence look_at(const struct ledger_entry *e, const struct install_file *f)
{
	struct stat dir, st;
	struct digest d;

	if (fstat(f->dir, &dir) < 0)
		return NOT_KNOWN;
	int fd = regular_open(f->dir, f->name, 0, &st);
	if (fd == -1 && errno != ENOENT)
		return NOT_KNOWN;
	if (fd == -1)	/* of another folder in that one's place it says nothing */
		return dir.st_ino == e->dir_inode ? NOT_AT_PATH : NOT_KNOWN;
	if (fd < 0)
		return NOT_AT_PATH;
	enum presence p = NOT_AT_PATH;
	if ((uint64_t)st.st_size == e->generation_bytes) {
		if (st.st_ino == e->inode && st.st_uid == e->owner)
			p = AT_PATH;
		else if (digest_fd(fd, &d, NULL) < 0)
			p = NOT_KNOWN;
		else if (digest_equal(&d, &e->generation))
			p = AT_PATH;
	}
	close(fd);
	return p;
}

static enum presence presence_of(const struct ledger_entry *e)
{
	struct install_file f;
	enum presence p = NOT_KNOWN;

	if (install_file_open_dir(e->path, &f, NULL) == 0)
		p = look_at(e, &f);
	install_file_close(&f);
	return p;
}

/* --- the entries --- */

static int add(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
	       struct err *err)
{
	struct list *l = ctx;

	const struct originals_coming *c = l->coming;
	bool at_its_path = c && strcmp(c->path, e->path) == 0;

	if (c && !at_its_path && !(is_bounded(c->owner) && e->owner == c->owner))
		return 0;
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct known *more = realloc(l->entry, room * sizeof(*more));

		if (!more)
			return err_set(err, ERR_SYS, "out of memory");
		l->entry = more;
		l->room = room;
	}
	struct known *k = &l->entry[l->n++];
	*k = (struct known){ .original = e->original, .bytes = e->original_bytes,
			     .owner = e->owner, .seen = seen, .presence = presence_of(e),
			     .at_its_path = at_its_path };
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	return 0;
}

static bool is_named(const struct list *l, const struct digest *original, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (!l->entry[i].gone && digest_equal(&l->entry[i].original, original))
			return true;
	return false;
}

static int drop(int ledger_fd, struct known *k, struct err *err)
{
	k->gone = true;
	return ledger_remove(ledger_fd, k->name, err);
}

/* --- originals that nothing names --- */

/* Those of operations under way.  Negative: not all can be read. */
static int add_journals(int originals_fd, struct list *l, struct err *err)
{
	struct ledger_entry e = { 0 };
	struct install_journal j;
	char **name;
	int n = install_journal_list(originals_fd, &name, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = name[i] ? install_journal_read(originals_fd, name[i], &j, err)
				     : err_set(err, ERR_SYS, "out of memory");
		for (int to = 0; rc > 0 && to < 2; to++) {
			e.original = to ? j.to : j.from;
			if (add(l, "", 0, &e, err) < 0)
				rc = -1;
		}
		rc = rc < 0 ? -1 : 0;
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	return rc;
}

static int is_original(const struct dirent *d)
{
	struct digest unused;

	return digest_from_hex(d->d_name, &unused) == 0;
}

static int remove_if_unnamed(int originals_fd, const char *name, const struct list *l,
			     struct originals_swept *out, struct err *err)
{
	struct digest d;
	struct stat st;

	if (digest_from_hex(name, &d) < 0 || is_named(l, &d, l->n))
		return 0;
	if (fstatat(originals_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, ERR_SYS, "original %s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_mode & 07777) != ORIGINALS_MODE)
		return 0;		/* from before the ledger */
	if (unlinkat(originals_fd, name, 0) < 0)
		return err_set(err, ERR_SYS, "original %s: unlink: %s", name, strerror(errno));
	out->originals++;
	out->bytes += (uint64_t)st.st_size;
	return 0;
}

static int remove_unnamed(int originals_fd, const struct list *l, struct originals_swept *out,
			  struct err *err)
{
	struct dirent **list;
	int n = scandirat(originals_fd, ".", &list, is_original, alphasort), rc = 0;

	if (n < 0)
		return err_set(err, ERR_SYS, "originals: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = remove_if_unnamed(originals_fd, list[i]->d_name, l, out, err);
		free(list[i]);
	}
	free(list);
	return rc < 0 ? -1 : out->originals ? install_sync(originals_fd, err) : 0;
}

/* --- both --- */

int originals_sweep(int originals_fd, int ledger_fd, time_t now, struct originals_swept *out,
		    struct err *err)
{
	struct list l = { .coming = NULL };
	struct originals_swept swept = { 0 };

	int rc = ledger_each(ledger_fd, add, &l, err);
	size_t entries = l.n;
	if (rc == 0)
		rc = add_journals(originals_fd, &l, err);
	for (size_t i = 0; rc == 0 && i < entries; i++) {
		struct known *k = &l.entry[i];

		if (k->presence == AT_PATH) {
			rc = ledger_touch(ledger_fd, k->name, err);
		} else if (k->presence == NOT_AT_PATH && now > k->seen &&
			   now - k->seen > (time_t)ORIGINALS_KEPT_DAYS * 86400) {
			rc = drop(ledger_fd, k, err);
			swept.entries++;
		}
	}
	if (rc == 0 && swept.entries)
		rc = ledger_sync(ledger_fd, err);
	if (rc == 0)
		rc = remove_unnamed(originals_fd, &l, &swept, err);
	free(l.entry);
	if (rc == 0)
		*out = swept;
	return rc;
}

/* What the owner of l->coming has already. */
struct part {
	size_t entries, of_path;
	uint64_t bytes;			/* of different originals */
};

static struct part part_of(const struct list *l)
{
	struct part part = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct known *k = &l->entry[i];

		if (k->gone)
			continue;
		part.of_path += k->at_its_path;
		if (k->owner != l->coming->owner)
			continue;
		part.entries++;
		if (!is_named(l, &k->original, i))
			part.bytes += k->bytes;
	}
	return part;
}

enum room { ENOUGH, PATH_FULL, OWNER_FULL };

static enum room room_in(const struct list *l, struct part *part)
{
	const struct originals_coming *c = l->coming;
	uint64_t more = is_named(l, &c->original, l->n) ? 0 : c->bytes;

	*part = part_of(l);
	if (part->of_path >= ORIGINALS_PATH_ENTRIES)
		return PATH_FULL;
	if (is_bounded(c->owner) && (part->entries >= ORIGINALS_OWNER_ENTRIES ||
				     part->bytes + more > (uint64_t)ORIGINALS_OWNER_MIB << 20))
		return OWNER_FULL;
	return ENOUGH;
}

static struct known *oldest_elsewhere(const struct list *l, enum room room)
{
	struct known *oldest = NULL;

	for (size_t i = 0; i < l->n; i++) {
		struct known *k = &l->entry[i];

		if (!k->gone && k->presence != AT_PATH && (!oldest || k->seen < oldest->seen) &&
		    (room == PATH_FULL ? k->at_its_path : k->owner == l->coming->owner))
			oldest = k;
	}
	return oldest;
}

int originals_room(int originals_fd, int ledger_fd, const struct originals_coming *c,
		   struct err *err)
{
	struct list l = { .coming = c };
	struct originals_swept swept;
	struct part part;
	enum room room;
	bool dropped = false;

	int rc = ledger_each(ledger_fd, add, &l, err);
	while (rc == 0 && (room = room_in(&l, &part)) != ENOUGH) {
		struct known *k = oldest_elsewhere(&l, room);

		if (k) {
			rc = drop(ledger_fd, k, err);
			dropped = true;
		} else {
			rc = err_set(err, ERR_REFUSED,
				     "originals of user %u take %llu MiB already; one user may "
				     "have %d MiB of them, in %d programs", (unsigned)c->owner,
				     (unsigned long long)(part.bytes >> 20),
				     ORIGINALS_OWNER_MIB, ORIGINALS_OWNER_ENTRIES);
		}
	}
	free(l.entry);
	if (rc == 0 && dropped)
		rc = ledger_sync(ledger_fd, err);
	if (rc == 0 && dropped)
		rc = originals_sweep(originals_fd, ledger_fd, 0, &swept, err);
	return rc;
}
