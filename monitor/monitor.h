/* monitor.h - the Monitor role: takes records from the kernel's rings and writes the spool
 *
 * The role speaks with the privileged parent in the messages of lib/msg.def: FLUSH is answered
 * by MONITOR_COUNTS and FLUSHED, SET_PAUSE and SET_REGISTERS by MONITOR_COUNTS, END by both and
 * the end of the loop.  After each drain it sends MONITOR_COUNTS by itself, WATCHING once when
 * it begins, and CRASHED as soon as a signal has killed a process.
 * WATCHING says what the set lacks.
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/perf.h"
#include "monitor/spool.h"

struct err;

struct monitor_options {
	int command_fd;		/* SOCK_SEQPACKET to the parent; stays the caller's */
	int spool_dirfd;	/* stays the caller's */
	uint64_t spool_max_bytes;
	unsigned drain_s;	/* longest time between two drains */
	bool paused;		/* begin without sampling */
	/* The set was opened with PERF_STATE_SWITCHED: whether to begin with registers, and
	 * how many bytes of samples with state are held in memory at most. */
	bool switched, registers;
	uint64_t states_max_bytes;
	/* Processes whose samples and events are dropped, with their children: Morph's own. */
	const uint32_t *own_pid;
	unsigned nown_pid;
	/* Called once, after all that needs privileges and before anything is parsed or
	 * written: drops them.  NULL: nothing to drop. */
	int (*confine)(void *ctx, struct err *err);
	void *confine_ctx;
};

struct monitor_counts {
	uint64_t samples;	/* taken into the spool, of them: */
	uint64_t kernel;	/* interrupted in kernel mode */
	uint64_t own;		/* samples of Morph's own, dropped */
	uint64_t lost;		/* records that a ring had no room for */
	uint64_t throttled;	/* times that the kernel held sampling down */
	uint64_t unknown;	/* records of unknown type */
	uint64_t malformed, late;	/* see merge.h */
	uint64_t write_errors;
	uint64_t processes_missed;	/* at the start, see procmaps.h */
	uint64_t states;	/* of the samples, those held with their task's state */
	uint64_t states_dropped;	/* no room for the state; the sample is in the spool */
	uint64_t states_private;	/* likewise: of tasks that cannot be dumped */
	/* branch stacks not kept: of such tasks, of root's, and of those that had ended before
	 * they could be asked about */
	uint64_t stacks_private;
	struct spool_counts spool;
	bool paused, registers;
	/* ended because a CPU came online, which needs a new perf_open() */
	bool cpu_came;
};

/* Maps and enables the set, reads the running processes, calls confine, then works until END
 * or until the parent has gone or a CPU came online (all return 0).  A message that the
 * parent may not send is an error.  A spool that cannot be written is not: it is counted,
 * told in FLUSHED, and tried again.  *counts (may be NULL) is filled in any case. */
int monitor_run(struct perf_set *set, const struct monitor_options *options,
		struct monitor_counts *counts, struct err *err);

/* For a Monitor whose perf_open() failed: sends WATCHING with the reason why nothing is
 * sampled. */
int monitor_tell_failure(int command_fd, const char *why, struct err *err);

#endif
