/* finish.c - a thread that is let go goes on with the call that its stop has cut short
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
 * MASK      A call that holds off signals while it waits, and its thread does not (signals.h),
 *           is begun again with these blocked.  At its entry, behind which no signal is
 *           delivered before the call itself looks, the thread gets its own mask back.  One
 *           that has made our calls has a frame on its stack that leads to its call, with its
 *           mask (remote.h).  So it gets there by the entry of rt_sigreturn, which becomes that
 *           of its call: it may be left alone at each instant.  Others would keep what the call
 *           holds off, should the tracer die just then: so they do that only where something
 *           waits that is held off.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/finish.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/err.h"
#include "live/descriptor.h"
#include "live/filter.h"
#include "live/process.h"
#include "live/remote.h"
#include "live/rest.h"
#include "live/signals.h"
#include "live/threads.h"
#include "live/waiting.h"

enum { ENTRY_OR_EXIT = SIGTRAP | 0x80 };	/* PTRACE_O_TRACESYSGOOD */
/* Chosen: so often a rest is cut short by nothing that is told. */
enum { MOST_CUTS = 4, MOST_ENTRIES = 16 };

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
	return signals_ignored(t->pid) & UINT64_C(1) << (signal_no - 1);
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

static bool is_broken(const struct live_thread *x, int64_t result)
{
	return result == -EPIPE && ((long)x->regs.orig_rax == SYS_write ||
				    (long)x->regs.orig_rax == SYS_writev) &&
	       live_descriptor(x->tid, x->regs.rdi) == DESCRIPTOR_SOCKET;
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

	if (is_broken(x, result))
		pass_on(x, FINISH_BROKEN);
	else if ((!cut && (result <= 0 || x->whole == 0)) || x->cuts > MOST_CUTS ||
		 !make_part(t, x, 0))
		leave(x, 0);
}

/* --- a call with a mask of its own --- */

/* Its mask before its registers: as long as these lead to the frame, that brings both. */
static void give_back(struct live_thread *x, const struct user_regs_struct *regs)
{
	(void)ptrace(PTRACE_SETSIGMASK, x->tid, sizeof(x->mask), &x->mask);
	(void)ptrace(PTRACE_SETREGS, x->tid, 0, regs);		/* or it has ended */
	if (x->back)
		live_remote_put_back(x->back);
}

/* Does a signal wait that is ignored, and would end its call? */
static bool is_queued(const struct live_thread *x)
{
	enum { MOST = 16 };
	siginfo_t info[MOST];

	for (int shared = 0; shared < 2; shared++) {
		struct __ptrace_peeksiginfo_args args = {
			.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0, .nr = MOST };
		long n = ptrace(PTRACE_PEEKSIGINFO, x->tid, &args, info);

		for (long i = 0; i < n; i++)
			if (x->ignored & UINT64_C(1) << (info[i].si_signo - 1))
				return true;
	}
	return false;
}

/* Back to its call, in front of which nothing runs that the call holds off.  Without a frame
 * only where something waits that would: the thread has another mask until the call has begun,
 * and keeps it if we are killed. */
static bool enter(const struct live_threads *t, struct live_thread *x)
{
	enum { CALL = 2, RETURNED = 8 };
	struct user_regs_struct regs = x->regs;
	uint64_t held;

	if (!signals_held(t->pid, &x->regs, &held) ||
	    ptrace(PTRACE_GETSIGMASK, x->tid, sizeof(x->mask), &x->mask) < 0 ||
	    !(held & ~x->mask))
		return false;
	uint64_t ignored = signals_ignored(t->pid), mask = x->mask | held;
	x->ignored = ignored & ~mask;
	regs.orig_rax = (unsigned long long)-1;		/* nothing to make again */
	if (x->back && live_remote_lay_frame(x->back) == 0) {
		regs.rip = x->back->places.restore;
		regs.rsp = x->back->frame + RETURNED;
		mask |= ~ignored;
	} else {
		uint64_t waiting = signals_waiting(t->pid, x->tid);

		/* what ends the call does so before the kernel gives up the call's mask */
		if (!(waiting & held & ~x->mask) || waiting & ~held & ~ignored)
			return false;
		regs.rip -= CALL;
		regs.rax = x->regs.orig_rax;
	}
	if (ptrace(PTRACE_SETREGS, x->tid, 0, &regs) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, x->tid, sizeof(mask), &mask) < 0)
		return false;
	x->finish = FINISH_ENTERS;
	x->stopped = false;
	(void)ptrace(PTRACE_SYSCALL, x->tid, 0, 0);		/* or it has ended */
	return true;
}

/* Told of something before the call's entry. */
static void come_near(const struct live_threads *t, struct live_thread *x, int status)
{
	bool stop = status >> 16 == PTRACE_EVENT_STOP;
	int signal_no = WSTOPSIG(status);

	if (stop || signal_no == SIGSTOP || is_ignored(t, signal_no)) {
		(void)ptrace(PTRACE_SYSCALL, x->tid, 0, stop ? 0 : signal_no);
		return;
	}
	give_back(x, &x->regs);
	leave(x, signal_no);
}

/* At its entry.  A signal that is ignored and has come since would have it fail: then the entry
 * is left without the call, and tried again.  Filters may not let a thread do so. */
static void come_in(struct live_thread *x)
{
	enum { CALL = 2 };
	struct user_regs_struct regs = x->regs;

	regs.rax = (unsigned long long)-ENOSYS;			/* as on entry */
	give_back(x, &regs);
	if (!is_queued(x) || ++x->cuts > MOST_ENTRIES || live_process_filters(x->tid)) {
		if (x->stays)
			x->finish = FINISH_ENTERED, x->stopped = true;
		else
			leave(x, 0);
		return;
	}
	regs.rip -= CALL;
	regs.rax = regs.orig_rax;
	regs.orig_rax = (unsigned long long)-1;
	(void)ptrace(PTRACE_SETREGS, x->tid, 0, &regs);
	pass_on(x, FINISH_TURNS);
}

static void enter_on(const struct live_threads *t, struct live_thread *x, int status)
{
	if (status >> 8 != ENTRY_OR_EXIT) {
		come_near(t, x, status);
	} else if (x->finish == FINISH_ENTERS) {
		come_in(x);
	} else if (!enter(t, x)) {
		give_back(x, &x->regs);
		leave(x, 0);
	}
}

/* --- all of them --- */

bool finish_may_be(const struct live_thread *x)
{
	return x->finish != FINISH_ENTERED &&
	       (rest_may_be(&x->regs) || signals_may_be_held(&x->regs));
}

bool finish_enter(const struct live_threads *t, struct live_thread *x)
{
	x->cuts = 0;
	x->stays = true;
	return enter(t, x);
}

bool finish_begin(const struct live_threads *t, struct live_thread *x)
{
	x->cuts = 0;
	x->stays = false;
	if (!rest_may_be(&x->regs))
		return enter(t, x);
	x->goal = rest_goal(x->tid, waiting_own_descriptors(t->pid, x->tid) ? -1 : t->pidfd,
			    &x->regs);
	if (x->goal == 0)
		return false;
	if (make_part(t, x, 0)) {
		x->stopped = false;
		return true;
	}
	x->finish = FINISH_NONE;
	(void)ptrace(PTRACE_SETREGS, x->tid, 0, &x->regs);	/* or it has ended */
	return false;
}

void finish_go_on(const struct live_threads *t, struct live_thread *x, int status)
{
	bool call = status >> 8 == ENTRY_OR_EXIT;

	if (x->finish == FINISH_LOST) {
		leave(x, call || status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status));
	} else if (x->finish == FINISH_ENTERS || x->finish == FINISH_TURNS) {
		enter_on(t, x, status);
	} else if (call && x->finish == FINISH_BEGINS) {
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
