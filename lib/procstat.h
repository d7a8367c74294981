/* procstat.h - what /proc/PID/stat tells of a process or a thread */
#ifndef LIB_PROCSTAT_H
#define LIB_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procstat {
	char state;		/* as proc(5) has it: R, S, D, Z, T, t, X and others */
	uint32_t flags;		/* of the kernel (PF_ in its include/linux/sched.h) */
	/* user and system time, of all its threads; 1 / sysconf(_SC_CLK_TCK) s */
	uint64_t cpu_ticks;
	uint64_t start;		/* the same, since the system began */
	uint32_t owner;		/* of procstat_read(): whose its files in /proc are */
};

/* Of the file's text.  Its name, which may hold anything, is skipped. */
bool procstat_parse(const char *text, struct procstat *out);
/* CPU time for each second of its life; more threads may have more than one. */
double procstat_busy(const struct procstat *s);
/* False: there is no such process. */
bool procstat_read(pid_t pid, struct procstat *out);

#endif
