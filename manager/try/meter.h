/* meter.h - what a process that runs does for its CPU time
 *
 * CPU time is that of all its threads, also of those that have ended, in nanoseconds of the
 * kernel's.  Work is counted in what there is: the user's own counter, bytes or calls that
 * read and write (/proc/PID/io; not those of sockets by recv and send), or how often its
 * threads went to sleep.  CPU time for one unit of work is what a layout changes; how much work
 * there is to do in a second is the world's affair.
 */
#ifndef MANAGER_TRY_METER_H
#define MANAGER_TRY_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct err;

enum meter_kind { METER_COUNT, METER_BYTES, METER_CALLS, METER_WAKES, METER_KINDS };

extern const char *const meter_unit[METER_KINDS];

struct meter {
	pid_t pid;
	int pidfd;
	clockid_t cpu;
	const char *count;		/* command that prints one number; NULL: none */
};

struct meter_reading {
	double cpu_s;
	double work[METER_KINDS];
};

/* -1: there is no such process. */
int meter_open(struct meter *m, pid_t pid, const char *count, struct err *err);
void meter_close(struct meter *m);
bool meter_ended(const struct meter *m);
/* Lets that time go by; -1 when the process ends, or we are interrupted. */
int meter_wait(const struct meter *m, double seconds, struct err *err);
/* -1 when the process has ended, or the user's counter fails. */
int meter_read(const struct meter *m, struct meter_reading *out, struct err *err);

/* Runs the command: one number is all that it prints.  -1 with ERR_USAGE. */
int meter_run_count(const char *command, double *out, struct err *err);
/* One number with nothing but white space around it. */
bool meter_number(const char *text, double *out);

/* CPU seconds for each unit of work between two readings; 0 where there was none of either. */
double meter_cost(const struct meter_reading *from, const struct meter_reading *to,
		  enum meter_kind kind);
/* The kind of work whose cost changed least from one reading to the next; sleeps are the last
 * choice.  -1: in none was there enough of it each time. */
int meter_choose(const struct meter_reading *r, uint32_t n);

#endif
