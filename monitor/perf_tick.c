/* perf_tick.c - which tracepoint the scheduler's ticks meet; see perf_tick.h
 *
 * A kernel whose tick is no high-resolution timer has the handler, but never runs it as one:
 * so the filtered event has to count ticks here and now before it is relied on.
 *
 * Tested by tests/unit/monitor/test_perf_tick.c.
 */
#include "monitor/perf_tick.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/kernelnames.h"
#include "monitor/perf_sysfs.h"

enum { TRIED_TICKS = 6 };		/* chosen: of which one is seen for sure */

/* What it was called until Linux 6.7, in 6.8, and since. */
static const char *const handler_names[] = {
	"tick_sched_timer", "tick_nohz_highres_handler", "tick_nohz_handler"
};

uint64_t perf_tick_ns(void)
{
	struct timespec res;

	/* the coarse clock advances by one tick */
	(void)clock_getres(CLOCK_MONOTONIC_COARSE, &res);
	return (uint64_t)res.tv_nsec;
}

void perf_tick_filter(const struct perf_tick *t, bool but_idle, char out[PERF_TICK_FILTER])
{
	const char *idle = but_idle ? "common_pid != 0" : "";

	if (t->handler)
		(void)snprintf(out, PERF_TICK_FILTER, "%s%sfunction == 0x%llx", idle,
			       but_idle ? " && " : "", (unsigned long long)t->handler);
	else
		(void)snprintf(out, PERF_TICK_FILTER, "%s", idle);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Is it met by ticks that meet us?  Busy for some of them. */
static bool is_met(const struct perf_tick *t, struct err *why)
{
	struct perf_event_attr attr;
	char filter[PERF_TICK_FILTER];
	uint64_t count = 0;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = t->id;
	attr.disabled = 1;		/* until it has its filter */
	perf_tick_filter(t, false, filter);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		err_set(why, ERR_SYS, "the tick's timer: %s", strerror(errno));
	} else {
		/* opening it may have taken longer than that */
		uint64_t end = cpu_ns() + TRIED_TICKS * perf_tick_ns();

		while (cpu_ns() < end)
			;
		if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count) || !count)
			err_set(why, ERR_SYS, "the tick is not one timer of many here");
	}
	if (fd >= 0)
		close(fd);
	return count > 0;
}

/* Fills *out with the timer's tracepoint if that tells ticks. */
static bool tells_ticks(const struct kernelnames *names, struct perf_tick *out)
{
	struct perf_tick t = { .handler = 0 };
	struct err *why = &out->untold;

	for (unsigned i = 0; names && i < 3 && !t.handler; i++)
		t.handler = kernelnames_of(names, handler_names[i]).start;
	if (!t.handler) {
		err_set(why, ERR_SYS, "where the tick's handler is cannot be seen");
		return false;
	}
	if (sysfs_tracepoint("timer/hrtimer_expire_entry", &t.id, why) < 0 || !is_met(&t, why))
		return false;
	*out = t;
	return true;
}

int perf_tick_find(const struct kernelnames *names, struct perf_tick *out, struct err *err)
{
	*out = (struct perf_tick){ .handler = 0 };
	if (tells_ticks(names, out))
		return 0;
	return sysfs_tracepoint("irq_vectors/local_timer_entry", &out->id, err);
}
