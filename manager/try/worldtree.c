/* worldtree.c - puts the root together anew, of overlays */
#include "manager/try/worldtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/mounts.h"

static int fail(const char *path, const char *what, struct err *err)
{
	return err_set(err, ERR_SYS, "'%s': %s: %s", path, what, strerror(errno));
}

static int join(char out[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	if (snprintf(out, PATH_MAX, "%s%s%s", strcmp(dir, "/") == 0 ? "" : dir,
		     *name == '/' ? "" : "/", name) < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return fail(dir, name, err);
}

/* Owner and mode; who may not write there must not come to own it. */
static void take_mode(const char *from, const struct stat *st, const char *to)
{
	mode_t mode = st->st_mode & 07777;

	if (chown(to, st->st_uid, st->st_gid) < 0 && access(from, W_OK) < 0)
		mode &= (mode_t)~0222;
	(void)chmod(to, mode);	/* it is ours */
}

static int make_folder(const char *from, const char *to, struct err *err)
{
	struct stat st;

	if (stat(from, &st) < 0)
		return fail(from, "stat", err);
	if (mkdir(to, 0700) < 0 && errno != EEXIST)
		return fail(to, "mkdir", err);
	take_mode(from, &st, to);
	return 0;
}

static int bind(const char *from, const char *to, struct err *err)
{
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0 ? fail(from, "mount", err) : 0;
}

static void note_lack(struct worldtree *t, const char *path)
{
	size_t n = strlen(t->lacks);

	if (n + strlen(path) + 2 <= t->size)
		(void)snprintf(t->lacks + n, t->size - n, "%s%s", n ? " " : "", path);
}

/* As it is, but nothing can be written. */
static int show(const char *from, const char *to, struct err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (bind(from, to, err) < 0)
		return -1;
	if (mount_setattr(AT_FDCWD, to, AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return fail(from, "mount_setattr", err);
	return 0;
}

/* Mounts an overlay of `from` at `to`: 1; 0: the kernel can have none there. */
static int overlay(struct worldtree *t, const char *from, const char *to, struct err *err)
{
	char upper[PATH_MAX], work[PATH_MAX], options[3 * PATH_MAX + 64];
	struct stat st;

	if (strpbrk(from, ",:\\") || stat(from, &st) < 0)
		return 0;
	t->nlayer++;
	(void)snprintf(upper, sizeof(upper), "%s/%u", t->layers, t->nlayer);	/* short */
	(void)snprintf(work, sizeof(work), "%s/%u.w", t->layers, t->nlayer);
	if (mkdir(upper, 0700) < 0 || mkdir(work, 0700) < 0)
		return fail(upper, "mkdir", err);
	take_mode(from, &st, upper);
	(void)snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s%s", from,
		       upper, work, t->user ? ",userxattr" : "");	/* fits */
	return mount("overlay", to, "overlay", 0, options) == 0;
}

static int cover(struct worldtree *t, const char *from, const char *to, struct err *err)
{
	int rc = overlay(t, from, to, err);

	if (rc == 0) {
		note_lack(t, from);
		return show(from, to, err);
	}
	return rc < 0 ? -1 : 0;
}

static int grow(struct worldtree *t, const char *dir, struct err *err);

static int folder(struct worldtree *t, const char *from, const char *to, struct err *err)
{
	static const char *const as_it_is[] = { "/proc", "/sys", "/dev", NULL };
	const char *type = mounts_type(t->mounts, from);

	if (make_folder(from, to, err) < 0)
		return -1;
	for (int i = 0; as_it_is[i]; i++)
		if (strcmp(from, as_it_is[i]) == 0)
			return bind(from, to, err);
	if (type && !mounts_is_ordinary(type))
		return bind(from, to, err);
	if (strcmp(from, "/run") == 0)
		return show(from, to, err);
	return mounts_below(t->mounts, from) ? grow(t, from, err) : cover(t, from, to, err);
}

static int entry(struct worldtree *t, const char *dir, const char *name, struct err *err)
{
	char from[PATH_MAX], to[PATH_MAX], link[PATH_MAX];
	struct stat st;

	if (join(from, dir, name, err) < 0 || join(to, t->root, from, err) < 0)
		return -1;
	if (lstat(from, &st) < 0)
		return errno == ENOENT ? 0 : fail(from, "lstat", err);
	if (S_ISDIR(st.st_mode))
		return folder(t, from, to, err);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(from, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		return n > 0 && symlink(link, to) == 0 ? 0 : fail(from, "symlink", err);
	}
	int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(to, "open", err);
	close(fd);
	return show(from, to, err);
}

/* The entries of a folder that is made anew. */
static int grow(struct worldtree *t, const char *dir, struct err *err)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int rc = 0;

	if (!d)		/* who may not read it may not, there as here */
		return errno == EACCES ? 0 : fail(dir, "opendir", err);
	while (rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = entry(t, dir, e->d_name, err);
	closedir(d);
	return rc;
}

int worldtree_cover(struct worldtree *t, const char *path, struct err *err)
{
	char to[PATH_MAX];

	if (mounts_below(t->mounts, path))
		return 0;	/* made anew in memory, so it can be written to */
	if (join(to, t->root, path, err) < 0)
		return -1;
	return overlay(t, path, to, err) < 0 ? -1 : 0;
}

int worldtree_build(struct worldtree *t, struct err *err)
{
	char shm[PATH_MAX];

	if (make_folder("/", t->root, err) < 0 || chmod(t->root, 0755) < 0 ||
	    grow(t, "/", err) < 0 || join(shm, t->root, "/dev/shm", err) < 0)
		return -1;
	if (access(shm, F_OK) == 0 &&
	    mount("shm", shm, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		return fail("/dev/shm", "mount", err);
	return make_folder("/", t->root, err);
}
