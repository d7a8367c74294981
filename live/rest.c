/* rest.c - the rest of a system call of which a part was done when its thread was stopped
 *
 * Arrays of buffers are not changed, as others may look at them, and there is no room for
 * another one: what is left of them is transferred buffer by buffer.
 *
 * A time limit (SO_SNDTIMEO, SO_RCVTIMEO and that of a call) begins anew with each part: who
 * waits in a call that has one is not stopped, so not much of it was over.
 *
 * Left as they are: messages that ask for more than bytes (MSG_OOB, MSG_ZEROCOPY, control
 * data), where parts are not the whole; and what copies to files of a limited size
 * (RLIMIT_FSIZE), where the rest would be a signal.
 *
 * Tested by tests/unit/live/test_rest.c and tests/e2e/live.sh.
 */
#include "live/rest.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "live/descriptor.h"

enum way {
	BUFFER,		/* and its size, behind each other */
	BUFFERS,	/* struct iovec and their number */
	MESSAGE,	/* struct msghdr */
	COUNT,		/* a number that becomes less */
	EVENTS, MESSAGES, SUBMITTED,
};

enum what { WRITES, READS, SENDS, RECEIVES, ANY, MOVES };

static const struct call {
	long nr;
	enum way way;
	enum what what;
	int at;			/* the argument */
	int flags;		/* or 0 */
	long one;		/* BUFFERS, MESSAGE: what transfers a single buffer */
} calls[] = {
	{ SYS_write, BUFFER, WRITES, 1, 0, 0 },
	{ SYS_writev, BUFFERS, WRITES, 1, 0, SYS_write },
	{ SYS_sendto, BUFFER, SENDS, 1, 3, 0 },
	{ SYS_sendmsg, MESSAGE, SENDS, 1, 2, SYS_sendto },
	{ SYS_read, BUFFER, READS, 1, 0, 0 },
	{ SYS_pread64, BUFFER, READS, 1, 0, 0 },
	{ SYS_readv, BUFFERS, READS, 1, 0, SYS_read },
	/* only of what has no places */
	{ SYS_pwritev2, BUFFERS, WRITES, 1, 5, SYS_write },
	{ SYS_preadv, BUFFERS, READS, 1, 0, SYS_read },
	{ SYS_preadv2, BUFFERS, READS, 1, 5, SYS_read },
	{ SYS_recvfrom, BUFFER, RECEIVES, 1, 3, 0 },
	{ SYS_recvmsg, MESSAGE, RECEIVES, 1, 2, SYS_recvfrom },
	{ SYS_getrandom, BUFFER, ANY, 0, 0, 0 },
	{ SYS_sendfile, COUNT, MOVES, 3, 0, 0 },
	{ SYS_copy_file_range, COUNT, MOVES, 4, 0, 0 },
	{ SYS_io_getevents, EVENTS, ANY, 0, 0, 0 },
	{ SYS_recvmmsg, MESSAGES, ANY, 0, 3, 0 },
	{ SYS_io_uring_enter, SUBMITTED, ANY, 0, 0, 0 },
};

static bool is_divided(const struct call *c)
{
	return c->way == BUFFERS || c->way == MESSAGE;
}

static const struct call *find(long nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static void get_args(const struct user_regs_struct *r, uint64_t a[6])
{
	a[0] = r->rdi, a[1] = r->rsi, a[2] = r->rdx, a[3] = r->r10, a[4] = r->r8, a[5] = r->r9;
}

static void set_args(struct user_regs_struct *r, const uint64_t a[6])
{
	r->rdi = a[0], r->rsi = a[1], r->rdx = a[2], r->r10 = a[3], r->r8 = a[4], r->r9 = a[5];
}

static bool fetch(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* --- is there one --- */

bool rest_may_be(const struct user_regs_struct *regs)
{
	enum { CODE_64 = 0x33, GETEVENTS = 1 };	/* IORING_ENTER_GETEVENTS */
	int64_t done = (int64_t)regs->rax;
	uint64_t a[6];
	const struct call *c = (int64_t)regs->orig_rax < 0 ? NULL : find((long)regs->orig_rax);

	if (!c || done < 0 || (done == 0 && c->way != SUBMITTED) || regs->cs != CODE_64)
		return false;
	get_args(regs, a);
	switch (c->way) {
	case BUFFER:
		return (uint64_t)done < a[c->at + 1];
	case COUNT:
		return (uint64_t)done < a[c->at];
	case EVENTS:
		return done < (int64_t)a[1];
	case MESSAGES:
		return (uint32_t)done < (uint32_t)a[2];
	case SUBMITTED:
		/* none were submitted: when there was only one to wait for, it has come */
		return a[2] > (done == 0) && a[3] & GETEVENTS;
	case BUFFERS:
	case MESSAGE:
		break;
	}
	return true;
}

static bool is_unlimited(pid_t pid)
{
	struct rlimit r;

	return prlimit(pid, RLIMIT_FSIZE, NULL, &r) == 0 && r.rlim_cur == RLIM_INFINITY;
}

static bool write_is_due(pid_t pid, uint64_t fd)
{
	switch (live_descriptor(pid, fd)) {
	case DESCRIPTOR_SOCKET:
	case DESCRIPTOR_PIPE:
	case DESCRIPTOR_TERMINAL:
		return true;
	case DESCRIPTOR_SERVED:
	case DESCRIPTOR_ENDLESS:
	case DESCRIPTOR_OTHER:
		break;
	}
	return false;
}

/* Where the descriptor is set to wait for more than a byte; not when it waits for a while
 * only. */
static uint64_t least_of(pid_t pid, int pidfd, uint64_t fd)
{
	struct live_terminal t;
	int least = 0;

	switch (live_descriptor(pid, fd)) {
	case DESCRIPTOR_ENDLESS:
		return REST_ALL;
	case DESCRIPTOR_SOCKET:
		if (live_socket_stream(pidfd, fd))
			least = live_socket_least(pidfd, fd);
		break;
	case DESCRIPTOR_TERMINAL:
		if (live_terminal(pidfd, fd, &t) && !t.lines && !t.limit)
			least = (int)t.least;
		break;
	case DESCRIPTOR_PIPE:
	case DESCRIPTOR_SERVED:
	case DESCRIPTOR_OTHER:
		break;
	}
	return least > 1 ? (uint64_t)least : 0;
}

static bool has_control(pid_t pid, uint64_t at)
{
	struct msghdr m;

	return !fetch(pid, at, &m, sizeof(m)) || m.msg_controllen;
}

static uint64_t goal_of_received(pid_t pid, int pidfd, const struct call *c,
				 const uint64_t a[6])
{
	uint64_t flags = a[c->flags];

	/* a message may be as short as it is */
	if (!live_socket_stream(pidfd, a[0]) || flags & (MSG_OOB | MSG_PEEK) ||
	    (c->way == MESSAGE && has_control(pid, a[1])))
		return 0;
	return flags & MSG_WAITALL ? REST_ALL : least_of(pid, pidfd, a[0]);
}

uint64_t rest_goal(pid_t pid, int pidfd, const struct user_regs_struct *regs)
{
	const struct call *c = find((long)regs->orig_rax);
	bool all = true;
	struct rest_part part;
	uint64_t a[6];

	get_args(regs, a);
	if (!rest_next(pid, regs, REST_ALL, &part))
		return 0;
	switch (c->what) {
	case WRITES:	/* not if it asks for what write() cannot (RWF_NOWAIT) */
		all = !(c->flags && a[c->flags]) && write_is_due(pid, a[0]);
		break;
	case READS:
		return c->flags && a[c->flags] ? 0 : least_of(pid, pidfd, a[0]);
	case SENDS:
		all = !(a[c->flags] & (MSG_OOB | MSG_ZEROCOPY));
		break;
	case RECEIVES:
		return goal_of_received(pid, pidfd, c, a);
	case MOVES:	/* a pipe takes what it has room for */
		all = is_unlimited(pid) &&
		      (c->nr != SYS_sendfile || live_descriptor(pid, a[0]) != DESCRIPTOR_PIPE);
		break;
	case ANY:
		break;
	}
	return all ? REST_ALL : 0;
}

/* --- its parts --- */

/* The buffer in which `done` bytes end. */
static bool find_buffer(pid_t pid, uint64_t at, uint64_t n, uint64_t done, struct iovec *out)
{
	enum { MOST = 1024 };		/* UIO_MAXIOV */
	static struct iovec v[MOST];

	if (n > MOST || !fetch(pid, at, v, n * sizeof(*v)))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (done < v[i].iov_len) {
			out->iov_base = (char *)v[i].iov_base + done;
			out->iov_len = v[i].iov_len - done;
			return true;
		}
		done -= v[i].iov_len;
	}
	return false;
}

static bool next_buffer(pid_t pid, const struct call *c, uint64_t done, uint64_t a[6])
{
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)a[1], .msg_iovlen = a[2] };
	struct iovec v;

	if ((c->way == MESSAGE && !fetch(pid, a[1], &m, sizeof(m))) ||
	    !find_buffer(pid, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen, done, &v))
		return false;
	if (c->way == MESSAGE)
		a[3] = a[2], a[4] = a[5] = 0;	/* flags; no address */
	a[1] = (uint64_t)(uintptr_t)v.iov_base;
	a[2] = v.iov_len;
	return true;
}

static void skip(const struct call *c, uint64_t done, uint64_t a[6])
{
	enum { EVENT = 32 };		/* struct io_event */

	switch (c->way) {
	case BUFFER:
		a[c->at] += done, a[c->at + 1] -= done;
		break;
	case COUNT:
		a[c->at] -= done;
		break;
	case EVENTS:
		a[1] -= done, a[2] -= done, a[3] += done * EVENT;
		break;
	case MESSAGES:
		a[1] += done * sizeof(struct mmsghdr), a[2] -= done;
		if (a[3] & MSG_WAITFORONE)
			a[3] |= MSG_DONTWAIT;
		break;
	case SUBMITTED:
		a[1] = 0;
		break;
	case BUFFERS:
	case MESSAGE:
		break;
	}
}

bool rest_next(pid_t pid, const struct user_regs_struct *regs, uint64_t goal,
	       struct rest_part *out)
{
	enum { CALL = 2, CALL_CODE = 0x050f };
	const struct call *c = find((long)regs->orig_rax);
	uint64_t done = regs->rax, a[6];
	uint16_t code;

	get_args(regs, a);
	if (!rest_may_be(regs) || done >= goal ||
	    !fetch(pid, regs->rip - CALL, &code, sizeof(code)) || code != CALL_CODE)
		return false;
	if (!is_divided(c))
		skip(c, done, a);
	else if (!next_buffer(pid, c, done, a))
		return false;
	if (c->what == READS || c->what == RECEIVES)
		a[2] = a[2] < goal - done ? a[2] : goal - done;
	if (c->what == SENDS)	/* nobody is told so by a signal when a part was sent */
		a[3] |= MSG_NOSIGNAL;
	out->regs = *regs;
	set_args(&out->regs, a);
	out->regs.rip -= CALL;
	out->regs.rax = (unsigned long long)(is_divided(c) ? c->one : c->nr);
	out->regs.orig_rax = (unsigned long long)-1;	/* nothing to make again */
	out->whole = c->way == SUBMITTED ? 0 : c->way == EVENTS ? a[1] :
		     c->way == BUFFER ? a[c->at + 1] : c->way == COUNT ? a[c->at] : a[2];
	return true;
}

bool rest_counts(long nr)
{
	return nr != SYS_io_uring_enter;
}

bool rest_interrupted(int64_t result)
{
	enum { FIRST = -516, LAST = -512 };	/* of the kernel's own results */

	return result == -EINTR || (result >= FIRST && result <= LAST);
}
