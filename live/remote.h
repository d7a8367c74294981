/* remote.h - system calls that a stopped thread makes for us
 *
 * WHY      The mappings of a process can be changed by itself only.
 *
 * HOW      A stopped thread gets other registers, makes the call, is stopped behind it and gets
 *          its own back.
 *
 * DEATH    When the tracer dies, the kernel lets the thread run on with the registers that it
 *          has.  So at each instant they must be such that it comes back to what it was doing.
 *          The call is made at a place in the process where `syscall; ret` stands.  The return
 *          leads to where `mov $15, %eax; syscall` stands, rt_sigreturn, and the stack pointer
 *          then is at a signal frame that we have written below the thread's stack (and its red
 *          zone): general registers, floating point and vector registers, signal mask.  That
 *          frame is written first, then the registers are set, then all signals are blocked;
 *          and at the end signals are unblocked before the registers are put back.  So there is
 *          no instant in which the thread, left alone, would not finish its call and go on.
 *          Both places are found as bytes in executable memory: the C library has them, because
 *          it needs them for signal handlers.
 *
 * THREAD   The main thread, on its own stack: below it there is room.  Something may be there
 *          all the same, as a part of that stack may be an alternate one or that of a
 *          coroutine: so what was there is put back before the thread goes on.
 *
 * LIMITS   A call with a time limit that was cut short before is known to the kernel alone, and
 *          rt_sigreturn makes it forget that.  The frame leads to the call itself, if the code
 *          in front of it tells which it is: then the limit begins anew, should the tracer die.
 */
#ifndef LIVE_REMOTE_H
#define LIVE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct err;
struct live_maps;
struct live_thread;

struct live_places {		/* in executable memory */
	uint64_t call;		/* syscall; ret */
	uint64_t restore;	/* mov $15, %rax; syscall */
};

/* Looks for them; what lies in [but, but_end) does not count.  -1 with ERR_REFUSED. */
int live_places_find(int mem, const struct live_maps *maps, uint64_t but, uint64_t but_end,
		     struct live_places *out, struct err *err);

enum { REMOTE_DATA = 512, REMOTE_FRAME = 16384 };

struct live_remote {
	struct live_thread *thread;
	struct live_places places;
	int mem;		/* /proc/PID/mem */
	uint64_t mask;		/* of signals, the thread's own */
	uint64_t frame;		/* address */
	uint64_t data;		/* REMOTE_DATA bytes for arguments, below the frame */
	size_t frame_size;
	uint8_t frame_bytes[REMOTE_FRAME];
	uint8_t before[REMOTE_DATA + 8 + REMOTE_FRAME];	/* what was there, from `data` on */
	bool written, begun;
	/* it did not come to a CPU, and has been stopped before the call; or it could not even
	 * be stopped: it comes back by itself, once it runs */
	bool late, lost;
	bool frozen;
};

/* The bytes of the frame, to be written at `frame`: n, at most REMOTE_FRAME; or 0 when the
 * state of the processor does not fit.  `xstate` is what PTRACE_GETREGSET tells. */
size_t live_frame_build(const struct user_regs_struct *regs, uint64_t mask,
			const uint8_t *xstate, size_t xsize, uint64_t restore, uint64_t frame,
			uint8_t *out);
/* Where a frame may be for a stack pointer of `rsp`. */
uint64_t live_frame_place(uint64_t rsp);

/* After it: live_remote_end(), whatever happens.  LIVE_NOT_NOW when the thread is elsewhere. */
int live_remote_begin(struct live_remote *r, struct live_thread *thread, int mem,
		      const struct live_places *places, const struct live_maps *maps,
		      struct err *err);
/* The result of the call, negative: -errno.  -1 with *err when the thread does not come back
 * from it: then it has ended, or is late or lost, as one is that was frozen.  One that was only
 * late can be asked for another call. */
int live_remote_call(struct live_remote *r, long nr, const uint64_t arg[6], int64_t *result,
		     struct err *err);
/* Says in the thread that it can get back by the frame, and puts back what was there. */
void live_remote_end(struct live_remote *r);
/* The frame once more, after the end, and again what was there.  -1: it is not there. */
int live_remote_lay_frame(const struct live_remote *r);
void live_remote_put_back(const struct live_remote *r);

/* Which call a thread makes that is told to go on with one at the instruction in front of
 * which these bytes are; -1: they do not tell. */
long live_remote_restarted(const uint8_t *code, size_t n);
/* Likewise, of the call in front of `pc` in the process. */
long live_remote_restarted_at(pid_t pid, uint64_t pc);

#endif
