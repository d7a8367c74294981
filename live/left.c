/* left.c - where a stop writes how much time is left to sleep; see left.h
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/left.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "live/remote.h"
#include "live/restart.h"
#include "live/signals.h"

static bool fetch(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* The kernel goes on with a sleep that was interrupted before by a call of another number. */
static long called(pid_t pid, long nr, uint64_t pc)
{
	enum { CALL = 2, NEAR = 12 };
	uint8_t code[NEAR];

	return nr == SYS_restart_syscall && fetch(pid, pc - CALL - NEAR, code, NEAR) ?
	       live_remote_restarted(code, NEAR) : nr;
}

void left_save(pid_t pid, long nr, const uint64_t arg[6], uint64_t pc, struct left *out)
{
	nr = called(pid, nr, pc);
	out->at = nr == SYS_nanosleep || nr == SYS_clock_nanosleep ?
		  restart_writes_left(nr, arg) : 0;
	if (out->at && !fetch(pid, out->at, out->was, sizeof(out->was)))
		out->at = 0;
}

void left_put_back(pid_t pid, pid_t tid, const struct left *l)
{
	unsigned char was[sizeof(l->was)];
	struct iovec here = { was, sizeof(was) };
	struct iovec there = { (void *)(uintptr_t)l->at, sizeof(was) };

	if (l->at == 0 || signals_due(pid, tid))
		return;
	memcpy(was, l->was, sizeof(was));
	/* it was readable, and the kernel has written there */
	(void)process_vm_writev(pid, &here, 1, &there, 1, 0);
}
