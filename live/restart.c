/* restart.c - what stopping a thread does to the system call that it waits in
 *
 * Calls that change something about files, other than the ones here (unlink, rename, close and
 * so on), are unknown: who knows what was done of them.
 *
 * Tested by tests/unit/live/test_restart.c, and on the kernel by tests/e2e/live.sh and
 * tests/e2e/livefuse.sh.
 */
#include "live/restart.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/user.h>

/* Of the kernel's own results, which no program sees (include/linux/errno.h there). */
enum { ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };

/* IORING_ENTER_GETEVENTS; IORING_ENTER_EXT_ARG: a time limit may be there */
enum { GETEVENTS = 1, EXT_ARG = 8 };
/* futex_waitv(), futex_wait(), which older headers do not have */
enum { FUTEX_WAITV = 449, FUTEX_WAIT_2 = 455 };
enum { WAITALL = 0x100 };	/* MSG_WAITALL */

static const struct {
	long nr;
	enum restart kind;
	int limit;		/* argument that is the limit, -1: none */
	bool in_ms;		/* as a number, negative for none; else a pointer */
} calls[] = {
	{ SYS_epoll_wait, RESTART_EXACT, 3, true },
	{ SYS_epoll_pwait, RESTART_EXACT, 3, true },
	{ SYS_epoll_pwait2, RESTART_EXACT, 3, false },
	{ SYS_semop, RESTART_EXACT, -1, false },
	{ SYS_semtimedop, RESTART_EXACT, 3, false },
	{ SYS_rt_sigtimedwait, RESTART_EXACT, 2, false },
	{ SYS_io_getevents, RESTART_EXACT, 4, false },
	{ SYS_io_pgetevents, RESTART_EXACT, 4, false },
	{ SYS_io_uring_enter, RESTART_EXACT, -1, false },
	{ SYS_recvmmsg, RESTART_PARTIAL, -1, false },
	{ SYS_read, RESTART_RECEIVE, -1, false },
	{ SYS_readv, RESTART_RECEIVE, -1, false },
	{ SYS_recvfrom, RESTART_RECEIVE, -1, false },
	{ SYS_recvmsg, RESTART_RECEIVE, -1, false },
	{ SYS_accept, RESTART_RECEIVE, -1, false },
	{ SYS_accept4, RESTART_RECEIVE, -1, false },
	{ SYS_write, RESTART_PARTIAL, -1, false },
	{ SYS_writev, RESTART_PARTIAL, -1, false },
	{ SYS_sendto, RESTART_PARTIAL, -1, false },
	{ SYS_sendmsg, RESTART_PARTIAL, -1, false },
	{ SYS_sendmmsg, RESTART_PARTIAL, -1, false },
	{ SYS_connect, RESTART_CONNECT, -1, false },
	/* servers of file systems (FUSE) may answer EINTR: they have done nothing then */
	{ SYS_pread64, RESTART_READ, -1, false },
	{ SYS_preadv, RESTART_READ, -1, false },
	{ SYS_preadv2, RESTART_READ, -1, false },
	{ SYS_open, RESTART_EXACT, -1, false },
	{ SYS_openat, RESTART_EXACT, -1, false },
	{ SYS_openat2, RESTART_EXACT, -1, false },
	{ SYS_stat, RESTART_EXACT, -1, false },
	{ SYS_lstat, RESTART_EXACT, -1, false },
	{ SYS_fstat, RESTART_EXACT, -1, false },
	{ SYS_newfstatat, RESTART_EXACT, -1, false },
	{ SYS_statx, RESTART_EXACT, -1, false },
	{ SYS_access, RESTART_EXACT, -1, false },
	{ SYS_faccessat, RESTART_EXACT, -1, false },
	{ SYS_faccessat2, RESTART_EXACT, -1, false },
	{ SYS_readlink, RESTART_EXACT, -1, false },
	{ SYS_readlinkat, RESTART_EXACT, -1, false },
	{ SYS_getdents64, RESTART_EXACT, -1, false },
	{ SYS_fsync, RESTART_EXACT, -1, false },
	{ SYS_fdatasync, RESTART_EXACT, -1, false },
	/* memory that is a file: all is taken back */
	{ SYS_fallocate, RESTART_EXACT, -1, false },
	{ SYS_ioctl, RESTART_EXACT, -1, false },
	{ SYS_poll, RESTART_KERNEL, -1, false },
	{ SYS_ppoll, RESTART_KERNEL, -1, false },
	{ SYS_select, RESTART_KERNEL, -1, false },
	{ SYS_pselect6, RESTART_KERNEL, -1, false },
	{ SYS_nanosleep, RESTART_KERNEL, -1, false },
	{ SYS_clock_nanosleep, RESTART_KERNEL, -1, false },
	{ SYS_restart_syscall, RESTART_KERNEL, -1, false },
	{ SYS_pause, RESTART_KERNEL, -1, false },
	{ SYS_rt_sigsuspend, RESTART_KERNEL, -1, false },
	{ SYS_futex, RESTART_KERNEL, -1, false },
	/* their limits are points in time */
	{ FUTEX_WAITV, RESTART_KERNEL, -1, false },
	{ FUTEX_WAIT_2, RESTART_KERNEL, -1, false },
	{ SYS_wait4, RESTART_KERNEL, -1, false },
	{ SYS_waitid, RESTART_KERNEL, -1, false },
	/* the kernel itself makes these again, whatever a server answers */
	{ SYS_flock, RESTART_KERNEL, -1, false },
	{ SYS_fcntl, RESTART_KERNEL, -1, false },
	{ SYS_msgrcv, RESTART_KERNEL, -1, false },
	{ SYS_msgsnd, RESTART_KERNEL, -1, false },
	{ SYS_mq_timedreceive, RESTART_KERNEL, -1, false },
	{ SYS_mq_timedsend, RESTART_KERNEL, -1, false },
	{ SYS_getrandom, RESTART_KERNEL, -1, false },
};
enum { NCALLS = sizeof(calls) / sizeof(calls[0]) };

static int find(long nr)
{
	for (int i = 0; i < NCALLS; i++)
		if (calls[i].nr == nr)
			return i;
	return -1;
}

/* By its second argument: fallocate() that moves what is behind it, futex() that fails with
 * EAGAIN when it waits for the second word already, and ioctl() other than what waits for the
 * output of a terminal or runs a virtual machine. */
static bool is_only_once(long nr, uint64_t arg)
{
	enum { COLLAPSE = 8, INSERT = 32 };	/* FALLOC_FL_COLLAPSE_RANGE, _INSERT_RANGE */
	enum { WAIT_REQUEUE_PI = 11, COMMAND = 127 };	/* FUTEX_WAIT_REQUEUE_PI, _CMD_MASK */
	enum { DRAIN = 0x5409, RUN = 0xae80 };	/* TCSBRK, KVM_RUN */

	return (nr == SYS_fallocate && arg & (COLLAPSE | INSERT)) ||
	       (nr == SYS_futex && (arg & COMMAND) == WAIT_REQUEUE_PI) ||
	       (nr == SYS_ioctl && (uint32_t)arg != DRAIN && (uint32_t)arg != RUN);
}

/* Those that the kernel makes again with the time that is left, which they write to their
 * arguments. */
static const struct {
	long nr;
	int limit;
	bool limits;		/* else it fails with EFAULT */
} write_left[] = {
	{ SYS_select, 4, true },
	{ SYS_pselect6, 4, true },
	{ SYS_ppoll, 2, true },
	{ SYS_nanosleep, 1, false },
	{ SYS_clock_nanosleep, 3, false },
};
enum { NWRITE_LEFT = sizeof(write_left) / sizeof(write_left[0]) };

uint64_t restart_writes_left(long nr, const uint64_t arg[6])
{
	for (int i = 0; i < NWRITE_LEFT; i++)
		if (write_left[i].nr == nr)
			return arg[write_left[i].limit];
	return 0;
}

bool restart_limits(long nr)
{
	for (int i = 0; i < NWRITE_LEFT; i++)
		if (write_left[i].nr == nr)
			return write_left[i].limits;
	return false;
}

/* What was done in part when the wait began, or may be before its end. */
static bool waits_in_parts(long nr, const uint64_t arg[6])
{
	switch (nr) {
	case SYS_io_uring_enter:	/* so many submitted, would be the result, or none */
		return arg[2] && (arg[1] || arg[2] > 1) && arg[3] & GETEVENTS;
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		return (int64_t)arg[1] > 1;
	case SYS_recvfrom:
		return arg[3] & WAITALL;
	case SYS_recvmsg:
		return arg[2] & WAITALL;
	default:
		return false;
	}
}

enum restart restart_kind(long nr, const uint64_t arg[6])
{
	int i = find(nr);

	if (i < 0 || is_only_once(nr, arg[1]))
		return RESTART_UNKNOWN;
	if (waits_in_parts(nr, arg))
		return RESTART_PARTIAL;
	if (nr == SYS_io_uring_enter)
		return arg[3] & EXT_ARG ? RESTART_UNSEEN : RESTART_EXACT;
	if (calls[i].limit < 0)
		return calls[i].kind;
	uint64_t limit = arg[calls[i].limit];
	bool none = calls[i].in_ms ? (int32_t)limit < 0 : limit == 0;
	return none ? calls[i].kind : RESTART_LIMITED;
}

/* What writes has one only by SO_SNDTIMEO, and tells of its part then. */
bool restart_has_limit(enum restart kind, long nr)
{
	switch (nr) {
	case SYS_write: case SYS_writev:
	case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return kind == RESTART_LIMITED;
	default:
		return kind == RESTART_LIMITED || kind == RESTART_UNSEEN ||
		       kind == RESTART_PARTIAL;
	}
}

/* A page is not divided. */
bool restart_in_parts(long nr, const uint64_t arg[6])
{
	enum { PAGE = 4096 };

	return nr == SYS_readv || nr == SYS_preadv || nr == SYS_preadv2 ||
	       ((nr == SYS_read || nr == SYS_pread64) && arg[2] > PAGE);
}

bool restart_is_by_another(long nr, const uint64_t arg[6])
{
	enum { ABSOLUTE = 1, COMMAND = 127 };	/* TIMER_ABSTIME, FUTEX_CMD_MASK */

	switch (nr) {
	case SYS_nanosleep:
		return true;
	case SYS_clock_nanosleep:
		return !(arg[1] & ABSOLUTE);
	case SYS_poll:
		return (int32_t)arg[2] >= 0;
	case SYS_futex:		/* FUTEX_WAIT; the others have points in time */
		return (arg[1] & COMMAND) == 0 && arg[3];
	default:
		return false;
	}
}

/* What the kernel would go on with by restart_syscall(), though it has no limit, or the thread
 * may not be able to make that: by its own number it is made again also when the kernel has
 * forgotten it (remote.h). */
static bool goes_on_as_itself(const struct user_regs_struct *regs, bool filtered)
{
	return (long)regs->rax == -ERESTART_RESTARTBLOCK &&
	       (filtered || ((long)regs->orig_rax == SYS_poll && (int32_t)regs->rdx < 0));
}

/* A call that failed with EINTR has transferred nothing, so it can be made again.  Where the
 * kernel makes it again itself it fails so only if it could not write the time that is left. */
bool restart_fix(struct user_regs_struct *regs, bool filtered)
{
	long nr = (long)regs->orig_rax;
	int i = nr < 0 ? -1 : find(nr);

	if (goes_on_as_itself(regs, filtered)) {
		regs->rax = (unsigned long long)-ERESTARTNOHAND;
		return true;
	}
	if (i < 0 || (long)regs->rax != -EINTR || is_only_once(nr, regs->rsi) ||
	    (calls[i].kind == RESTART_KERNEL && !restart_limits(nr)))
		return false;
	regs->rax = (unsigned long long)-ERESTARTNOHAND;
	return true;
}
