/* perf_decode.h - decodes the records of a perf ring into spool events; no system calls
 *
 * The bytes are the kernel's, but nothing here trusts them: lengths are checked, rings may wrap
 * anywhere, unknown types are told apart from malformed ones.
 */
#ifndef MONITOR_PERF_DECODE_H
#define MONITOR_PERF_DECODE_H

#include "lib/rd.h"
#include "monitor/spool.h"

/* How the samples of a set look; the fields follow each other in this order.  With `state` a
 * ring holds two kinds of samples, told apart by the number of registers in them: few, or
 * all that a task has. */
struct perf_format {
	bool ip;	/* PERF_SAMPLE_IP: the interrupted PC, trusted when in user mode */
	/* sample_regs_user holds CX before IP: tells system calls (tick clock) */
	bool user_cx;
	/* least time between two samples of a ring, less than a tick: what comes sooner is of
	 * another timer.  0: all samples count */
	uint64_t apart_ns;
	bool state;	/* there may be samples with PERF_STATE_REGS */
	bool kernel_state;	/* also of tasks in the kernel: as they went into it */
	bool stack;	/* those have PERF_SAMPLE_STACK_USER behind them */
	bool sampler;	/* there may be samples of perf_sampler.h, and none of other events */
	bool crashes;	/* there may be samples of perf_crash.h */
	bool memory;	/* there may be samples of perf_memory.h in front of those with state */
	bool branches;	/* there may be samples of perf_branches.h */
	/* and a state is only given to whom these say that it may be told */
	bool guarded;
	/* PERF_SAMPLE_CALLCHAIN, of the kernel alone: where there is no IP, and not in those of
	 * perf_sampler.h, which have one of their own.  What was interrupted stands behind what
	 * is in [entry_start, entry_end) */
	bool chain;
	uint64_t entry_start, entry_end;
};

/* sample_regs_user of samples with state: all general registers, IP and FLAGS. */
#define PERF_STATE_REGS UINT64_C(0xff03ff)

/* A ring of `size` bytes, a power of two; positions count bytes since the ring was made. */
struct perf_ring {
	const uint8_t *data;
	uint64_t size;
	uint64_t tail, head;
};

enum { PERF_RECORD_BYTES_MAX = 65536 };	/* the header's size field has 16 bits */

/* The record at `pos`, in one piece: in the ring itself or, where it wraps around the end,
 * copied to `bounce` (PERF_RECORD_BYTES_MAX bytes).  .p == NULL when no whole, well-formed
 * record is there. */
struct bytes perf_ring_record(const struct perf_ring *ring, uint64_t pos, uint8_t *bounce);

/* When the record was made; 0 when it is too short to say. */
uint64_t perf_record_time(const struct perf_format *format, struct bytes record);

enum perf_outcome {
	PERF_EVENT,	/* *out is filled */
	PERF_STATELESS,	/* likewise, without the state: it is not to be told */
	PERF_MEMORY,	/* of the next sample with state, if its PC and RSP are those in *out */
	PERF_PRIVATE,	/* likewise: that one's state is not to be told */
	PERF_IGNORED,	/* of a known type, nothing to spool */
	PERF_UNKNOWN,	/* of a type that this version does not know */
	PERF_MALFORMED,
};
/* Pointers in *out go into `record`. */
enum perf_outcome perf_decode(const struct perf_format *format, struct bytes record,
			      struct spool_event *out);

#endif
