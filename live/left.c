/* left.c - where a stop writes how much time is left to sleep; see left.h
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/left.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "live/remote.h"
#include "live/restart.h"
#include "live/signals.h"
#include "live/waiting.h"

static bool fetch(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static uint64_t switches(pid_t pid, pid_t tid)
{
	static const char name[] = "voluntary_ctxt_switches:";
	char path[64], line[256];
	uint64_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			n = strtoull(line + strlen(name), NULL, 10);
	if (f)
		(void)fclose(f);
	return n;
}

void left_save(pid_t pid, const struct waiting *w, uint64_t pc, struct left *out)
{
	/* the kernel goes on with one that was interrupted before by another number */
	long nr = w->nr == SYS_restart_syscall ? live_remote_restarted_at(pid, pc) : w->nr;

	out->at = nr == SYS_nanosleep || nr == SYS_clock_nanosleep ?
		  restart_writes_left(nr, w->arg) : 0;
	if (!out->at)
		return;
	out->switches = switches(pid, w->tid);
	if (!fetch(pid, out->at, out->was, sizeof(out->was)))
		out->at = 0;
}

/* To stop is one switch more. */
void left_put_back(pid_t pid, pid_t tid, const struct left *l)
{
	unsigned char was[sizeof(l->was)];
	struct iovec here = { was, sizeof(was) };
	struct iovec there = { (void *)(uintptr_t)l->at, sizeof(was) };

	if (switches(pid, tid) != l->switches + 1 || signals_due(pid, tid))
		return;
	memcpy(was, l->was, sizeof(was));
	/* it was readable, and the kernel has written there */
	(void)process_vm_writev(pid, &here, 1, &there, 1, 0);
}
