/* world.c - enters namespaces and puts files in the places of others */
#include "manager/try/world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/try/copyfile.h"
#include "manager/try/mounts.h"
#include "manager/try/worldtree.h"

enum { MOUNTINFO_MAX = 16 << 20 };

static int fail(const char *what, struct err *err)
{
	return err_set(err, ERR_SYS, "%s: %s", what, strerror(errno));
}

static int write_file(const char *path, const char *text, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(path, err);
	int rc = io_write_all(fd, text, strlen(text), err);
	close(fd);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* The user is who he was, and nobody else is there. */
static int become_alone(uid_t uid, gid_t gid, struct err *err)
{
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return fail("unshare", err);
	if (write_file("/proc/self/setgroups", "deny", err) < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);		/* fits */
	if (write_file("/proc/self/uid_map", map, err) < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", map, err);
}

static int read_mounts(struct mounts *out, struct err *err)
{
	struct arena *a = arena_new();
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC), rc = -1;
	struct bytes b;

	if (fd < 0) {
		fail("/proc/self/mountinfo", err);
	} else if (io_read_all(fd, MOUNTINFO_MAX, a, &b, err) == 0) {
		char *text = arena_alloc(a, b.n + 1);

		memcpy(text, b.p, b.n);
		mounts_parse(text, out);
		rc = 0;
	}
	if (fd >= 0)
		close(fd);
	arena_free(a);
	return rc;
}

static int make_memory(const char *at, struct err *err)
{
	return mount("morph-try", at, "tmpfs", 0, "mode=0755") < 0 ? fail(at, err) : 0;
}

/* Each its copy, which is new in memory and nobody else's. */
static int put_images(const struct world *w, const char *copies, const char *root,
		      struct err *err)
{
	char file[PATH_MAX + 16], at[2 * PATH_MAX];

	for (size_t i = 0; i < w->nimage; i++) {
		(void)snprintf(file, sizeof(file), "%s/%zu", copies, i);	/* short */
		if (snprintf(at, sizeof(at), "%s%s", root, w->image[i].path) >=
		    (int)sizeof(at))
			return err_set(err, ERR_SYS, "'%s': path too long", w->image[i].path);
		if (copyfile(w->image[i].file, file, err) < 0)
			return -1;
		if (mount(file, at, NULL, MS_BIND, NULL) < 0)
			return fail(w->image[i].path, err);
	}
	return 0;
}

static int change_root(const char *root, const char *cwd, struct err *err)
{
	if (chdir(root) < 0)
		return fail(root, err);
	if (syscall(SYS_pivot_root, ".", ".") == 0) {
		if (umount2(".", MNT_DETACH) < 0)
			return fail("umount", err);
	} else if (chroot(".") < 0) {	/* where the present root is no mount */
		return fail("chroot", err);
	}
	return chdir(cwd) < 0 ? fail(cwd, err) : 0;
}

/* A folder of others in which this user may write.  To be asked before he is alone: then its
 * owner may be shown as himself. */
static bool is_shared(const char *path)
{
	struct stat st;

	return strcmp(path, "/") != 0 && stat(path, &st) == 0 && st.st_uid != geteuid() &&
	       access(path, W_OK) == 0;
}

/* `base` is an empty file system in memory; `shared`: the working folder is. */
static int enter_whole(const struct world *w, const struct mounts *m, const char *base,
		       const char *cwd, bool shared, char *lacks, size_t size, struct err *err)
{
	char root[PATH_MAX + 16], layers[PATH_MAX + 16], folder[2 * PATH_MAX + 16];
	struct worldtree t = { .mounts = m, .root = root, .layers = layers, .user = w->user,
			       .lacks = lacks, .size = size };

	(void)snprintf(root, sizeof(root), "%s/root", base);		/* short */
	(void)snprintf(layers, sizeof(layers), "%s/layers", base);
	(void)snprintf(folder, sizeof(folder), "%s%s", root, w->folder);
	if (mkdir(root, 0755) < 0 || mkdir(layers, 0755) < 0)
		return fail(base, err);
	if (make_memory(root, err) < 0 || worldtree_build(&t, err) < 0)
		return -1;
	if (w->user && worldtree_cover(&t, "/var/tmp", err) < 0)
		return -1;
	if (shared && worldtree_cover(&t, cwd, err) < 0)
		return -1;
	if (mount(w->folder, folder, NULL, MS_BIND, NULL) < 0)
		return fail(w->folder, err);
	if (put_images(w, base, root, err) < 0)
		return -1;
	return change_root(root, cwd, err);
}

int world_enter(const struct world *w, char *lacks, size_t size, struct err *err)
{
	char *cwd = getcwd(NULL, 0), base[PATH_MAX];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct mounts m = { 0 };
	int rc = -1;

	*lacks = '\0';
	if (w->kind == WORLD_NONE) {
		free(cwd);
		return 0;
	}
	(void)snprintf(base, sizeof(base), "%s/world", w->folder);	/* short */
	bool shared = cwd && w->user && is_shared(cwd);
	if (!cwd || *cwd != '/') {
		fail("the working folder", err);
	} else if ((w->user ? become_alone(uid, gid, err) :
		    unshare(CLONE_NEWNS) < 0 ? fail("unshare", err) : 0) < 0) {
		;
	} else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		fail("/", err);
	} else if (read_mounts(&m, err) == 0 && make_memory(base, err) == 0) {
		rc = w->kind == WORLD_WHOLE
			     ? enter_whole(w, &m, base, cwd, shared, lacks, size, err)
			     : put_images(w, base, "", err);
		/* its working folder may lie in what was covered */
		if (rc == 0 && chdir(cwd) < 0)
			rc = fail(cwd, err);
	}
	mounts_free(&m);
	free(cwd);
	return rc < 0 ? err_wrap(err, "private files") : 0;
}
