/* perf_impl.h - what perf.c, which opens events, and perf_run.c, which uses them, share */
#ifndef MONITOR_PERF_IMPL_H
#define MONITOR_PERF_IMPL_H

#include <linux/perf_event.h>

#include "monitor/perf.h"
#include "monitor/perf_tick.h"

enum { PERF_PAGE_BYTES = 4096 };

struct perf_cpu {
	unsigned number;
	int sample_fd;
	int dummy_fd;		/* PERF_PID_ALL, else -1 */
	int state_fd;		/* PERF_STATE_SWITCHED, else -1 */
	int crash_fd;		/* -1: not to be had */
	int memory_fd;		/* likewise */
	int branch_fd;		/* likewise, or not wanted */
	uint64_t enabled_ns;	/* of the dummy event, when last looked at */
	/* followed by the data pages; NULL: not mapped */
	struct perf_event_mmap_page *page;
};

struct perf_set {
	enum monitor_clock clock;
	uint64_t period_ns;
	struct perf_tick tick;	/* if that is the clock */
	struct kernelnames *names;	/* NULL: not to be had, or not wanted */
	struct perf_format format;
	struct perf_cpu *cpu;
	unsigned ncpu;
	size_t data_pages;
	bool paused, state_on;
	struct perf_crash *crash;	/* NULL: not to be had, or not wanted */
	int signal_fd;			/* that it hangs on, or -1 */
	int online_fd;		/* the list of CPUs that are online, -1: cannot be read */
	struct perf_memory *memory;	/* NULL: not to be had, or not wanted */
	struct perf_sampler *sampler;	/* NULL: sample_fd and state_fd sample */
	/* one of these two tells whose samples are, and reads memory */
	bool guards, reads_memory;
	unsigned branches_hz;	/* of branch stacks; 0: there are none */
	struct lacks lacks;
};


/* Unmaps what is mapped. */
void perf_unmap(struct perf_set *set);

#endif
