/* originals.c - originals by digest; which go, and when; see originals.h
 *
 * Entries go first and are synced, then the originals that these have named and nothing else
 * names: so no entry ever names an original that is gone.  What the ledger does not say is
 * never a reason: it may have been lost, and then originals are all that is left.
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
	/* of a list of who names what: without those that are gone there; NULL: all */
	const struct list *without;
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

static int append(struct list *l, const struct known *k, struct err *err)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct known *more = realloc(l->entry, room * sizeof(*more));

		if (!more)
			return err_set(err, ERR_SYS, "out of memory");
		l->entry = more;
		l->room = room;
	}
	l->entry[l->n++] = *k;
	return 0;
}

static int add(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
	       struct err *err)
{
	struct list *l = ctx;

	const struct originals_coming *c = l->coming;
	bool at_its_path = c && strcmp(c->path, e->path) == 0;

	if (c && !at_its_path && !(is_bounded(c->owner) && e->owner == c->owner))
		return 0;
	struct known k = { .original = e->original, .bytes = e->original_bytes,
			   .owner = e->owner, .seen = seen, .presence = presence_of(e),
			   .at_its_path = at_its_path };
	(void)snprintf(k.name, sizeof(k.name), "%s", name);
	return append(l, &k, err);
}

static bool is_named(const struct list *l, const struct digest *original, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (!l->entry[i].gone && digest_equal(&l->entry[i].original, original))
			return true;
	return false;
}

/* --- who names an original --- */

static bool is_gone(const struct list *l, const char *name)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (l->entry[i].gone && strcmp(l->entry[i].name, name) == 0)
			return true;
	return false;
}

static int add_name(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
		    struct err *err)
{
	struct list *l = ctx;
	const struct known k = { .original = e->original };

	(void)seen;
	return is_gone(l->without, name) ? 0 : append(l, &k, err);
}

/* Those of operations under way.  Negative: not all can be read. */
static int add_journals(int originals_fd, struct list *l, struct err *err)
{
	struct known k = { .gone = false };
	struct install_journal j;
	char **name;
	int n = install_journal_list(originals_fd, &name, err), rc = n < 0 ? -1 : 0;

	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = name[i] ? install_journal_read(originals_fd, name[i], &j, err)
				     : err_set(err, ERR_SYS, "out of memory");
		for (int to = 0; rc > 0 && to < 2; to++) {
			k.original = to ? j.to : j.from;
			if (append(l, &k, err) < 0)
				rc = -1;
		}
		rc = rc < 0 ? -1 : 0;
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	return rc;
}

/* By all entries, wherever their generations are, and by operations under way; -1: what could
 * be read.  A swap of another process makes its entry before its journal goes, so journals come
 * first. */
static int add_names(int originals_fd, int ledger_fd, struct list *l, struct err *err)
{
	int journals = add_journals(originals_fd, l, err);
	int entries = ledger_each(ledger_fd, add_name, l, journals < 0 ? NULL : err);

	return entries < 0 || journals < 0 ? -1 : 0;
}

static int remove_unless_named(int originals_fd, const struct digest *d,
			       const struct list *names, struct originals_swept *out,
			       struct err *err)
{
	struct stat st;
	char name[65];

	if (is_named(names, d, names->n))
		return 0;
	digest_hex(d, name);
	if (fstatat(originals_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_set(err, ERR_SYS, "original %s: %s", name,
						     strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_mode & 07777) != ORIGINALS_MODE)
		return 0;		/* from before the ledger */
	if (unlinkat(originals_fd, name, 0) < 0)
		return err_set(err, ERR_SYS, "original %s: unlink: %s", name, strerror(errno));
	out->originals++;
	out->bytes += (uint64_t)st.st_size;
	return 0;
}

int originals_remove_new(int originals_fd, int ledger_fd, const struct digest *original,
			 struct err *err)
{
	struct originals_swept swept = { 0 };
	struct list names = { .n = 0 };

	int rc = add_names(originals_fd, ledger_fd, &names, err);
	if (rc == 0)
		rc = remove_unless_named(originals_fd, original, &names, &swept, err);
	if (rc == 0 && swept.originals)
		rc = install_sync(originals_fd, err);
	free(names.entry);
	return rc;
}

static int is_original(const struct dirent *d)
{
	struct digest unused;

	return digest_from_hex(d->d_name, &unused) == 0;
}

int originals_unnamed(int originals_fd, int ledger_fd, unsigned *out, struct err *err)
{
	struct list names = { .n = 0 };
	struct dirent **list;
	struct digest d;
	unsigned unnamed = 0;
	int n = scandirat(originals_fd, ".", &list, is_original, NULL);

	if (n < 0)
		return err_set(err, ERR_SYS, "originals: %s", strerror(errno));
	int rc = n ? add_names(originals_fd, ledger_fd, &names, err) : 0;
	for (int i = 0; i < n; i++) {
		unnamed += digest_from_hex(list[i]->d_name, &d) == 0 &&
			   !is_named(&names, &d, names.n);
		free(list[i]);
	}
	free(list);
	free(names.entry);
	*out = unnamed;
	return rc;
}

/* --- entries that go, and their originals --- */

/* Those of the list that are gone. */
static int remove_entries(int ledger_fd, const struct list *l, struct err *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].gone && ledger_remove(ledger_fd, l->entry[i].name, err) < 0)
			return -1;
	return ledger_sync(ledger_fd, err);
}

static int remove_originals(int originals_fd, const struct list *l, const struct list *names,
			    struct originals_swept *out, struct err *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].gone &&
		    remove_unless_named(originals_fd, &l->entry[i].original, names, out,
					err) < 0)
			return -1;
	return out->originals ? install_sync(originals_fd, err) : 0;
}

/* Entries that are gone from the list go from the ledger, and then their originals, unless
 * something else names them. */
static int drop(int originals_fd, int ledger_fd, const struct list *l,
		struct originals_swept *out, struct err *err)
{
	struct list names = { .without = l };
	struct originals_swept swept = { 0 };
	int rc = 0;

	for (size_t i = 0; i < l->n; i++)
		swept.entries += l->entry[i].gone;
	if (swept.entries)
		rc = add_names(originals_fd, ledger_fd, &names, err);
	if (rc == 0 && swept.entries)
		rc = remove_entries(ledger_fd, l, err);
	if (rc == 0)
		rc = remove_originals(originals_fd, l, &names, &swept, err);
	free(names.entry);
	if (rc == 0)
		*out = swept;
	return rc;
}

int originals_sweep(int originals_fd, int ledger_fd, time_t now, struct originals_swept *out,
		    struct err *err)
{
	struct list l = { .coming = NULL };

	int rc = ledger_each(ledger_fd, add, &l, err);
	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		struct known *k = &l.entry[i];

		if (k->presence == AT_PATH)
			rc = ledger_touch(ledger_fd, k->name, err);
		else if (k->presence == NOT_AT_PATH && now > k->seen)
			k->gone = now - k->seen > (time_t)ORIGINALS_KEPT_DAYS * 86400;
	}
	if (rc == 0)
		rc = drop(originals_fd, ledger_fd, &l, out, err);
	free(l.entry);
	return rc;
}

/* --- room --- */

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

	int rc = ledger_each(ledger_fd, add, &l, err);
	while (rc == 0 && (room = room_in(&l, &part)) != ENOUGH) {
		struct known *k = oldest_elsewhere(&l, room);

		if (k)
			k->gone = true;
		else
			rc = err_set(err, ERR_REFUSED,
				     "originals of user %u take %llu MiB already; one user may "
				     "have %d MiB of them, in %d programs", (unsigned)c->owner,
				     (unsigned long long)(part.bytes >> 20),
				     ORIGINALS_OWNER_MIB, ORIGINALS_OWNER_ENTRIES);
	}
	if (rc == 0)
		rc = drop(originals_fd, ledger_fd, &l, &swept, err);
	free(l.entry);
	return rc;
}
