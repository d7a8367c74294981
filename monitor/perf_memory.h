/* perf_memory.h - a BPF program in the kernel that says whose a sample is, and adds to it what
 * its registers point to
 *
 * It runs when a sample with state is taken, just before the sample is written, and writes a
 * record of its own: PERF_SAMPLE_RAW with
 *
 *   u64 magic | u64 sp | u64 ip | memory as lib/statememory.h says | zeros, up to 4 behind 8
 *
 * It reads only pages that are in memory at that moment and waits for nothing; others are left
 * out.  Of a task that cannot be dumped (prctl(2), PR_SET_DUMPABLE: by its own wish, or because
 * it executed a program with set-id, capabilities or without the right to read it) nothing is
 * read, and the magic is the one that says so.
 */
#ifndef MONITOR_PERF_MEMORY_H
#define MONITOR_PERF_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define PERF_MEMORY_MAGIC UINT64_C(0x79726f6d656d4d21)	/* no other record's data begin so */

#define PERF_PRIVATE_MAGIC UINT64_C(0x657461766972702f)	/* of a task that cannot be dumped */

struct bpf_code;
struct perf_memory;
struct perf_tick;

/* Loads the program, switched off, for CPUs below ncpu.  With a `tick` the sampling events are
 * its tracepoint, which meets all tasks, and other timers; NULL: an event of each CPU.  Without
 * `read` the program only tells whose samples are.  Needs privileges and a kernel with BPF and
 * with its own types (BTF).  NULL: it cannot be loaded. */
struct perf_memory *perf_memory_new(const struct perf_tick *tick, bool read, unsigned ncpu,
				    struct err *err);
/* NULL allowed; events keep the program */
void perf_memory_free(struct perf_memory *m);
/* Runs the program with the samples of an event; of a tracepoint, one for all CPUs. */
int perf_memory_attach(const struct perf_memory *m, int event_fd, struct err *err);
/* PERF_COUNT_SW_BPF_OUTPUT of one CPU that its records go through. */
int perf_memory_output(const struct perf_memory *m, unsigned cpu, int event_fd,
		       struct err *err);
/* Needs no privileges. */
void perf_memory_switch(struct perf_memory *m, bool on);

/* --- for other programs --- */

/* What a program that does the same besides is made with. */
struct perf_memory_code {
	int buffer_fd, events_fd;	/* its maps; -1: none */
	bool read;
	uint32_t mm, flags;		/* in struct task_struct, mm_struct */
};
/* Makes the maps; -1: what there is of them is to be freed, too. */
int perf_memory_code_new(struct perf_memory_code *m, bool read, unsigned ncpu, struct err *err);
void perf_memory_code_free(struct perf_memory_code *m);
/* Writes the record of the current task, and ends the program with 1.  R6: the context. */
void perf_memory_put(struct bpf_code *c, const struct perf_memory_code *m);

#endif
