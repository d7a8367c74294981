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
enum { ERESTARTNOHAND = 514 };

enum { EXT_ARG = 8 };		/* IORING_ENTER_EXT_ARG: a time limit may be there */
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

enum restart restart_kind(long nr, const uint64_t arg[6])
{
	int i = find(nr);

	if (i < 0)
		return RESTART_UNKNOWN;
	if (nr == SYS_io_uring_enter)
		return arg[3] & EXT_ARG ? RESTART_LIMITED : RESTART_EXACT;
	if ((nr == SYS_recvfrom && arg[3] & WAITALL) || (nr == SYS_recvmsg && arg[2] & WAITALL))
		return RESTART_PARTIAL;
	if (calls[i].limit < 0)
		return calls[i].kind;
	uint64_t limit = arg[calls[i].limit];
	bool none = calls[i].in_ms ? (int32_t)limit < 0 : limit == 0;
	return none ? calls[i].kind : RESTART_LIMITED;
}

/* A page is not divided. */
bool restart_in_parts(long nr, const uint64_t arg[6])
{
	enum { PAGE = 4096 };

	return nr == SYS_readv || nr == SYS_preadv || nr == SYS_preadv2 ||
	       ((nr == SYS_read || nr == SYS_pread64) && arg[2] > PAGE);
}

/* A call that failed with EINTR has transferred nothing, so it can be made again. */
bool restart_fix(struct user_regs_struct *regs)
{
	long nr = (long)regs->orig_rax;
	int i = nr < 0 ? -1 : find(nr);

	if (i < 0 || calls[i].kind == RESTART_KERNEL || (long)regs->rax != -EINTR)
		return false;
	regs->rax = (unsigned long long)-ERESTARTNOHAND;
	return true;
}
