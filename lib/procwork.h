/* procwork.h - what a process that runs does for its CPU time
 *
 * CPU time is that of all its threads, also of those that have ended, in nanoseconds of the
 * kernel's.  Work is counted in what there is: bytes or calls that read and write
 * (/proc/PID/io, for who may read that; not those of sockets by recv and send), or how often
 * its threads went to sleep.
 */
#ifndef LIB_PROCWORK_H
#define LIB_PROCWORK_H

#include <stdbool.h>
#include <sys/types.h>

enum procwork_kind {
	PROCWORK_COUNT,			/* somebody's own counter: not read here */
	PROCWORK_BYTES, PROCWORK_CALLS, PROCWORK_WAKES,
	PROCWORK_KINDS
};
extern const char *const procwork_unit[PROCWORK_KINDS];

struct procwork {
	double cpu_s;
	double work[PROCWORK_KINDS];
};

/* Both false: there is no such process. */
bool procwork_cpu(pid_t pid, double *out_s);
bool procwork_read(pid_t pid, struct procwork *out);

#endif
