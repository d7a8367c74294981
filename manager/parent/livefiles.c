/* livefiles.c - locks on processes and on files of DIR/live, and the end of those that nobody
 * needs; see livefiles.h
 *
 * SWEEP     First all files that nobody uses are locked, then it is seen what is mapped all the
 *           same, as by those who know nothing of locks.  Who wants to use one meanwhile waits,
 *           and finds it removed.
 *
 * Tested by tests/unit/manager/parent/test_livefiles.c and tests/e2e/trypid.sh.
 */
#include "manager/parent/livefiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"

enum { SWEPT = 256, NAME = 80 };		/* files at a time */
enum { TRIES = 100, AGAIN_NS = 20000000 };

/* --- the folder --- */

/* Only root's, and not to be written by others; in the store itself, where these can remove
 * nothing of root's (sticky), the daemon's user writes. */
static int make_folder(const char *path, bool store, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
	if ((store ? stat : lstat)(path, &st) < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    ((st.st_mode & 022) && !(store && (st.st_mode & S_ISVTX))))
		return err_set(err, ERR_REFUSED, "'%s' is not a folder of root's alone", path);
	return 0;
}

int livefiles_open(const char *store_dir, char *folder, size_t size, struct err *err)
{
	if (snprintf(folder, size, "%s/live", store_dir) >= (int)size)
		return err_set(err, ERR_USAGE, "'%s': path too long", store_dir);
	return make_folder(store_dir, true, err) < 0 ? -1 : make_folder(folder, false, err);
}

/* --- locks --- */

int livefiles_lock(const char *folder, pid_t pid, struct err *err)
{
	struct flock one = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = pid,
			     .l_len = 1 };
	char path[PATH_MAX + 8];

	(void)snprintf(path, sizeof(path), "%s/lock", folder);	/* fits */
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	if (fcntl(fd, F_OFD_SETLK, &one) == 0)
		return fd;
	if (errno == EAGAIN || errno == EACCES)
		err_set(err, ERR_REFUSED, "process %d: another morphctl, or the daemon, is at "
			"work with it", (int)pid);
	else
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	close(fd);
	return -1;
}

bool livefiles_use(int fd)
{
	const struct timespec wait = { 0, AGAIN_NS };
	struct stat st;
	int rc = -1;

	/* who sweeps has it for the time of a look at all processes */
	for (int i = 0; i < TRIES && (rc = flock(fd, LOCK_SH | LOCK_NB)) < 0; i++)
		(void)nanosleep(&wait, NULL);		/* or less */
	return rc == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

bool livefiles_unused(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* --- the end of files that nobody needs --- */

struct swept {
	char name[NAME];
	struct digest digest;
	bool whole;			/* it has its digest as its name */
	bool needed;
	int fd;
};

struct sweep {
	struct swept file[SWEPT];
	unsigned n;
};

static bool take_name(const char *name, struct swept *out)
{
	*out = (struct swept){ .fd = -1 };
	out->whole = digest_from_hex(name, &out->digest) == 0;
	return (out->whole || strncmp(name, "new.", 4) == 0) &&
	       snprintf(out->name, NAME, "%s", name) < NAME;
}

static void lock_files(DIR *d, struct sweep *s)
{
	for (struct dirent *e; s->n < SWEPT && (e = readdir(d));) {
		struct swept *f = &s->file[s->n];

		if (!take_name(e->d_name, f))
			continue;
		f->fd = openat(dirfd(d), f->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (f->fd >= 0 && livefiles_unused(f->fd))
			s->n++;
		else if (f->fd >= 0)
			close(f->fd);
	}
}

/* What begins with a digest, and may go on. */
static void need(struct sweep *s, const char *name)
{
	struct digest of;
	char hex[65];

	(void)snprintf(hex, sizeof(hex), "%s", name);
	if (digest_from_hex(hex, &of) < 0)
		return;
	for (unsigned i = 0; i < s->n; i++)
		s->file[i].needed |= s->file[i].whole &&
				     digest_equal(&s->file[i].digest, &of);
}

static void need_mapped_by(struct sweep *s, const char *pid)
{
	char path[64], *line = NULL;
	size_t room = 0;

	(void)snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0) {
		const char *slash = strrchr(line, '/');

		if (slash)
			need(s, slash + 1);
	}
	if (f)
		(void)fclose(f);		/* only read */
	free(line);
}

/* False: that cannot be found out. */
static bool need_mapped(struct sweep *s)
{
	DIR *d = opendir("/proc");

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			need_mapped_by(s, e->d_name);
	if (d)
		(void)closedir(d);		/* only read */
	return d != NULL;
}

/* An entry's name ends in the digest.  False: they cannot be read. */
static bool need_entries(struct sweep *s, const char *store_dir)
{
	char path[PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%s/livebook", store_dir);	/* fits */
	DIR *d = opendir(path);
	if (!d)
		return errno == ENOENT;
	for (struct dirent *e; (e = readdir(d));) {
		const char *last = strrchr(e->d_name, '-');

		if (last)
			need(s, last + 1);
	}
	(void)closedir(d);			/* only read */
	return true;
}

void livefiles_sweep(const char *store_dir)
{
	char path[PATH_MAX + 8];
	struct sweep *s = calloc(1, sizeof(*s));

	(void)snprintf(path, sizeof(path), "%.*s/live", PATH_MAX - 1, store_dir);
	DIR *d = s ? opendir(path) : NULL;
	if (d)
		lock_files(d, s);
	bool known = d && s->n && need_mapped(s) && need_entries(s, store_dir);
	for (unsigned i = 0; d && i < s->n; i++) {
		if (known && !s->file[i].needed)
			(void)unlinkat(dirfd(d), s->file[i].name, 0);
		close(s->file[i].fd);
	}
	if (d)
		(void)closedir(d);
	free(s);
}
