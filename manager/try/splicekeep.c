/* splicekeep.c - files of generations in STORE/live, as long as somebody needs them
 *
 * Named by their digests, so that the daemon and others find the same file under the same name.
 * Who has one open uses it, and nobody else removes it (manager/parent/livefiles.h).
 *
 * Tested by tests/e2e/livectl.sh and tests/e2e/trypid.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/livefiles.h"
#include "manager/try/splicing.h"

enum { TRIES = 3 };
static const size_t most_bytes = (size_t)1 << 30;

static void path_of(const struct splicing *s, const struct digest *digest,
		    char out[SPLICING_PATH])
{
	char hex[65];

	digest_hex(digest, hex);
	(void)snprintf(out, SPLICING_PATH, "%s/%s", s->folder, hex);	/* fits */
}

/* morph-live inherits it.  -1: it is not there, or is not what its name says. */
static int open_kept(const char *path, const struct digest *digest)
{
	struct digest kept;
	struct err err;
	int fd = open(path, O_RDONLY | O_NOFOLLOW);

	if (fd < 0 || (livefiles_use(fd) && digest_fd(fd, &kept, &err) == 0 &&
		       digest_equal(&kept, digest)))
		return fd;
	close(fd);
	return -1;
}

/* Under a name of ours first, so that there is never a part of it under its own. */
static int write_kept(const struct splicing *s, const char *path, struct bytes b,
		      struct err *err)
{
	char new[SPLICING_PATH];
	int rc = -1;

	/* fits */
	(void)snprintf(new, sizeof(new), "%s/new.%d", s->folder, (int)getpid());
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && !livefiles_use(fd))
		err_set(err, ERR_SYS, "'%s': it has just been removed", new);
	else if (fd < 0 || io_write_all(fd, b.p, b.n, err) < 0 || fsync(fd) < 0 ||
		 rename(new, path) < 0)		/* a process that has a former one keeps it */
		err_set(err, ERR_SYS, "'%s': %s", new, strerror(errno));
	else
		rc = 0;
	if (fd >= 0 && rc < 0)
		(void)unlink(new);
	if (fd >= 0)
		close(fd);
	return rc;
}

int splicing_keep(const struct splicing *s, int generation, struct spliced *out,
		  struct err *err)
{
	struct arena *a = arena_new();
	char path[SPLICING_PATH];
	struct digest digest;
	struct bytes b;

	out->file = -1;
	if (digest_fd(generation, &digest, err) < 0 || lseek(generation, 0, SEEK_SET) < 0 ||
	    io_read_all(generation, most_bytes, a, &b, err) < 0)
		goto out;
	path_of(s, &digest, path);
	out->file = open_kept(path, &digest);
	out->ours = out->file < 0;
	/* somebody may sweep in between */
	for (int i = 0; i < TRIES && out->file < 0; i++)
		if (write_kept(s, path, b, err) < 0)
			goto out;
		else if ((out->file = open_kept(path, &digest)) < 0)
			err_set(err, ERR_SYS, "'%s': it has just been removed", path);
out:
	arena_free(a);
	return out->file < 0 ? -1 : 0;
}

void splicing_forget(const struct splicing *s, const struct spliced *what)
{
	char path[SPLICING_PATH];
	struct stat mine, there;
	struct err ignored;

	if (what->file < 0 || !what->ours || !livefiles_unused(what->file) ||
	    splicing_path(s, what, path, &ignored) < 0)
		return;
	/* not another one's, which has taken its place */
	if (fstat(what->file, &mine) == 0 && lstat(path, &there) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
		(void)unlink(path);	/* else it takes room until somebody sweeps */
}

int splicing_path(const struct splicing *s, const struct spliced *what, char out[SPLICING_PATH],
		  struct err *err)
{
	struct digest digest;

	if (digest_fd(what->file, &digest, err) < 0)
		return -1;
	path_of(s, &digest, out);
	return 0;
}
