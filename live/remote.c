/* remote.c - system calls that a stopped thread makes for us
 *
 * FRAME     What the kernel's rt_sigreturn reads (struct rt_sigframe there): the address that
 *           the handler returned to, struct ucontext, and elsewhere the floating point and
 *           vector registers as XSAVE has them.  An alternate signal stack of invalid flags is
 *           ignored by the kernel, so that the thread's own stays what it is.
 *
 * RESTART   A call that the stop has interrupted is made again by the kernel when the thread is
 *           let go, by its registers as they were.  rt_sigreturn does not do so: in the frame
 *           the thread stands in front of the call.
 *
 * Tested by tests/unit/live/test_remote.c, tests/e2e/livekept.sh, and tests/e2e/live.sh, which
 * kills the tracer at each of its system calls.
 */
#include "live/remote.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/clock.h"
#include "live/frozen.h"
#include "live/maps.h"
#include "live/threads.h"

/* Chosen: so long a stop of the thread is waited for before it is asked for one, and in all. */
static const uint64_t slow_ns = 1000000000, lost_ns = 5000000000;
enum { RED_ZONE = 128, CHUNK = 1 << 18 };
enum { ENTRY_OR_EXIT = SIGTRAP | 0x80 };	/* PTRACE_O_TRACESYSGOOD */

/* --- places --- */

static const uint8_t call_code[] = { 0x0f, 0x05, 0xc3 };
static const uint8_t restore_code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

static void look_for(const uint8_t *code, size_t n, uint64_t at, const uint8_t *what,
		     size_t size, uint64_t *found)
{
	const uint8_t *p = *found ? NULL : memmem(code, n, what, size);

	if (p)
		*found = at + (uint64_t)(p - code);
}

/* Chunks overlap by what the longest of them needs. */
static void search(int mem, const struct live_map *m, struct live_places *p, uint8_t *code)
{
	for (uint64_t at = m->start; at < m->end && (!p->call || !p->restore);
	     at += CHUNK - sizeof(restore_code)) {
		uint64_t left = m->end - at;
		ssize_t n = pread(mem, code, left < CHUNK ? left : CHUNK, (off_t)at);

		if (n <= 0)
			return;
		look_for(code, (size_t)n, at, call_code, sizeof(call_code), &p->call);
		look_for(code, (size_t)n, at, restore_code, sizeof(restore_code), &p->restore);
	}
}

int live_places_find(int mem, const struct live_maps *maps, uint64_t but, uint64_t but_end,
		     struct live_places *out, struct err *err)
{
	uint8_t *code = malloc(CHUNK);
	struct live_places p = { 0 };

	/* from above: libraries come first */
	for (uint32_t i = maps->n; code && i-- > 0;) {
		const struct live_map *m = &maps->map[i];

		if (m->exec && m->read && !m->write && (m->end <= but || m->start >= but_end))
			search(mem, m, &p, code);
	}
	free(code);
	if (!p.call || !p.restore)
		return err_set(err, ERR_REFUSED, "nothing in it can make a system call "
			       "for us");
	*out = p;
	return 0;
}

/* --- frame --- */

enum { FRAME_HEAD = 8 + sizeof(ucontext_t), XSAVE_ALIGN = 64 };

uint64_t live_frame_place(uint64_t rsp)
{
	/* as on entry of a handler: 8 bytes short of a multiple of 16 */
	return ((rsp - RED_ZONE - REMOTE_FRAME) & ~(uint64_t)15) - 8;
}

static void set_regs(ucontext_t *uc, const struct user_regs_struct *r)
{
	greg_t *g = uc->uc_mcontext.gregs;
	bool again = (long)r->orig_rax >= 0 && (long)r->rax <= -512 && (long)r->rax >= -516;

	g[REG_R8] = (greg_t)r->r8, g[REG_R9] = (greg_t)r->r9;
	g[REG_R10] = (greg_t)r->r10, g[REG_R11] = (greg_t)r->r11;
	g[REG_R12] = (greg_t)r->r12, g[REG_R13] = (greg_t)r->r13;
	g[REG_R14] = (greg_t)r->r14, g[REG_R15] = (greg_t)r->r15;
	g[REG_RDI] = (greg_t)r->rdi, g[REG_RSI] = (greg_t)r->rsi;
	g[REG_RBP] = (greg_t)r->rbp, g[REG_RBX] = (greg_t)r->rbx;
	g[REG_RDX] = (greg_t)r->rdx, g[REG_RCX] = (greg_t)r->rcx;
	g[REG_RSP] = (greg_t)r->rsp, g[REG_EFL] = (greg_t)r->eflags;
	/* -ERESTARTSYS and its kind: in front of the call, which has 2 bytes */
	g[REG_RAX] = (greg_t)(again ? r->orig_rax : r->rax);
	g[REG_RIP] = (greg_t)(again ? r->rip - 2 : r->rip);
	g[REG_CSGSFS] = (greg_t)((r->cs & 0xffff) | (r->ss & 0xffff) << 48);
}

size_t live_frame_build(const struct user_regs_struct *regs, uint64_t mask,
			const uint8_t *xstate, size_t xsize, uint64_t restore, uint64_t frame,
			uint8_t *out)
{
	/* UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
	enum { FLAGS = 7, MAGIC1_AT = 464, BAD_ALTSTACK = 0x7fff };
	static const uint32_t magic1 = 0x46505853, magic2 = 0x46505845;
	uint64_t xaddr = (frame + FRAME_HEAD + XSAVE_ALIGN - 1) & ~(uint64_t)(XSAVE_ALIGN - 1);
	uint64_t size = xaddr - frame + xsize + sizeof(magic2);
	ucontext_t uc = { .uc_flags = FLAGS, .uc_stack.ss_flags = BAD_ALTSTACK };
	uint8_t *x = out + (xaddr - frame);
	uint64_t features;

	if (size > REMOTE_FRAME || xsize < 576)
		return 0;
	set_regs(&uc, regs);
	uc.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)xaddr;
	memcpy(&uc.uc_sigmask, &mask, sizeof(mask));
	memset(out, 0, size);
	memcpy(out, &restore, 8);
	memcpy(out + 8, &uc, sizeof(uc));
	memcpy(x, xstate, xsize);
	/* where ptrace has the mask of features, the frame has it behind a mark and the size
	 * with the other mark (struct _fpx_sw_bytes) */
	memcpy(&features, xstate + MAGIC1_AT, 8);
	uint32_t extended = (uint32_t)(xsize + sizeof(magic2)), whole = (uint32_t)xsize;
	memset(x + MAGIC1_AT, 0, 48);
	memcpy(x + MAGIC1_AT, &magic1, 4);
	memcpy(x + MAGIC1_AT + 4, &extended, 4);
	memcpy(x + MAGIC1_AT + 8, &features, 8);
	memcpy(x + MAGIC1_AT + 16, &whole, 4);
	memcpy(x + xsize, &magic2, 4);
	return size;
}

/* --- calls --- */

/* Those that the kernel goes on with by a call of another number, as their code begins them:
 * the number, the call, and perhaps what prepares an argument between them. */
long live_remote_restarted(const uint8_t *code, size_t n)
{
	static const uint8_t some[] = { SYS_poll, SYS_nanosleep, SYS_futex,
					SYS_clock_nanosleep };
	enum { SET_EAX = 0xb8, LENGTH = 5 };

	for (size_t at = n < LENGTH ? 0 : n - LENGTH + 1; at-- > 0;)
		for (size_t k = 0; k < sizeof(some); k++) {
			const uint8_t set[LENGTH] = { SET_EAX, some[k] };

			if (memcmp(code + at, set, LENGTH) == 0)
				return some[k];
		}
	return -1;
}

long live_remote_restarted_at(pid_t pid, uint64_t pc)
{
	enum { CALL = 2, NEAR = 12 };
	uint8_t code[NEAR];
	struct iovec here = { code, NEAR }, there = { (void *)(uintptr_t)(pc - CALL - NEAR),
						      NEAR };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == NEAR ?
	       live_remote_restarted(code, NEAR) : -1;
}

/* The thread's registers as the frame has them. */
static struct user_regs_struct regs_to_return(const struct live_remote *r)
{
	struct user_regs_struct regs = r->thread->regs;

	if (regs.orig_rax != SYS_restart_syscall)
		return regs;
	long nr = live_remote_restarted_at(r->thread->tid, regs.rip);
	if (nr >= 0)
		regs.orig_rax = (unsigned long long)nr;
	return regs;
}

int live_remote_lay_frame(const struct live_remote *r)
{
	return pwrite(r->mem, r->frame_bytes, r->frame_size, (off_t)r->frame) ==
	       (ssize_t)r->frame_size ? 0 : -1;
}

/* It fails only where the memory is gone. */
void live_remote_put_back(const struct live_remote *r)
{
	(void)!pwrite(r->mem, r->before, r->frame - r->data + r->frame_size, (off_t)r->data);
}

static int write_frame(struct live_remote *r, struct err *err)
{
	static uint8_t xstate[REMOTE_FRAME];
	struct iovec iov = { xstate, sizeof(xstate) };
	pid_t tid = r->thread->tid;

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &iov) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(r->mask), &r->mask) < 0)
		return err_set(err, ERR_SYS, "thread %d: %s", (int)tid, strerror(errno));
	const struct user_regs_struct regs = regs_to_return(r);
	size_t n = live_frame_build(&regs, r->mask, xstate, iov.iov_len, r->places.restore,
				    r->frame, r->frame_bytes);
	if (n == 0)
		return err_set(err, ERR_REFUSED, "the registers need too much room");
	ssize_t used = (ssize_t)(r->frame - r->data + n);
	r->frame_size = n;
	if (pread(r->mem, r->before, (size_t)used, (off_t)r->data) != used ||
	    live_remote_lay_frame(r) < 0)
		return err_set(err, ERR_SYS, "its stack: %s", strerror(errno));
	r->written = true;
	return 0;
}

/* Its system calls may become signals for itself (prctl(2), PR_SET_SYSCALL_USER_DISPATCH).
 * Kernels before 6.4 do not tell. */
static bool is_dispatching(pid_t tid)
{
	enum { GET_CONFIG = 0x4211 };	/* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG */
	uint64_t config[4] = { 0 };	/* struct ptrace_sud_config: the mode comes first */

	return ptrace((enum __ptrace_request)GET_CONFIG, tid, sizeof(config), config) == 0 &&
	       config[0] != 0;
}

int live_remote_begin(struct live_remote *r, struct live_thread *thread, int mem,
		      const struct live_places *places, const struct live_maps *maps,
		      struct err *err)
{
	uint64_t rsp = thread->regs.rsp;
	const struct live_map *stack = live_maps_at(maps, rsp);

	*r = (struct live_remote){ .thread = thread, .places = *places, .mem = mem,
				   .frame = live_frame_place(rsp) };
	r->data = r->frame - 8 - REMOTE_DATA;
	if (!stack || strcmp(stack->name, "[stack]") != 0 || r->data < stack->start) {
		err_set(err, ERR_REFUSED, "the main thread is not on its stack, or has no room "
			"there");
		return LIVE_NOT_NOW;
	}
	if (is_dispatching(thread->tid))
		return err_set(err, ERR_REFUSED, "it handles system calls itself "
			       "(syscall user dispatch)");
	live_alarm(slow_ns);
	return write_frame(r, err);
}

static void regs_for(const struct live_remote *r, long nr, const uint64_t a[6],
		     struct user_regs_struct *regs)
{
	*regs = r->thread->regs;
	regs->rip = r->places.call;
	regs->rsp = r->frame;
	regs->rax = (unsigned long long)nr;
	regs->orig_rax = (unsigned long long)-1;	/* nothing to make again */
	regs->rdi = a[0], regs->rsi = a[1], regs->rdx = a[2];
	regs->r10 = a[3], regs->r8 = a[4], regs->r9 = a[5];
}

/* Waits for it to stop.  A thread that does not, since it was frozen, does so where it is. */
static int wait_stop(struct live_remote *r, int *status, struct err *err)
{
	pid_t tid = r->thread->tid, told;
	uint64_t since_ns = live_clock_ns();
	bool asked = false;

	while ((told = waitpid(tid, status, __WALL)) < 0 && errno == EINTR) {
		uint64_t now_ns = live_clock_ns();

		r->lost = now_ns > since_ns + lost_ns;
		if (r->lost)
			return err_set(err, ERR_REFUSED, "thread %d %s", (int)tid,
				       r->frozen ? "was frozen" : "does not come to a CPU");
		if (asked || now_ns < since_ns + slow_ns)
			continue;
		r->frozen = live_frozen(tid);
		asked = ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0;
	}
	if (told != tid || !WIFSTOPPED(*status))
		return err_set(err, ERR_SYS, "thread %d has ended", (int)tid);
	if (!asked || *status >> 16 != PTRACE_EVENT_STOP)
		return 0;
	r->late = true;
	return err_set(err, ERR_REFUSED, "thread %d %s", (int)tid,
		       r->frozen ? "was frozen" : "does not come to a CPU");
}

/* To the beginning of the call, or to its end.  SIGSTOP, which no mask holds off, is delivered:
 * so the kernel knows that all are to be stopped, also when we have let go, and that a SIGCONT
 * ends that.  The thread itself goes on at our word until then. */
static int go_to_stop(struct live_remote *r, struct err *err)
{
	pid_t tid = r->thread->tid;
	int status = 0;

	do {
		long stop = status >> 8 == SIGSTOP ? SIGSTOP : 0;

		if (ptrace(PTRACE_SYSCALL, tid, 0, stop) < 0)
			return err_set(err, ERR_SYS, "thread %d has ended", (int)tid);
		if (wait_stop(r, &status, err) < 0)
			return -1;
	} while (status >> 8 != ENTRY_OR_EXIT);
	return 0;
}

int live_remote_call(struct live_remote *r, long nr, const uint64_t arg[6], int64_t *result,
		     struct err *err)
{
	static const uint64_t all = ~(uint64_t)0;
	struct user_regs_struct regs;
	pid_t tid = r->thread->tid;

	if (r->frozen || r->lost)
		return err_set(err, ERR_REFUSED, "thread %d makes no calls", (int)tid);
	regs_for(r, nr, arg, &regs);
	if (ptrace(PTRACE_SETREGS, tid, 0, &regs) < 0)
		return err_set(err, ERR_SYS, "thread %d: %s", (int)tid, strerror(errno));
	if (!r->begun && ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		return err_set(err, ERR_SYS, "thread %d: %s", (int)tid, strerror(errno));
	r->begun = true;
	if (go_to_stop(r, err) < 0 || go_to_stop(r, err) < 0)
		return -1;
	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0)
		return err_set(err, ERR_SYS, "thread %d: %s", (int)tid, strerror(errno));
	*result = (int64_t)regs.rax;
	return 0;
}

void live_remote_end(struct live_remote *r)
{
	if (!r->thread)
		return;
	live_alarm(0);
	/* or the thread has ended */
	if (r->begun && !r->lost)
		(void)ptrace(PTRACE_SETSIGMASK, r->thread->tid, sizeof(r->mask), &r->mask);
	if (!r->lost)
		(void)ptrace(PTRACE_SETREGS, r->thread->tid, 0, &r->thread->regs);
	if (r->written && !r->lost)
		live_remote_put_back(r);
	if (r->begun && !r->lost)
		r->thread->back = r;
	r->thread = NULL;
}
