/* fusewaits CALL [thread] - waits in a call for a file system that answers EINTR
 *
 * The file system is a small one of its own (FUSE), in a mount namespace of its own.  It
 * answers after a second; where the kernel tells it that the call was interrupted, because the
 * thread has a signal or is being stopped, it answers EINTR at once, as many such servers do.
 * The kernel hands that on to the program.
 *
 * CALL is one of calls[] below.  Prints the name of the error, "ok" for none, and how long it
 * took in ms.  With `thread` another thread than the main one waits.  Without CALL: lists the
 * names, one a line; those that are not to be interrupted are marked by "later".  Exit code 77
 * where nothing can be mounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/timedcall.h"

enum { SECOND_MS = 1000, FILE_NODE = 2, PART = 4096, FILE_BYTES = 4 * PART, FEW = 6,
       REQUEST = 1 << 17 };

static char folder[] = "/tmp/morph-fuse.XXXXXX", path[64];
static int file = -1;

/* --- the file system: a folder with one file --- */

struct server {
	int fd;
	uint32_t slow;			/* the request that it is slow for */
	uint64_t from;			/* where that reads */
	uint64_t waits;			/* that request; 0: none */
	char whole[sizeof(struct fuse_in_header) + sizeof(struct fuse_read_in)];	/* it */
	uint64_t due_ms;		/* when it is answered: a second after the first one */
};

static void answer(const struct server *s, uint64_t unique, int error, const void *data,
		   size_t n)
{
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + (error ? 0 : n)),
				     .error = -error, .unique = unique };
	struct iovec v[] = { { &h, sizeof(h) }, { (void *)(uintptr_t)data, error ? 0 : n } };

	(void)writev(s->fd, v, 2);	/* or nobody wants it any more */
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .nlink = 1, .size = FILE_BYTES, .blksize = 4096,
				   .mode = node == FILE_NODE ? S_IFREG | 0666 :
							       S_IFDIR | 0755 };
}

static struct fuse_read_in read_in(const struct fuse_in_header *in)
{
	struct fuse_read_in r = { 0 };

	if (in->opcode == FUSE_READ)
		memcpy(&r, in + 1, sizeof(r));
	return r;
}

/* What comes when all goes well. */
static void answer_well(const struct server *s, const struct fuse_in_header *in,
			const char *name)
{
	static const char content[FILE_BYTES] = "answer";
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid) };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attr_of(FILE_NODE) };
	struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31,
				      .max_write = 4096, .max_background = 4,
				      .flags = FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS };
	struct fuse_write_out written = { .size = FEW };

	switch (in->opcode) {
	case FUSE_INIT: answer(s, in->unique, 0, &init, sizeof(init)); break;
	case FUSE_LOOKUP:
		answer(s, in->unique, strcmp(name, "file") ? ENOENT : 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR: answer(s, in->unique, 0, &attr, sizeof(attr)); break;
	case FUSE_OPEN: answer(s, in->unique, 0, &opened, sizeof(opened)); break;
	case FUSE_READ: answer(s, in->unique, 0, content, read_in(in).size); break;
	case FUSE_WRITE: answer(s, in->unique, 0, &written, sizeof(written)); break;
	case FUSE_SETLK: case FUSE_SETLKW: case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_FSYNC:
	case FUSE_UNLINK:
		answer(s, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET: case FUSE_BATCH_FORGET: break;
	default: answer(s, in->unique, ENOSYS, NULL, 0);
	}
}

static void take_request(struct server *s)
{
	static char request[REQUEST];
	ssize_t n = read(s->fd, request, sizeof(request) - 1);
	struct fuse_in_header *in = (struct fuse_in_header *)request;

	if (n < (ssize_t)sizeof(*in)) {
		if (n < 0 && errno == ENODEV)
			_exit(0);		/* nobody is left */
		return;
	}
	request[n] = '\0';
	if (in->opcode == FUSE_INTERRUPT) {
		struct fuse_interrupt_in which;

		memcpy(&which, in + 1, sizeof(which));
		if (which.unique == s->waits && s->waits) {
			answer(s, s->waits, EINTR, NULL, 0);
			s->waits = 0;
		}
	} else if (in->opcode == s->slow && read_in(in).offset == s->from &&
		   (!s->due_ms || now_ms() < s->due_ms)) {
		s->waits = in->unique;
		memcpy(s->whole, request, sizeof(s->whole));
		s->due_ms = s->due_ms ? s->due_ms : now_ms() + SECOND_MS;
	} else {
		answer_well(s, in, (char *)(in + 1));
	}
}

static void serve(struct server *s)
{
	for (;;) {
		struct pollfd p = { s->fd, POLLIN, 0 };
		uint64_t now = now_ms();
		int left = s->waits && s->due_ms > now ? (int)(s->due_ms - now) : -1;

		if (s->waits && s->due_ms <= now) {
			answer_well(s, (struct fuse_in_header *)s->whole, "file");
			s->waits = 0;
		} else if (poll(&p, 1, left) > 0) {
			take_request(s);
		}
	}
}

/* --- calls --- */

static long do_open(void) { return syscall(SYS_open, path, O_RDWR); }
static long do_openat(void) { return syscall(SYS_openat, AT_FDCWD, path, O_RDWR); }
/* All of it was read, or nothing. */
static long check(const char *got, long n, long want)
{
	if (n < 0 || (n == want && memcmp(got, "answer", FEW) == 0))
		return n;
	errno = EBADMSG;
	return -1;
}
static long do_read(void)
{
	char b[FEW];

	return check(b, read(file, b, sizeof(b)), sizeof(b));
}
static long do_read_parts(void)
{
	static char b[FILE_BYTES];

	return check(b, read(file, b, sizeof(b)), sizeof(b));
}
static long do_pread(void)
{
	char b[FEW];

	return check(b, pread(file, b, sizeof(b), 0), sizeof(b));
}
static long do_pread_parts(void)
{
	static char b[FILE_BYTES];

	return check(b, pread(file, b, sizeof(b), 0), sizeof(b));
}
static long do_readv(void)
{
	char b[FEW];
	struct iovec v = { b, sizeof(b) };

	return check(b, readv(file, &v, 1), sizeof(b));
}
static long do_write(void) { return write(file, "answer", FEW); }
static long do_fsync(void) { return fsync(file); }
static long do_stat(void)
{
	struct stat st;

	return stat(path, &st);
}
static long do_access(void) { return access(path, R_OK); }
static long do_unlink(void) { return unlink(path); }
static long do_close(void) { return close(file); }
static long do_flock(void) { return flock(file, LOCK_EX); }
static long do_setlkw(void)
{
	struct flock l = { .l_type = F_WRLCK };

	return fcntl(file, F_SETLKW, &l);
}

static const struct {
	const char *name;
	long (*run)(void);
	uint32_t slow;
	bool opened;		/* the file is, before */
	bool later;
	uint64_t from;
} calls[] = {
	{ "open", do_open, FUSE_OPEN, false, false, 0 },
	{ "openat", do_openat, FUSE_OPEN, false, false, 0 },
	{ "read", do_read, FUSE_READ, true, false, 0 },
	{ "pread64", do_pread, FUSE_READ, true, false, 0 },
	{ "readv", do_readv, FUSE_READ, true, true, 0 },
	{ "read-parts", do_read_parts, FUSE_READ, true, true, PART },
	{ "pread64-parts", do_pread_parts, FUSE_READ, true, true, PART },
	{ "flock", do_flock, FUSE_SETLKW, true, false, 0 },
	{ "setlkw", do_setlkw, FUSE_SETLKW, true, false, 0 },
	{ "write", do_write, FUSE_WRITE, true, true, 0 },
	{ "fsync", do_fsync, FUSE_FSYNC, true, false, 0 },
	{ "stat", do_stat, FUSE_LOOKUP, false, false, 0 },
	{ "access", do_access, FUSE_LOOKUP, false, false, 0 },
	{ "unlink", do_unlink, FUSE_UNLINK, false, true, 0 },
	{ "close", do_close, FUSE_FLUSH, true, true, 0 },
};
enum { NCALL = sizeof(calls) / sizeof(calls[0]) };

/* The server's process; -1: nothing can be mounted. */
static pid_t mount_it(uint32_t slow, uint64_t from)
{
	struct server s = { .fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), .slow = slow,
			    .from = from };
	char options[128];

	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,"
		       "max_read=%d", s.fd, PART);
	if (s.fd < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || !mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	if (mount("morph", folder, "fuse", 0, options) < 0) {
		(void)rmdir(folder);
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0)
		serve(&s);
	close(s.fd);
	return pid;
}

int main(int argc, char **argv)
{
	int k = 0;

	for (; argc < 2 && k < NCALL; k++)
		(void)printf("%s%s\n", calls[k].name, calls[k].later ? " later" : "");
	while (argc > 1 && k < NCALL && strcmp(calls[k].name, argv[1]) != 0)
		k++;
	if (k == NCALL)
		return argc < 2 ? 0 : 2;
	pid_t server = mount_it(calls[k].slow, calls[k].from);
	if (server < 0)
		return 77;
	if (calls[k].opened)
		file = open(path, O_RDWR);
	timedcall_run(&calls[k].run, argc > 2);
	(void)kill(server, SIGKILL);
	(void)umount2(folder, MNT_DETACH);
	(void)rmdir(folder);
	return 0;
}
