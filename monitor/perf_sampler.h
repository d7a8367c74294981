/* perf_sampler.h - a program in the kernel that takes the samples of ticks
 *
 * It is run at each timer's expiry as a raw tracepoint, without an event of perf, and writes,
 * for a tick that has met a task, PERF_SAMPLE_RAW with
 *
 *   u64 magic | u64 pc | u64 kernel | call chain of the kernel | zeros, up to 4 behind 8
 *
 * The PC is that in user mode; 0: a thread of the kernel's.  `kernel` is 1 where the tick has,
 * as far as is known without its chain, interrupted the kernel, and only then is there a chain:
 * to follow it takes four times as long as all the rest.
 *
 * What most ticks meet, a task in user mode, is written to a ring of the program's own, which
 * takes fewer lines of the caches than perf's does: records of PERF_SAMPLER_RECORD,
 *
 *   header | u64 pc | u32 tid | u32 pid | u64 time
 *
 * as long as it is not full, and if process numbers are those of the first namespace, which
 * are all that such a program can ask for at no cost.
 *
 * Switched to state, a tick in user mode has a record as of perf_memory.h instead, by another
 * event, which adds to it what the task holds (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER).
 */
#ifndef MONITOR_PERF_SAMPLER_H
#define MONITOR_PERF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct perf_ring;
struct perf_sampler;
struct perf_tick;

#define PERF_SAMPLER_MAGIC UINT64_C(0x656c706d61735a2f)	/* no other record's data begin so */
enum { PERF_SAMPLER_BYTES = 24, PERF_SAMPLER_CHAIN = 16 };
enum { PERF_SAMPLER_RECORD = 0x4d4f5250 };		/* no type of record of perf's */
enum { PERF_SAMPLER_RING_S = 16 };		/* of ticks a ring holds at least; chosen */

enum perf_sampler_mode { PERF_SAMPLER_OFF, PERF_SAMPLER_PLAIN, PERF_SAMPLER_STATE };

struct perf_sampler_options {
	bool chain;		/* of the kernel is wanted */
	bool state;		/* it may be switched to that */
	bool memory;		/* and then reads memory, or only tells whose samples are */
	unsigned ncpu;		/* CPUs have numbers below that */
};

/* Loads the program, switched off.  The tick must be told from other timers.  Needs privileges
 * and a kernel with BPF and its own types.  NULL: it cannot be had. */
struct perf_sampler *perf_sampler_new(const struct perf_tick *tick,
				      const struct perf_sampler_options *o, struct err *err);
void perf_sampler_free(struct perf_sampler *s);		/* ends it; NULL is allowed */
/* PERF_COUNT_SW_BPF_OUTPUT of one CPU that its samples go through; those with state. */
int perf_sampler_output(const struct perf_sampler *s, bool state, unsigned cpu, int event_fd,
			struct err *err);
/* Has it run, still switched off. */
int perf_sampler_start(struct perf_sampler *s, struct err *err);
/* Needs no privileges. */
void perf_sampler_switch(struct perf_sampler *s, enum perf_sampler_mode mode);

bool perf_sampler_has_rings(const struct perf_sampler *s);
/* The CPU's own, with all that is in it so far; and gives the bytes before `tail` back. */
struct perf_ring perf_sampler_ring(const struct perf_sampler *s, unsigned cpu);
void perf_sampler_consumed(struct perf_sampler *s, unsigned cpu, uint64_t tail);

#endif
