/* restart.h - what stopping a thread does to the system call that it waits in
 *
 * WHY      A thread that is stopped leaves its system call.  Most calls the kernel makes again
 *          by itself.  Some of them, listed in signal(7), fail with EINTR instead, although no
 *          handler ran, and programs need not expect that.
 *
 * HOW      At the stop the result is in a register still, and the number of the call.  It is
 *          replaced by the kernel's own -ERESTARTNOHAND: the call fails with EINTR if a
 *          handler runs, as it would have, and else is made again.  With a time limit it would
 *          then wait for all of it again, so a thread is not stopped in such a call unless it
 *          has just begun (live/threads.c).
 */
#ifndef LIVE_RESTART_H
#define LIVE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct user_regs_struct;

enum restart {
	RESTART_KERNEL,		/* the kernel makes it again, with the time that is left */
	RESTART_EXACT,		/* we have it made again; it has no time limit */
	RESTART_LIMITED,	/* it has one, which would begin anew */
	/* likewise; and nobody sees when it has begun, for its thread is also woken in it by
	 * what it does not wait for, and sleeps on */
	RESTART_UNSEEN,
	RESTART_READ,		/* exact, unless done in parts, of a file that is served */
	RESTART_RECEIVE,	/* the same; a time limit is the socket's, SO_RCVTIMEO */
	RESTART_CONNECT,	/* likewise, SO_SNDTIMEO */
	RESTART_PARTIAL,	/* what it has transferred so far would be all */
	RESTART_UNKNOWN,	/* nobody knows; vfork() does not stop at all */
};

/* Of a thread that waits in call `nr`. */
enum restart restart_kind(long nr, const uint64_t arg[6]);
/* A thread that waits in call `nr`, which is of that kind, may have been woken because its time
 * is over. */
bool restart_has_limit(enum restart kind, long nr);
/* May the call read more than servers of file systems are asked for at once? */
bool restart_in_parts(long nr, const uint64_t arg[6]);
/* Where the call writes the time that is left when it is stopped; 0: it does not. */
uint64_t restart_writes_left(long nr, const uint64_t arg[6]);
/* When it cannot, does it fail in a way that lets it be made again, with the whole limit? */
bool restart_limits(long nr);
/* The kernel goes on with the rest of it by restart_syscall(), which a filter of system calls
 * (seccomp) may not know.  By its own number it would wait for all of its limit again. */
bool restart_is_by_another(long nr, const uint64_t arg[6]);
/* Of a stopped thread's registers: true if they were changed so that the call is made again.
 * `filtered`: always by its own number. */
bool restart_fix(struct user_regs_struct *regs, bool filtered);

#endif
