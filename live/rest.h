/* rest.h - the rest of a system call of which a part was done when its thread was stopped
 *
 * WHY      A call that transfers much looks now and then whether its thread is to stop, and
 *          then ends with what it has done so far.  Programs need not expect that of a
 *          descriptor that blocks, unless a signal comes.
 *
 * HOW      The thread makes the rest itself, by the same instruction, before it goes on
 *          (live/finish.h): the registers of the call, with what is done left out.  The result
 *          is the sum.  As in the kernel an error in it leaves what was done before.
 *
 * WHICH    Those where a count that is too small can only come from a stop or from what would
 *          end the rest as well: not reads of what may give less by itself, as pipes do, nor
 *          files on a disk, whose calls are not cut short.  Of reads that wait for some bytes
 *          at least (SO_RCVLOWAT, VMIN) it is what is left of these.
 */
#ifndef LIVE_REST_H
#define LIVE_REST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* By the registers of a stopped thread alone: may there be a rest? */
bool rest_may_be(const struct user_regs_struct *regs);
/* How much of it is to be done in all: REST_ALL, or what its descriptor is set to wait for; 0:
 * nothing.  Asks the kernel about the descriptor: not while all threads stand.  `pid` may be a
 * thread's number; pidfd -1: sockets and terminals cannot be asked. */
#define REST_ALL UINT64_MAX
uint64_t rest_goal(pid_t pid, int pidfd, const struct user_regs_struct *regs);

struct rest_part {
	struct user_regs_struct regs;	/* to make it; the same but for arguments */
	uint64_t whole;			/* its result when all was done; 0: not known */
};
/* The next part of the rest; `regs` is the thread's own, with the sum so far as the result.
 * False: nothing is left. */
bool rest_next(pid_t pid, const struct user_regs_struct *regs, uint64_t goal,
	       struct rest_part *out);
/* Does its result count? */
bool rest_counts(long nr);
/* Was the part that failed so kept from its work by a signal or a stop? */
bool rest_interrupted(int64_t result);

#endif
