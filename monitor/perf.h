/* perf.h - opens the kernel's sampling events and maps their rings: all system calls of perf
 *
 * Order of life: perf_open() with privileges; perf_map() and perf_enable() with or, within
 * kernel.perf_event_mlock_kb, without; then rings are read through perf_ring().
 * Records are decoded elsewhere (perf_decode.h).
 */
#ifndef MONITOR_PERF_H
#define MONITOR_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/lack.h"
#include "monitor/perf_decode.h"

struct err;
struct perf_set;		/* opaque; one sampling and one dummy event per CPU */

/* Same numbering as the policy's setting monitor.clock. */
enum monitor_clock {
	MONITOR_CLOCK_AUTO,	/* the first of tick, cycles, cpu-clock that can be opened */
	MONITOR_CLOCK_TICK,	/* the clock interrupt that happens anyway */
	MONITOR_CLOCK_CPU_CLOCK,
	MONITOR_CLOCK_CYCLES,
};
const char *monitor_clock_name(enum monitor_clock clock);

enum {
	PERF_DATA_PAGES = 64,			/* per CPU: 256 KiB */
	PERF_MEMORY_DATA_PAGES = 128,		/* a second of samples with memory at 250 Hz */
	PERF_DATA_PAGES_MAX = 4096,
	PERF_WATERMARK_BYTES = 128 * 1024,	/* poll(2) wakes up: half of PERF_DATA_PAGES */
	PERF_PID_ALL = -1,
	PERF_RATE_MAX = 50000,			/* 1/s; chosen */
};

enum perf_state {		/* registers and flags with the samples (user mode) */
	PERF_STATE_NEVER,
	PERF_STATE_SWITCHED,	/* off until perf_set_state() */
	PERF_STATE_ALWAYS,
};

struct kernelnames;

struct perf_options {
	enum monitor_clock clock;
	unsigned rate_hz;	/* of cpu-clock and cycles; the tick has its own */
	int pid;		/* PERF_PID_ALL, or one process and its children from its next
				 * exec on */
	bool user_only;		/* what an unprivileged process may ask for */
	enum perf_state state;
	/* also of tasks that were in the kernel: their registers as they went into it */
	bool kernel_state;
	/* tell of processes that a signal kills, at once, where that can be had */
	bool crashes;
	/* of the stack with them: a multiple of 8, at most SPOOL_STACK_MAX */
	unsigned stack_bytes;
	/* and what the registers point to (perf_memory.h), where that can be had */
	bool memory;
	/* no state of tasks that cannot be dumped.  Where the kernel does not tell of them
	 * (perf_guards()), the caller has to find out */
	bool guard;
	/* where in the kernel samples are: for kernelnames.h */
	bool kernel_pcs;
	/* branch stacks besides, so often a second on each CPU, where they can be had; 0: none.
	 * At most PERF_BRANCHES_RATE_MAX (perf_branches.h) */
	unsigned branches_hz;
	/* a ring's, a power of two; 0: as many as above.  Where the kernel does not let us
	 * have so many, perf_map() takes fewer */
	unsigned data_pages;
};

/* Opens the events, disabled.  NULL when not even one clock that the options allow is to be
 * had; the sentence then says why for each. */
struct perf_set *perf_open(const struct perf_options *options, struct err *err);
void perf_close(struct perf_set *set);		/* NULL is allowed */

/* Maps the rings and leads the dummy events into them.  Once. */
int perf_map(struct perf_set *set, struct err *err);
/* With PERF_PID_ALL, since one process's events switch themselves on at its exec: switches
 * everything on (after perf_map), or only the sampling off and on again: exec, mmap, fork and
 * exit are still recorded in a pause, so that address spaces stay known. */
int perf_enable(struct perf_set *set, struct err *err);
int perf_pause(struct perf_set *set, bool pause, struct err *err);
/* With PERF_STATE_SWITCHED, from now on: samples with state, or without. */
int perf_set_state(struct perf_set *set, bool on, struct err *err);

unsigned perf_nring(const struct perf_set *set);
/* For poll(2); -1: of a ring that wakes nobody, since what it has no room for goes to one that
 * does. */
int perf_ring_fd(const struct perf_set *set, unsigned i);
/* The ring with everything committed so far in `head`; `tail` is as last set. */
struct perf_ring perf_ring(const struct perf_set *set, unsigned i);
/* Gives the bytes before `tail` back to the kernel. */
void perf_ring_consumed(struct perf_set *set, unsigned i, uint64_t tail);

/* With PERF_PID_ALL: is a CPU online that is not sampled (any more)?  Then everything must be
 * opened anew, with privileges.  After perf_enable(), some milliseconds between two calls. */
bool perf_cpu_came(struct perf_set *set);
const struct perf_format *perf_format(const struct perf_set *set);
enum monitor_clock perf_clock(const struct perf_set *set);	/* the one in use, never auto */
uint64_t perf_period_ns(const struct perf_set *set);		/* nominal */
/* With kernel_pcs: of samples' PCs in the kernel.  NULL: not to be had. */
const struct kernelnames *perf_names(const struct perf_set *set);
bool perf_tells_crashes(const struct perf_set *set);
bool perf_tells_memory(const struct perf_set *set);
bool perf_guards(const struct perf_set *set);
unsigned perf_branches_hz(const struct perf_set *set);	/* 0: no branch stacks */
/* Why no better clock was taken, or why crashes, memory or branch stacks are not reported. */
const struct lacks *perf_lacks(const struct perf_set *set);

#endif
