/* install_set.c - inside install: all names of a file, held by descriptors; see install_set.h
 *
 * WHO COULD DECEIVE  Names are given by the manager, or read in folders that users may own.  A
 * name counts only if its folder is open and the file there is, by device and inode, the one
 * that is open at the first name; what it is later is looked at again before the exchange
 * (install_exchange.c), and what came out of it after.  All folders belong to one user, who is
 * root or the file's owner: so nobody gets anything linked into a folder that he could not
 * have put there himself.
 *
 * Tested by tests/unit/manager/parent/test_hardlinks.c, tests/e2e/hardlinks.sh.
 */
#include "manager/parent/install_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install.h"

/* In one folder; of a larger one, the names in its front part are found. */
enum { MOST_ENTRIES = 100000 };

/* --- finding them --- */

static bool look_at_dir(struct install_set *s, unsigned i)
{
	struct statx st;

	if (statx(s->f[i].dir, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0)
		return false;
	s->dir[i].dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	s->dir[i].inode = st.stx_ino;
	s->dir[i].owner = st.stx_uid;
	s->dir[i].mount = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
	return true;
}

static bool same_dir(const struct install_set *s, unsigned i, unsigned k)
{
	return s->dir[i].dev == s->dir[k].dev && s->dir[i].inode == s->dir[k].inode;
}

/* The first name that is in the folder of the i-th. */
static unsigned first_in_dir(const struct install_set *s, unsigned i)
{
	unsigned first = 0;

	while (!same_dir(s, first, i))
		first++;
	return first;
}

/* The same name of the same folder, whatever path leads there. */
static bool is_known(const struct install_set *s, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (same_dir(s, k, i) && strcmp(s->f[k].name, s->f[i].name) == 0)
			return true;
	return false;
}

/* What is at the path is the file: 1; 0; -1: that cannot be known, which is not the same as
 * no, because of a file whose names are put back none may be left.  f is to be closed. */
static int is_there(const struct install_set *s, const char *path, struct install_file *f,
		    struct err *err)
{
	struct err why;
	struct stat st;

	if (install_file_open_dir(path, f, &why) < 0)
		return why.kind == ERR_SYS ? err_set(err, ERR_SYS, "%s", why.text) : 0;
	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 :
		       err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	return st.st_dev == s->f[0].st.st_dev && st.st_ino == s->f[0].st.st_ino;
}

/* The name is added, if it is one of the file's. */
static int try_name(struct install_set *s, const char *path, struct err *err)
{
	struct install_file f;
	unsigned i = s->n;

	if (strchr(path, '\n'))
		return 0;
	int rc = is_there(s, path, &f, err);
	if (rc <= 0)
		goto no;
	rc = 0;
	if (i == NAMES_MOST) {
		s->more = true;
		goto no;
	}
	s->f[i] = f;
	if (!look_at_dir(s, i)) {
		rc = err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
		goto no;
	}
	if (is_known(s, i) || names_have(&s->also, path))
		goto no;
	/* each entry of the ledger has all but one of them */
	if (s->also.bytes + strlen(s->path) + strlen(path) + 2 > NAMES_BYTES ||
	    names_add(&s->also, path) < 0) {
		s->more = true;
		goto no;
	}
	s->f[i].name = strrchr(names_at(&s->also, s->also.n - 1), '/') + 1;
	s->f[i].st = s->f[0].st;
	s->n++;
	return 0;
no:
	install_file_close(&f);
	return rc;
}

bool install_set_is_temporary(const char *name)
{
	return strncmp(name, ".morph-", 7) == 0 || strstr(name, ".dpkg-");
}

/* In the folder of the i-th. */
static int find_in_dir(struct install_set *s, unsigned i, struct err *err)
{
	const char *path = install_set_path(s, i);
	int fd = openat(s->f[i].dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char name[PATH_MAX];
	struct dirent *e;

	if (!d) {
		rc = err_set(err, ERR_SYS, "the folder of '%s': %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (int k = 0; rc == 0 && k < MOST_ENTRIES; k++) {
		errno = 0;
		e = readdir(d);
		if (!e && errno)
			rc = err_set(err, ERR_SYS, "the folder of '%s': %s", path,
				     strerror(errno));
		if (!e)
			break;
		if (e->d_ino == s->f[0].st.st_ino && !install_set_is_temporary(e->d_name) &&
		    snprintf(name, sizeof(name), "%.*s%s", (int)(strrchr(path, '/') + 1 - path),
			     path, e->d_name) < (int)sizeof(name))
			rc = try_name(s, name, err);
	}
	(void)closedir(d);		/* only read */
	return rc;
}

/* All further names; the first is open. */
static int find_others(struct install_set *s, const struct names *given, struct err *err)
{
	for (unsigned i = 0; given && i < given->n; i++)
		if (try_name(s, names_at(given, i), err) < 0)
			return -1;
	for (unsigned i = 0; i < s->n && s->n < s->f[0].st.st_nlink; i++)
		if (first_in_dir(s, i) == i && find_in_dir(s, i, err) < 0)
			return -1;
	return 0;
}

int install_set_open(const char *path, const struct names *given, struct install_set *out,
		     struct err *err)
{
	*out = (struct install_set){ .n = 1, .path = path };
	if (install_file_open(path, &out->f[0], err) < 0)
		return -1;
	if (!look_at_dir(out, 0)) {
		err_set(err, ERR_SYS, "'%s': its directory: %s", path, strerror(errno));
		install_set_close(out);
		return -1;
	}
	if (out->f[0].fd < 0 || out->f[0].st.st_nlink < 2)
		return 0;
	if (find_others(out, given, err) == 0)
		return 0;
	install_set_close(out);
	return -1;
}

void install_set_close(struct install_set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		install_file_close(&s->f[i]);
	s->n = 0;
}

const char *install_set_path(const struct install_set *s, unsigned i)
{
	return i ? names_at(&s->also, i - 1) : s->path;
}

void install_set_tell(const struct install_set *s, struct install_done *done)
{
	if (done)
		*done = (struct install_done){ s->also,
					       (unsigned long)s->f[0].st.st_nlink - s->n };
}

/* --- what speaks against it --- */

/* What would make a file of another owner or mount of a name, besides what install_file.c
 * says of every folder. */
static int check_name(const struct install_set *s, unsigned i, struct err *err)
{
	if (s->dir[i].owner != s->dir[0].owner)
		return err_set(err, ERR_REFUSED, "the folder of that name belongs to another "
			       "user than that of the first");
	if (s->dir[i].mount != s->dir[0].mount)
		return err_set(err, ERR_REFUSED, "that name is in another mount");
	return install_file_check_dirs(&s->f[i], err);
}

static int refuse_missing(const struct install_set *s, struct err *err)
{
	unsigned long links = (unsigned long)s->f[0].st.st_nlink;

	if (s->more)
		return err_set(err, ERR_REFUSED, "it has %lu hard links, more than can be "
			       "swapped together (%d, with paths of %d bytes in all)", links,
			       NAMES_MOST, NAMES_BYTES);
	return err_set(err, ERR_REFUSED, "it has %lu hard links, of which %u %s found; others "
		       "of them would stay as they are, which modules.hard_links of the policy "
		       "allows", links, s->n, s->n == 1 ? "was" : "were");
}

static void leave_out(struct install_set *s, unsigned i)
{
	struct names left = { 0 };

	install_file_close(&s->f[i]);
	for (unsigned k = 1; k < s->n; k++)
		if (k != i)
			(void)names_add(&left, install_set_path(s, k));	/* it has fitted */
	s->n--;
	memmove(s->f + i, s->f + i + 1, sizeof(s->f[0]) * (s->n - i));
	memmove(s->dir + i, s->dir + i + 1, sizeof(s->dir[0]) * (s->n - i));
	s->also = left;
	for (unsigned k = 1; k < s->n; k++)
		s->f[k].name = strrchr(install_set_path(s, k), '/') + 1;
}

int install_set_check(struct install_set *s, enum install_why why, struct err *err)
{
	bool all = why == INSTALL_ALL;
	struct err trouble;

	if (install_file_check(&s->f[0], why == INSTALL_BACK, err) < 0)
		return -1;
	for (unsigned i = s->n; i-- > 1; ) {
		if (check_name(s, i, &trouble) == 0)
			continue;
		if (all || trouble.kind != ERR_REFUSED)
			return err_set(err, trouble.kind, "its name '%.480s': %.480s",
				       install_set_path(s, i), trouble.text);
		leave_out(s, i);
	}
	return all && s->f[0].st.st_nlink != s->n ? refuse_missing(s, err) : 0;
}

/* --- a new file beside them --- */

int install_set_link(const struct install_set *s, const struct install_temporaries *t,
		     struct err *err)
{
	struct stat st;

	for (unsigned i = 1; i < s->n; i++) {
		if (linkat(s->f[0].dir, t->at[0], s->f[i].dir, t->at[i], 0) < 0 ||
		    fstatat(s->f[i].dir, t->at[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			return err_set(err, ERR_SYS, "'%s': linking it: %s",
				       install_set_path(s, i), strerror(errno));
		if (st.st_dev != t->made.st_dev || st.st_ino != t->made.st_ino)
			return err_set(err, ERR_REFUSED, "the new file was replaced");
		install_step("temporary linked");
	}
	return 0;
}

int install_set_sync(const struct install_set *s, struct err *err)
{
	for (unsigned i = 0; i < s->n; i++)
		if (first_in_dir(s, i) == i && install_sync(s->f[i].dir, err) < 0)
			return -1;
	return 0;
}
