/* procwatch.h - which files a command's processes run, where nothing may be sampled
 *
 * Who may not use the kernel's samplers (kernel.perf_event_paranoid above 2) still sees his own
 * processes in /proc: their programs, how long these have run, and which libraries are mapped.
 * How the time is spread over those is not known.  Processes shorter than a look apart are not
 * seen.
 */
#ifndef MANAGER_TRY_PROCWATCH_H
#define MANAGER_TRY_PROCWATCH_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct look;
struct procwatch;

struct procwatch *procwatch_new(void);
void procwatch_free(struct procwatch *w);		/* NULL is allowed */
/* One look at all that descends from this process. */
void procwatch_look(struct procwatch *w, pid_t root);
/* Writes what was seen, a line each: nanoseconds of the processes that ran it as their program,
 * a blank, path.  0 ns: a library. */
int procwatch_write(const struct procwatch *w, const char *path, struct err *err);

#endif
