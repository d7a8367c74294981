/* io.c - reads and writes whole files, going on after interrupted and short calls
 *
 * Tested by tests/unit/lib/test_io.c.
 */
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"

/* Tens of megabytes at once were measured to take several times as long as in such pieces,
 * in a virtual machine. */
enum { PIECE = 1 << 18 };

void io_hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)	/* the lowest number is the one */
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int io_write_all(int fd, const void *p, size_t n, struct err *err)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(fd, at, n < PIECE ? n : PIECE);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_set(err, ERR_SYS, "write: %s",
				       strerror(k < 0 ? errno : ENOSPC));
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

int io_read_all(int fd, size_t max, struct arena *a, struct bytes *out, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		return err_set(err, ERR_INPUT, "larger than %zu bytes", max);
	size_t cap = S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 65536, n = 0;
	uint8_t *p = arena_alloc(a, cap);
	for (;;) {
		if (n > max)
			return err_set(err, ERR_INPUT, "larger than %zu bytes", max);
		if (n == cap) {
			p = arena_grow(a, p, cap, cap * 2, 1);
			cap *= 2;
		}
		ssize_t k = S_ISREG(st.st_mode) ? pread(fd, p + n, cap - n, (off_t)n)
						: read(fd, p + n, cap - n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_set(err, ERR_SYS, "read: %s", strerror(errno));
		if (k == 0)
			break;
		n += (size_t)k;
	}
	*out = (struct bytes){ p, n };
	return 0;
}

int io_memory_file(struct bytes text, struct err *err)
{
	int fd = memfd_create("morph", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	if (io_write_all(fd, text.p, text.n, err) == 0) {
		if (lseek(fd, 0, SEEK_SET) == 0)
			return fd;
		err_set(err, ERR_SYS, "lseek: %s", strerror(errno));
	}
	close(fd);
	return -1;
}

bool io_is_sealed(int fd)
{
	enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

int io_replace(const char *path, mode_t mode, struct bytes text, struct err *err)
{
	char new[PATH_MAX];

	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new))
		return err_set(err, ERR_USAGE, "'%s': too long", path);
	int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	int rc = fchmod(fd, mode) < 0 ? err_set(err, ERR_SYS, "fchmod: %s", strerror(errno)) :
					io_write_all(fd, text.p, (size_t)text.n, err);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_set(err, ERR_SYS, "fsync: %s", strerror(errno));
	close(fd);
	if (rc == 0 && rename(new, path) < 0)
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	if (rc < 0)
		(void)unlink(new);		/* half of it is nothing */
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* Only the content: the temporary one, or what is no regular file. */
static int fill(int fd, struct bytes text, struct err *err)
{
	int rc = io_write_all(fd, text.p, (size_t)text.n, err);

	if (close(fd) < 0 && rc == 0)
		rc = err_set(err, ERR_SYS, "close: %s", strerror(errno));
	return rc;
}

/* Where an open file is; false: that cannot be known, as without /proc. */
static bool place_of(int fd, char out[PATH_MAX])
{
	char name[40];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);	/* fits */
	ssize_t n = readlink(name, out, PATH_MAX - 1);
	if (n > 0)
		out[n] = '\0';
	return n > 0;
}

int io_output_of(const char *path, mode_t mode, struct io_output *out, struct err *err)
{
	int fd = open(path, O_PATH | O_CLOEXEC);	/* links as far as the kernel follows */
	mode_t mask = umask(0);
	struct stat st;

	(void)umask(mask);
	*out = (struct io_output){ .mode = mode & ~mask };
	size_t n = strlen(path);
	bool fits = snprintf(out->at, sizeof(out->at), "%s", path) < (int)sizeof(out->at);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		out->in_place = !S_ISREG(st.st_mode);
		if (st.st_uid == geteuid())
			out->mode = st.st_mode & 0777;
		fits = place_of(fd, out->at) || fits;
	}
	if (fd >= 0)
		close(fd);
	else if (n == 0 || path[n - 1] == '/')
		return err_set(err, ERR_USAGE, "'%s': no name of a file", path);
	return fits ? 0 : err_set(err, ERR_USAGE, "'%s': too long", path);
}

int io_output_check(const char *arg, struct err *err)
{
	struct io_output out;
	struct stat st;

	if (strcmp(arg, "-") == 0)
		return 0;
	if (io_output_of(arg, 0, &out, err) < 0)
		return -1;
	if (out.in_place && stat(arg, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, ERR_SYS, "'%s': %s", arg, strerror(EISDIR));
	char *slash = strrchr(out.at, '/');
	if (!out.in_place && slash)
		slash[slash == out.at] = '\0';
	if (access(out.in_place ? arg : slash ? out.at : ".", W_OK) < 0)
		return err_set(err, ERR_SYS, "'%s': %s", arg, strerror(errno));
	return 0;
}

int io_write_file(const char *path, mode_t mode, struct bytes text, struct err *err)
{
	struct io_output out;
	char new[PATH_MAX];

	if (io_output_of(path, mode, &out, err) < 0)
		return -1;
	if (out.in_place) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
		return fill(fd, text, err) < 0 ? err_wrap(err, "'%s'", path) : 0;
	}
	if (snprintf(new, sizeof(new), "%s.XXXXXX", out.at) >= (int)sizeof(new))
		return err_set(err, ERR_USAGE, "'%s': too long", path);
	int fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': create: %s", path, strerror(errno));
	int rc = fchmod(fd, out.mode) < 0 ? err_set(err, ERR_SYS, "fchmod: %s", strerror(errno))
					  : 0;
	if (rc < 0)
		close(fd);
	else
		rc = fill(fd, text, err);
	if (rc == 0 && rename(new, out.at) < 0)
		rc = err_set(err, ERR_SYS, "rename: %s", strerror(errno));
	if (rc < 0)
		(void)unlink(new);		/* half of it is nothing */
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

int io_write_output(const char *arg, struct bytes text, struct err *err)
{
	if (strcmp(arg, "-") != 0)
		return io_write_file(arg, 0666, text, err);
	if (io_write_all(STDOUT_FILENO, text.p, text.n, err) < 0)
		return err_wrap(err, "standard output");
	return 0;
}

/* The N of "fd:N"; -1 if arg is not of that form; -2 if it is, but N is no open descriptor. */
static int fd_argument(const char *arg)
{
	char *end;

	if (strncmp(arg, "fd:", 3) != 0)
		return -1;
	errno = 0;
	long fd = strtol(arg + 3, &end, 10);
	if (errno || end == arg + 3 || *end || fd < 0 || fd > INT_MAX)
		return -2;
	return fcntl((int)fd, F_GETFD) < 0 ? -2 : (int)fd;
}

static int open_arg(const char *arg, int flags, struct err *err)
{
	int fd = fd_argument(arg);

	if (fd >= 0)
		return fd;
	if (fd == -2)
		return err_set(err, ERR_USAGE, "'%s' is not an open descriptor", arg);
	fd = open(arg, flags | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", arg, strerror(errno));
	return fd;
}

int io_open_read(const char *arg, struct err *err)
{
	return open_arg(arg, O_RDONLY, err);
}

int io_open_write(const char *arg, struct err *err)
{
	return open_arg(arg, O_WRONLY | O_CREAT | O_TRUNC, err);
}
