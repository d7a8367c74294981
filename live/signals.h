/* signals.h - which signals a process ignores, which wait, and which a call holds off
 *
 * WHY      Some calls wait with a mask of signals of their own, as ppoll() does.  When a thread
 *          goes on after a stop in one, the kernel gives it the mask that it had, and then has
 *          it make the call again: in between, handlers run that the call was to hold off.
 */
#ifndef LIVE_SIGNALS_H
#define LIVE_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* In masks the signal N is the bit N - 1. */

/* By handler, or by default where it has none. */
uint64_t signals_ignored(pid_t pid);
/* For that thread, or for its process. */
uint64_t signals_waiting(pid_t pid, pid_t tid);
/* Of these, which are not blocked. */
uint64_t signals_due(pid_t pid, pid_t tid);

/* By the registers of a stopped thread alone: may it make such a call again? */
bool signals_may_be_held(const struct user_regs_struct *regs);
/* Which ones the call holds off; false: it has no mask. */
bool signals_held(pid_t pid, const struct user_regs_struct *regs, uint64_t *mask);

#endif
