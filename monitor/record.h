/* record.h - one command and its children sampled into one spool file, without the daemon */
#ifndef MONITOR_RECORD_H
#define MONITOR_RECORD_H

#include "monitor/perf.h"

struct err;

/* Runs argv (looked up in PATH) and writes `log_path`.  Also for users without privileges, with
 * cpu-clock or cycles in user mode, where kernel.perf_event_paranoid is at most 2.
 * 0: the command has run; *exit_status is its exit code, or 128 + the signal that ended it. */
int record_command(const char *log_path, char *const argv[], unsigned rate_hz,
		   enum monitor_clock clock, int *exit_status, struct err *err);

#endif
