/* sense.h - what the machine is doing now: the idle conditions' values from /proc, /sys and
 * logind
 *
 * Shares are over the time between two looks: the last half second if somebody looks that
 * often.  What cannot be read is not available, and never an error.
 */
#ifndef POLICY_SENSE_H
#define POLICY_SENSE_H

#include <stdint.h>
#include <sys/types.h>

struct idle_state;
struct sense;

enum { SENSE_LOOK_MS = 250 };		/* how often to look while work is under way */

/* `root` stands before /proc, /sys and the system bus's socket: "", or what a test has made
 * up; both it and NULL for lack of memory are the caller's.  NULL is allowed below. */
struct sense *sense_new(const char *root);
void sense_free(struct sense *m);
/* `own`: a process whose CPU time is not that of others; 0: none.  now_ms: CLOCK_MONOTONIC. */
void sense_look(struct sense *m, pid_t own, uint64_t now_ms, struct idle_state *out);

#endif
