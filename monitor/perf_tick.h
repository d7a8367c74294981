/* perf_tick.h - which tracepoint the scheduler's ticks meet, and how they are told from others
 *
 * irq_vectors:local_timer_entry is met by every timer's interrupt: by those that programs wait
 * for and by other profilers' as well, ten thousand times a second where somebody asks for it.
 * Where the kernel keeps its tick as one timer of many and shows where its procedures are,
 * timer:hrtimer_expire_entry with the tick's handler is met by ticks alone.
 */
#ifndef MONITOR_PERF_TICK_H
#define MONITOR_PERF_TICK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct kernelnames;

enum {
	PERF_TICK_FILTER = 80,		/* bytes, with the NUL */
	PERF_TICK_HANDLER_AT = 24,	/* in that tracepoint's data */
};

struct perf_tick {
	uint64_t id;			/* of the tracepoint */
	uint64_t handler;		/* in hits that are ticks; 0: any hit may be one */
	struct err untold;		/* then why */
};

/* names == NULL: none are known.  -1: there is no tick.  Takes some ticks of CPU time, and
 * privileges. */
int perf_tick_find(const struct kernelnames *names, struct perf_tick *out, struct err *err);
/* For PERF_EVENT_IOC_SET_FILTER: ticks, or with `but_idle` those that meet no idle task.  "":
 * all hits. */
void perf_tick_filter(const struct perf_tick *t, bool but_idle, char out[PERF_TICK_FILTER]);

uint64_t perf_tick_ns(void);		/* from one tick to the next */

#endif
