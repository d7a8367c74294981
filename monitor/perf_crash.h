/* perf_crash.h - a program in the kernel that tells of faults that kill their process
 *
 * It runs when a signal is delivered (signal:signal_deliver) and writes, for a signal that
 * crashes do and that nobody has a handler for, PERF_SAMPLE_RAW with
 *
 *   u64 magic | u64 ip | u32 signal | u32 si_code | u32 uid | zeros, up to 12
 *
 * Only what the processor met at that instruction counts: si_code above 0, and no system call
 * under way.  A signal that somebody sent, himself or another, whatever it claims to be, is no
 * fault.  The uid is the real one, in the first user namespace.
 */
#ifndef MONITOR_PERF_CRASH_H
#define MONITOR_PERF_CRASH_H

#include <stdint.h>

struct err;

#define PERF_CRASH_MAGIC UINT64_C(0x68736172636d212f)	/* no other record's data begin so */
enum { PERF_CRASH_BYTES = 32 };

struct perf_crash;

/* Needs privileges and a kernel with BPF and its own types.  NULL: it cannot be had. */
struct perf_crash *perf_crash_new(unsigned ncpu, struct err *err);
void perf_crash_free(struct perf_crash *c);	/* NULL allowed; events keep the program */
/* An event of the tracepoint, which need not be enabled; one for all CPUs. */
int perf_crash_attach(const struct perf_crash *c, int event_fd, struct err *err);
/* PERF_COUNT_SW_BPF_OUTPUT of one CPU that its records go through. */
int perf_crash_output(const struct perf_crash *c, unsigned cpu, int event_fd, struct err *err);

#endif
