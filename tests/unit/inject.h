/* inject.h - runs something in a child and lets its n-th system call fail, or kills it there
 * (ptrace)
 *
 * System calls that only manage memory, signals and identity are let through and do not count:
 * no disk or other process makes them fail.  Descriptors are counted as well: what it opens and
 * does not close, however it ends, is a leak of the process that does it all day.
 *
 * Child and tracer take turns at each call, so both run on one CPU: to wake the other one on
 * another takes much longer.
 */
#ifndef TESTS_UNIT_INJECT_H
#define TESTS_UNIT_INJECT_H

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum fault { FAULT_ENOSPC, FAULT_EIO, FAULT_EINTR, FAULT_SHORT, FAULT_KILL_BEFORE,
       FAULT_KILL_AFTER };
enum { NFAULT = FAULT_KILL_AFTER + 1 };

struct injected {
	bool reached;		/* the fault applied to a call */
	unsigned n;		/* to this one; else so many calls there are */
	int exit_code;		/* -1: killed */
	long call;
	int leaked;		/* descriptors more at its end than before; 0: killed */
};

static inline int inject_fds(pid_t pid)
{
	char path[32];
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	assert(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static inline bool inject_counts(long nr)
{
	static const long other[] = {
		SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_futex,
		SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_getpid, SYS_gettid, SYS_getuid,
		SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getppid, SYS_clock_gettime, SYS_exit,
		SYS_exit_group, SYS_clock_nanosleep, SYS_getrandom, SYS_prctl, SYS_sched_yield,
	};

	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (nr == other[i])
			return false;
	return true;
}

/* Stops at the next entry or return of a system call; false: the child has ended. */
static inline bool inject_step(pid_t pid, struct user_regs_struct *regs, int *status)
{
	/* a signal, such as that of a child's end, is no system call */
	do {
		assert(ptrace(PTRACE_SYSCALL, pid, 0, 0) == 0);
		assert(waitpid(pid, status, 0) == pid);
		if (WIFEXITED(*status) || WIFSIGNALED(*status))
			return false;
	} while (WSTOPSIG(*status) != (SIGTRAP | 0x80));
	assert(ptrace(PTRACE_GETREGS, pid, 0, regs) == 0);
	return true;
}

/* To the call that begins.  False: it does not apply to this one. */
static inline bool inject_apply(pid_t pid, enum fault fault, struct user_regs_struct *regs,
				int *status)
{
	static const int error[] = { ENOSPC, EIO, EINTR };
	bool writes = regs->orig_rax == SYS_write || regs->orig_rax == SYS_pwrite64;

	switch (fault) {
	case FAULT_SHORT:
		if (!writes || regs->rdx < 2)
			return false;
		regs->rdx /= 2;
		break;
	case FAULT_KILL_AFTER:
		if (!inject_step(pid, regs, status))
			return true;
		/* fall through */
	case FAULT_KILL_BEFORE:
		kill(pid, SIGKILL);
		return true;
	default:
		/* close(2) has closed the file even when it fails. */
		if (regs->orig_rax != SYS_close) {
			regs->orig_rax = (unsigned long)-1;
			assert(ptrace(PTRACE_SETREGS, pid, 0, regs) == 0);
		}
		assert(inject_step(pid, regs, status));
		regs->rax = (unsigned long)-error[fault];
	}
	assert(ptrace(PTRACE_SETREGS, pid, 0, regs) == 0);
	return true;
}

/* Lets it go on to its end; how many descriptors it has there, or 0 when it was killed. */
static inline int inject_end(pid_t pid, int *status)
{
	int fds = 0;

	while (!WIFEXITED(*status) && !WIFSIGNALED(*status)) {
		/* fails when it was killed */
		(void)ptrace(PTRACE_CONT, pid, 0, 0);
		assert(waitpid(pid, status, 0) == pid);
		if (WIFSTOPPED(*status) && *status >> 16 == PTRACE_EVENT_EXIT)
			fds = inject_fds(pid);
	}
	return WIFEXITED(*status) ? fds : 0;
}

/* Stays on the CPU that it is on; *before says how to undo that. */
static inline void inject_stay(cpu_set_t *before)
{
	cpu_set_t here;

	assert(sched_getaffinity(0, sizeof(*before), before) == 0);
	CPU_ZERO(&here);
	CPU_SET((unsigned)sched_getcpu(), &here);
	(void)sched_setaffinity(0, sizeof(here), &here);	/* only slower without */
}

static inline pid_t inject_start(int (*f)(void *ctx), void *ctx, int *status)
{
	pid_t pid = fork();

	assert(pid >= 0);
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		_exit(f(ctx) == 0 ? 0 : 1);
	}
	assert(waitpid(pid, status, 0) == pid && WIFSTOPPED(*status));
	assert(ptrace(PTRACE_SETOPTIONS, pid, 0,
		      PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT) == 0);
	return pid;
}

/* The fault happens to the n-th call, or to the next one to which it applies. */
static inline struct injected inject(enum fault fault, unsigned n, int (*f)(void *ctx),
				     void *ctx)
{
	struct injected out = { .exit_code = -1, .call = -1 };
	struct user_regs_struct regs;
	cpu_set_t cpus;
	int status;

	inject_stay(&cpus);
	pid_t pid = inject_start(f, ctx, &status);
	int fds = inject_fds(pid);

	/* It has stopped on its way out of raise(3): what comes next is the entry of a call. */
	while (!out.reached && inject_step(pid, &regs, &status)) {
		struct __ptrace_syscall_info info;

		assert(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
		assert(info.op == PTRACE_SYSCALL_INFO_ENTRY);
		if (inject_counts((long)regs.orig_rax) && ++out.n >= n) {
			out.call = (long)regs.orig_rax;
			out.reached = inject_apply(pid, fault, &regs, &status);
		}
		if (!out.reached && !inject_step(pid, &regs, &status))	/* its return */
			break;
	}
	int left = inject_end(pid, &status);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	if (left > 0)
		out.leaked = left - fds;
	if (WIFEXITED(status))
		out.exit_code = WEXITSTATUS(status);
	return out;
}

#endif
