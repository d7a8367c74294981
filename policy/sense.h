/* sense.h - reads the values of the conditions of idleness from /proc, /sys and logind
 *
 * Shares are over the time between two looks: the last half second if the caller looks that
 * often.  A value that cannot be read is not available, which is never an error.
 */
#ifndef POLICY_SENSE_H
#define POLICY_SENSE_H

#include <stdint.h>
#include <sys/types.h>

struct idle_state;
struct sense;

enum { SENSE_LOOK_MS = 250 };		/* how often to look while work is under way */

/* `root` is put in front of /proc, /sys and the path of the system bus's socket: "", or a
 * folder that a test has filled.  It must outlive the result.  NULL: out of memory; the
 * functions below take NULL. */
struct sense *sense_new(const char *root);
void sense_free(struct sense *m);
/* `own`: a process whose CPU time does not count as that of others; 0: none.  now_ms:
 * CLOCK_MONOTONIC. */
void sense_look(struct sense *m, pid_t own, uint64_t now_ms, struct idle_state *out);

#endif
