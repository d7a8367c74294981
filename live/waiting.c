/* waiting.c - the call that a thread waits in, and what being stopped would do to it
 *
 * Reads of sockets and terminals end by settings of these.  Some calls write the time that is
 * left to where their limit is, and fail where that cannot be written.
 *
 * Tested by tests/e2e/live.sh and tests/e2e/livefuse.sh.
 */
#include "live/waiting.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/descriptor.h"
#include "live/maps.h"

static enum restart read_socket(int pidfd, const struct waiting *w)
{
	if (w->nr != SYS_accept && w->nr != SYS_accept4 &&
	    live_socket_least(pidfd, w->arg[0]) > 1)
		return RESTART_PARTIAL;
	return live_socket_limit(pidfd, w->arg[0], SO_RCVTIMEO) ? RESTART_UNSEEN :
								  RESTART_EXACT;
}

/* Without lines it ends when there are so many bytes, of which some may have been taken; or
 * with a limit, when there is one. */
static enum restart read_terminal(int pidfd, const struct waiting *w)
{
	struct live_terminal t;

	if (!live_terminal(pidfd, w->arg[0], &t))
		return RESTART_PARTIAL;
	if (t.lines || t.least == 1)
		return RESTART_EXACT;
	return t.least > 1 ? RESTART_PARTIAL : t.limit ? RESTART_LIMITED : RESTART_EXACT;
}

/* What is near to a thread's stack pointer is of its stack. */
static bool is_writable(pid_t pid, uint64_t at, uint64_t sp)
{
	enum { PAGE = 4096, NEAR = 1024 };
	struct live_maps maps = { 0 };
	struct err ignored;

	if (at / PAGE == sp / PAGE || at - sp < NEAR)
		return true;
	const struct live_map *m = live_maps_read(pid, &maps, &ignored) < 0 ? NULL :
				   live_maps_at(&maps, at);
	bool is = m && m->write;
	live_maps_free(&maps);
	return is;
}

static enum restart of_descriptor(pid_t pid, int pidfd, const struct waiting *w,
				  enum restart kind)
{
	if (kind == RESTART_CONNECT)
		return live_socket_limit(pidfd, w->arg[0], SO_SNDTIMEO) ? RESTART_UNSEEN :
									  RESTART_EXACT;
	switch (live_descriptor(pid, w->arg[0])) {
	case DESCRIPTOR_SOCKET:
		return read_socket(pidfd, w);
	case DESCRIPTOR_TERMINAL:
		return read_terminal(pidfd, w);
	case DESCRIPTOR_SERVED:
		return restart_in_parts(w->nr, w->arg) ? RESTART_PARTIAL : RESTART_EXACT;
	case DESCRIPTOR_PIPE:
	case DESCRIPTOR_ENDLESS:
	case DESCRIPTOR_OTHER:
		break;
	}
	return RESTART_EXACT;
}

bool waiting_own_descriptors(pid_t pid, pid_t tid)
{
	return tid != pid && syscall(SYS_kcmp, pid, tid, KCMP_FILES, 0, 0) > 0;
}

/* What a filter of system calls (seccomp) has another process do, which does it again when the
 * call is made again. */
static bool is_done_by_another(const struct waiting *w, pid_t pid)
{
	char path[64], where[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", (int)pid, (int)w->tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, where, sizeof(where) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strstr(where, "seccomp");
}

enum restart waiting_kind(pid_t pid, int pidfd, const struct waiting *w)
{
	enum restart kind = restart_kind(w->nr, w->arg);
	uint64_t left = restart_writes_left(w->nr, w->arg);

	if (w->filtered && is_done_by_another(w, pid))
		return RESTART_UNKNOWN;
	if (w->filtered && restart_is_by_another(w->nr, w->arg))
		return RESTART_LIMITED;
	if (left && !is_writable(pid, left, w->sp))
		return restart_limits(w->nr) ? RESTART_LIMITED : RESTART_UNKNOWN;
	if (kind == RESTART_CONNECT || kind == RESTART_RECEIVE || kind == RESTART_READ)
		return waiting_own_descriptors(pid, w->tid) ? RESTART_PARTIAL :
							  of_descriptor(pid, pidfd, w, kind);
	return kind;
}
