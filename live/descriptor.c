/* descriptor.c - what a call works on: what is behind a descriptor of its process?
 *
 * The link in /proc/PID/fd is the kernel's own text, as are the numbers of mounts and their
 * types: stat(2) of the file, or a copy of the descriptor, which tells the server when it is
 * closed, would wait for the server.  Sockets and terminals have none: of these it is a copy
 * that is asked.  Which devices are terminals is told by /proc/tty/drivers.
 *
 * Tested by tests/unit/live/test_descriptor.c and tests/e2e/livefuse.sh.
 */
#include "live/descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

/* Where a wait ends when the thread is stopped, with what there is so far.  Names of kinds of
 * fuse have a point behind it. */
static const char *const served[] = { "fuse", "fuseblk", "virtiofs", "9p", "cifs", "smb3",
				      "ceph", "nfs", "nfs4", "afs", "orangefs", "coda" };

static bool is_served(const char *type)
{
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		size_t n = strlen(served[i]);

		if (strncmp(type, served[i], n) == 0 && (type[n] == '.' || type[n] == ' '))
			return true;
	}
	return false;
}

/* -1: it is not known. */
static int mount_of(pid_t pid, uint64_t fd)
{
	char path[64], line[256];
	int id = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%" PRIu64, (int)pid, fd);
	FILE *f = fopen(path, "re");
	while (f && id < 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "mnt_id: %d", &id);
	if (f)
		(void)fclose(f);
	return id;
}

/* The type stands behind " - ", which is nowhere else: spaces in names are written
 * otherwise. */
static bool is_served_mount(pid_t pid, int id)
{
	char path[64], line[8192];
	bool found = false, is = false;
	int other;

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		found = sscanf(line, "%d ", &other) == 1 && other == id;
		is = found && (!type || is_served(type + 3));
	}
	if (f)
		(void)fclose(f);
	return is || !found;
}

/* A line there: names, major number, minor numbers ("5 0", "136 0-1048575"), kind. */
static bool is_terminal(unsigned major_no, unsigned minor_no)
{
	enum { SYSTEM = 5, PTMX = 2 };	/* what opens the other side */
	unsigned found, first, last;
	char line[256], kind[64];
	bool is = false;

	FILE *f = fopen("/proc/tty/drivers", "re");
	while (f && !is && fgets(line, sizeof(line), f)) {
		int n = sscanf(line, "%*s %*s %u %u-%u %63s", &found, &first, &last, kind);

		if (n == 2) {
			last = first;
			n = sscanf(line, "%*s %*s %*u %*u %63s", kind) == 1 ? 4 : 0;
		}
		is = n == 4 && found == major_no && first <= minor_no && minor_no <= last &&
		     strcmp(kind, "pty:master") != 0;
	}
	if (f)
		(void)fclose(f);
	return is && (major_no != SYSTEM || minor_no != PTMX);
}

/* /dev/zero, /dev/full, /dev/random, /dev/urandom */
static bool is_endless(unsigned major_no, unsigned minor_no)
{
	enum { MEMORY = 1, ZERO = 5, FULL = 7, RANDOM = 8, URANDOM = 9 };

	return major_no == MEMORY && (minor_no == ZERO || minor_no == FULL ||
				      minor_no == RANDOM || minor_no == URANDOM);
}

/* Of a file that nobody serves. */
static enum descriptor by_inode(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return DESCRIPTOR_OTHER;
	if (S_ISFIFO(st.st_mode))
		return DESCRIPTOR_PIPE;
	if (S_ISCHR(st.st_mode) && is_endless(major(st.st_rdev), minor(st.st_rdev)))
		return DESCRIPTOR_ENDLESS;
	if (S_ISCHR(st.st_mode) && is_terminal(major(st.st_rdev), minor(st.st_rdev)))
		return DESCRIPTOR_TERMINAL;
	return DESCRIPTOR_OTHER;
}

enum descriptor live_descriptor(pid_t pid, uint64_t fd)
{
	char path[64], to[16] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%" PRIu64, (int)pid, fd);
	if (readlink(path, to, sizeof(to) - 1) < 0)
		return DESCRIPTOR_OTHER;
	if (strncmp(to, "socket:", 7) == 0)
		return DESCRIPTOR_SOCKET;
	if (strncmp(to, "pipe:", 5) == 0)
		return DESCRIPTOR_PIPE;
	if (to[0] != '/')
		return DESCRIPTOR_OTHER;
	return is_served_mount(pid, mount_of(pid, fd)) ? DESCRIPTOR_SERVED : by_inode(path);
}

/* --- asked of a copy --- */

static bool socket_option(int pidfd, uint64_t fd, int option, void *to, socklen_t size)
{
	int copy = (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
	bool told = copy >= 0 && getsockopt(copy, SOL_SOCKET, option, to, &size) == 0;

	if (copy >= 0)
		close(copy);
	return told;
}

bool live_socket_limit(int pidfd, uint64_t fd, int option)
{
	struct timeval limit = { 0 };

	return socket_option(pidfd, fd, option, &limit, sizeof(limit)) &&
	       (limit.tv_sec || limit.tv_usec);
}

bool live_socket_stream(int pidfd, uint64_t fd)
{
	int type = 0;

	return socket_option(pidfd, fd, SO_TYPE, &type, sizeof(type)) && type == SOCK_STREAM;
}

int live_socket_least(int pidfd, uint64_t fd)
{
	int least = 1;

	return socket_option(pidfd, fd, SO_RCVLOWAT, &least, sizeof(least)) ? least : 1;
}

bool live_terminal(int pidfd, uint64_t fd, struct live_terminal *out)
{
	struct termios t = { 0 };
	int copy = (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
	bool told = copy >= 0 && ioctl(copy, TCGETS, &t) == 0;

	if (copy >= 0)
		close(copy);
	if (told)
		*out = (struct live_terminal){ (t.c_lflag & ICANON) != 0, t.c_cc[VMIN],
					       t.c_cc[VTIME] };
	return told;
}
