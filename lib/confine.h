/* confine.h - a process that gives up everything but the descriptors it holds */
#ifndef LIB_CONFINE_H
#define LIB_CONFINE_H

#include <stdint.h>

struct err;

/* For a job that has its input in memory and its output open: no new privileges, no core file, at
 * most `memory_bytes` of address space and `cpu_s` of CPU time (0: as inherited), and from then on
 * only the system calls that write to open descriptors, manage memory and exit; any other one
 * kills the process with SIGSYS.  Cannot be undone.  In a sanitizer build the system call filter
 * is left out, because the sanitizers need more. */
int confine_job(uint64_t memory_bytes, unsigned cpu_s, struct err *err);

#endif
