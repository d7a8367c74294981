/* meter.h - what a process that runs does for its CPU time, while somebody waits for that
 *
 * Work is counted as lib/procwork.h does, or by the user's own counter.
 */
#ifndef MANAGER_TRY_METER_H
#define MANAGER_TRY_METER_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/procwork.h"

struct err;

struct meter {
	pid_t pid;
	int pidfd;
	const char *count;		/* command that prints one number; NULL: none */
};

/* -1: there is no such process. */
int meter_open(struct meter *m, pid_t pid, const char *count, struct err *err);
void meter_close(struct meter *m);
bool meter_ended(const struct meter *m);
/* Lets that time go by; -1 when the process ends, or we are interrupted. */
int meter_wait(const struct meter *m, double seconds, struct err *err);
/* -1 when the process has ended, or the user's counter fails. */
int meter_read(const struct meter *m, struct procwork *out, struct err *err);

/* Runs the command: one number is all that it prints.  -1 with ERR_USAGE. */
int meter_run_count(const char *command, double *out, struct err *err);
/* One number with nothing but white space around it. */
bool meter_number(const char *text, double *out);

#endif
