/* perf_sysfs.h - reads what files of /sys, /proc and tracefs say of CPUs and tracepoints */
#ifndef MONITOR_PERF_SYSFS_H
#define MONITOR_PERF_SYSFS_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum { SYSFS_MAX_CPU = 8192 };

extern const char sysfs_online_path[];	/* the list of CPUs that are online */

/* A decimal number at *p, at most `max`; *p moves behind it. */
int sysfs_number(const char **p, uint64_t max, uint64_t *out);
/* A short file's first line without its newline; -1 with errno. */
int sysfs_line(const char *path, char *out, size_t n);
/* The CPUs of a list like "0-3,5"; their number, or -1. */
int sysfs_cpus(const char *text, unsigned *out, unsigned max);
int sysfs_online(unsigned *out, unsigned max, struct err *err);
/* The number of the tracepoint "GROUP/NAME": by tracefs where it is mounted, else, with
 * CAP_SYS_ADMIN, without a mount that anybody sees. */
int sysfs_tracepoint(const char *name, uint64_t *id, struct err *err);

/* Is it a rate from 1 to `max`, and one that the kernel takes? */
int sysfs_check_rate(unsigned rate_hz, unsigned max, struct err *err);

#endif
