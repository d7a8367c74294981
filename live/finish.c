/* finish.c - a thread that is let go makes the rest of the call that its stop has cut short
 *
 * WAY       It goes back to its system call instruction with the arguments of a part of the
 *           rest (rest.h), which is traced from its entry to its exit.  There the thread gets
 *           its own registers again, with the sum so far: so it could be let go at each exit.
 *           Only within a part would it go on with that part's result and arguments, should
 *           the tracer die.
 *
 * SIGNALS   A part that a signal ends is followed by the next one, before which the signal is
 *           delivered.  With a handler, or where it stops or ends the process, the sum so far
 *           is the result, as it would have been.  One that is ignored has come only because
 *           the thread is traced: the rest goes on.  So it does where another thread has taken
 *           the signal by then.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/err.h"
#include "live/descriptor.h"
#include "live/filter.h"
#include "live/process.h"
#include "live/rest.h"
#include "live/threads.h"

enum { ENTRY_OR_EXIT = SIGTRAP | 0x80 };	/* PTRACE_O_TRACESYSGOOD */
/* Chosen: so often a rest is cut short by nothing that is told. */
enum { MOST_CUTS = 4 };

/* A filter of its system calls may allow the call and not what its rest is made by. */
static bool is_allowed(const struct live_thread *x, const struct user_regs_struct *r)
{
	const uint64_t arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	struct live_filters filters = { 0 };
	struct err ignored;

	if (r->rax == x->regs.orig_rax || !live_process_filters(x->tid))
		return true;
	bool allowed = live_filters_read(x->tid, &filters, &ignored) == 0 &&
		       live_filters_allow(&filters, (long)r->rax, arg, x->regs.rip);
	live_filters_free(&filters);
	return allowed;
}

static bool make_part(const struct live_threads *t, struct live_thread *x, int signal_no)
{
	struct rest_part part;

	if (!rest_next(t->pid, &x->regs, x->goal, &part) || !is_allowed(x, &part.regs) ||
	    ptrace(PTRACE_SETREGS, x->tid, 0, &part.regs) < 0)
		return false;
	x->whole = part.whole;
	x->finish = FINISH_BEGINS;
	return ptrace(PTRACE_SYSCALL, x->tid, 0, signal_no) == 0;
}

bool finish_begin(const struct live_threads *t, struct live_thread *x)
{
	if (!rest_may_be(&x->regs))
		return false;
	x->goal = rest_goal(t->pid, t->pidfd, &x->regs);
	if (x->goal == 0)
		return false;
	x->cuts = 0;
	if (make_part(t, x, 0)) {
		x->stopped = false;
		return true;
	}
	x->finish = FINISH_NONE;
	(void)ptrace(PTRACE_SETREGS, x->tid, 0, &x->regs);	/* or it has ended */
	return false;
}

static void leave(struct live_thread *x, int signal_no)
{
	(void)ptrace(PTRACE_DETACH, x->tid, 0, signal_no);	/* or it has ended */
	x->finish = FINISH_NONE;
	x->asked = x->stopped = false;
}

static void pass_on(struct live_thread *x, enum finish how)
{
	x->finish = how;
	(void)ptrace(PTRACE_SYSCALL, x->tid, 0, 0);		/* or it has ended */
}

/* What the signal does to the process without a tracer. */
static bool is_ignored(const struct live_threads *t, int signal_no)
{
	static const uint64_t by_default = 1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) |
					   1ull << (SIGWINCH - 1) | 1ull << (SIGCONT - 1);
	uint64_t bit = 1ull << (signal_no - 1), ignored = 0, caught = ~0ull;
	char path[64], line[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)t->pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "SigIgn: %" SCNx64, &ignored);
		(void)sscanf(line, "SigCgt: %" SCNx64, &caught);
	}
	if (f)
		(void)fclose(f);
	return ignored & bit || (by_default & bit && !(caught & bit));
}

/* A signal, before it is delivered.  Who wrote to a socket gets none for what was written
 * before the other side has gone. */
static void meet_signal(const struct live_threads *t, struct live_thread *x, int signal_no)
{
	if (x->finish == FINISH_BROKEN && signal_no == SIGPIPE)
		leave(x, 0);
	else if (!is_ignored(t, signal_no) || !make_part(t, x, signal_no))
		leave(x, signal_no);
	x->cuts = 0;
}

/* A traced thread is told that the process continues, also when it was not stopped. */
static void meet_stop(const struct live_threads *t, struct live_thread *x, int signal_no)
{
	if (signal_no != SIGTRAP || x->finish != FINISH_BEGINS || !make_part(t, x, 0))
		leave(x, 0);
	x->cuts = 0;
}

static bool is_broken(const struct live_threads *t, const struct live_thread *x, int64_t result)
{
	return result == -EPIPE && ((long)x->regs.orig_rax == SYS_write ||
				    (long)x->regs.orig_rax == SYS_writev) &&
	       live_descriptor(t->pid, x->regs.rdi) == DESCRIPTOR_SOCKET;
}

/* A part has come to its end.  One that was cut short is tried once more: by a signal, which
 * comes first, or by what the stop has left behind in the kernel (recvmmsg). */
static void end_part(const struct live_threads *t, struct live_thread *x)
{
	struct user_regs_struct now;

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &now) < 0)
		return;			/* it has ended, which will be told */
	int64_t result = (int64_t)now.rax;
	if (result > 0 && rest_counts((long)x->regs.orig_rax))
		x->regs.rax += now.rax;
	(void)ptrace(PTRACE_SETREGS, x->tid, 0, &x->regs);
	bool cut = rest_interrupted(result) || (result > 0 && (uint64_t)result < x->whole);
	x->cuts = cut ? x->cuts + 1 : 0;

	if (is_broken(t, x, result))
		pass_on(x, FINISH_BROKEN);
	else if ((!cut && (result <= 0 || x->whole == 0)) || x->cuts > MOST_CUTS ||
		 !make_part(t, x, 0))
		leave(x, 0);
}

void finish_go_on(const struct live_threads *t, struct live_thread *x, int status)
{
	bool call = status >> 8 == ENTRY_OR_EXIT;

	if (call && x->finish == FINISH_BEGINS) {
		pass_on(x, FINISH_CALL);
	} else if (call && x->finish == FINISH_CALL) {
		end_part(t, x);
	} else {
		/* the part has not begun, or the thread goes on as itself already */
		if (x->finish == FINISH_BEGINS)
			(void)ptrace(PTRACE_SETREGS, x->tid, 0, &x->regs);
		if (status >> 16 == PTRACE_EVENT_STOP)
			meet_stop(t, x, WSTOPSIG(status));
		else if (call)
			leave(x, 0);
		else
			meet_signal(t, x, WSTOPSIG(status));
	}
}

void finish_end(struct live_thread *x)
{
	if (x->finish == FINISH_NONE)
		return;
	x->goal = 0;
	(void)ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);		/* or it has ended */
}
