/* signals.c - which signals a process ignores, which wait, and which a call holds off
 *
 * Tested by tests/unit/live/test_signals.c and tests/e2e/live.sh.
 */
#include "live/signals.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static uint64_t bit(int signal_no)
{
	return UINT64_C(1) << (signal_no - 1);
}

/* --- of a process, and of a thread --- */

/* The mask behind the name in a file of /proc. */
static uint64_t read_mask(const char *path, const char *name, uint64_t unknown)
{
	char line[256];
	uint64_t mask = unknown;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			(void)sscanf(line + strlen(name), ": %" SCNx64, &mask);
	if (f)
		(void)fclose(f);
	return mask;
}

uint64_t signals_ignored(pid_t pid)
{
	uint64_t by_default = bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return read_mask(path, "SigIgn", 0) |
	       (by_default & ~read_mask(path, "SigCgt", UINT64_MAX));
}

uint64_t signals_waiting(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return read_mask(path, "SigPnd", 0) | read_mask(path, "ShdPnd", 0);
}

uint64_t signals_due(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return signals_waiting(pid, tid) & ~read_mask(path, "SigBlk", 0);
}

/* --- of a call --- */

enum { GETEVENTS = 1, EXT_ARG = 8 };	/* IORING_ENTER_GETEVENTS, _EXT_ARG */

/* Where the argument leads: to the mask, or to the mask's address and size. */
static const struct {
	long nr;
	int at;
	bool far;
} calls[] = {
	{ SYS_ppoll, 3, false },
	{ SYS_pselect6, 5, true },
	{ SYS_rt_sigsuspend, 0, false },
	{ SYS_epoll_pwait, 4, false },
	{ SYS_epoll_pwait2, 4, false },
	{ SYS_io_pgetevents, 5, true },
	{ SYS_io_uring_enter, 4, false },
};

/* 0: it has none. */
static uint64_t find(const struct user_regs_struct *r, bool *far)
{
	const uint64_t arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	enum { CODE_64 = 0x33, ERESTARTNOHAND = 514 };

	if ((int64_t)r->rax != -ERESTARTNOHAND || r->cs != CODE_64)
		return 0;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].nr != (long)r->orig_rax)
			continue;
		bool uring = calls[i].nr == SYS_io_uring_enter;
		*far = uring ? arg[3] & EXT_ARG : calls[i].far;
		return uring && !(arg[3] & GETEVENTS) ? 0 : arg[calls[i].at];
	}
	return 0;
}

static bool fetch(pid_t pid, uint64_t at, uint64_t *to)
{
	struct iovec here = { to, sizeof(*to) }, there = { (void *)(uintptr_t)at, sizeof(*to) };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(*to);
}

bool signals_may_be_held(const struct user_regs_struct *regs)
{
	bool far;

	return find(regs, &far) != 0;
}

bool signals_held(pid_t pid, const struct user_regs_struct *regs, uint64_t *mask)
{
	bool far = false;
	uint64_t at = find(regs, &far), held;

	if (!at || (far && (!fetch(pid, at, &at) || !at)) || !fetch(pid, at, &held))
		return false;
	*mask = held & ~(bit(SIGKILL) | bit(SIGSTOP));
	return true;
}
