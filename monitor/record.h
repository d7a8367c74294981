/* record.h - runs one command and samples it and its children into one spool file, without the
 * daemon
 */
#ifndef MONITOR_RECORD_H
#define MONITOR_RECORD_H

#include <sys/types.h>

#include "monitor/perf.h"

struct err;

struct record_options {
	const char *log_path;
	char *const *argv;	/* of the command; looked up in PATH */
	enum monitor_clock clock;
	unsigned rate_hz;
	bool registers;		/* with the state of the task, where it ran in user mode */
	unsigned stack_bytes;	/* and so much of its stack: a multiple of 8 */
	bool stacks;		/* where it ran in the kernel, too: what it went in with */
	bool memory;		/* and the memory that registers point to, or fail */
	bool kernel_names;	/* of its procedures, where all CPUs are sampled */
	unsigned branches_hz;	/* branch stacks so often, or fail; 0: none */
	pid_t pid;		/* this process and those that it starts as well, as long as
				 * the command runs; for root; 0: none */
};

struct record_result {
	/* of the command: its exit code, or 128 + the signal that ended it */
	int exit_status;
	uint64_t samples;
	uint64_t states;	/* of them, those with state */
	uint64_t stacks;	/* besides: branch stacks */
	/* records that a ring had no room for; of all processes, where CPUs are sampled */
	uint64_t lost;
	uint64_t throttled;	/* times that the kernel held sampling down */
};

/* Runs the command and writes the log, of the command's processes alone; with registers, only
 * its owner may read it.  Also for users without privileges, with cpu-clock or cycles in user
 * mode, where kernel.perf_event_paranoid is at most 2.  0: the command has run. */
int record_command(const struct record_options *options, struct record_result *out,
		   struct err *err);

#endif
