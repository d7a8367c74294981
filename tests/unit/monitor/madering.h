/* madering.h - perf.h with one ring that a test fills, and no kernel */
#ifndef TESTS_UNIT_MONITOR_MADERING_H
#define TESTS_UNIT_MONITOR_MADERING_H

#include <linux/perf_event.h>
#include <string.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "monitor/perf.h"
#include "monitor/perf_branches.h"
#include "monitor/perf_crash.h"

enum { SIZE = 4096 };

struct perf_set {
	uint8_t data[SIZE];
	uint64_t head, tail;
	struct perf_format format;
	struct lacks lacks;
	int ring_fd;			/* readable: half full */
	unsigned branches_hz;
	bool mapped, enabled, paused, came, guards;
	bool cannot_pause;
	char state[8];			/* what was asked for, in order: 1 or 0 */
	uint32_t late;			/* a sample of this task comes during a look; 0: none */
};

static uint64_t next_ns;

static struct wr begun(uint32_t type, uint16_t misc)
{
	struct wr w = { 0 };

	wr_u32(&w, type);
	wr_u16(&w, misc);
	wr_u16(&w, 0);
	return w;
}

static void put(struct perf_set *set, struct wr *w)
{
	uint16_t n = (uint16_t)w->n;

	memcpy(w->p + 6, &n, sizeof(n));
	assert_true(set->head + n - set->tail <= SIZE);
	for (size_t k = 0; k < n; k++)
		set->data[set->head++ % SIZE] = w->p[k];
	wr_free(w);
}

static struct wr begun_sample(uint32_t pid)
{
	struct wr w = begun(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	wr_u32(&w, pid);
	wr_u32(&w, pid);
	wr_u64(&w, next_ns++);
	return w;
}

/* A tick, in user mode or in a system call. */
static void put_sample(struct perf_set *set, uint32_t pid, bool kernel)
{
	struct wr w = begun_sample(pid);

	wr_u64(&w, PERF_SAMPLE_REGS_ABI_64);
	wr_u64(&w, kernel ? 0x1234 : 1);
	wr_u64(&w, 0x1234);
	put(set, &w);
}

static void put_state(struct perf_set *set, uint32_t pid)
{
	struct wr w = begun_sample(pid);

	wr_u64(&w, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 18; i++)
		wr_u64(&w, 0x7000 + i);
	put(set, &w);
}

static void put_crash(struct perf_set *set, uint32_t pid)
{
	struct wr w = begun_sample(pid);

	wr_u32(&w, PERF_CRASH_BYTES + 4);
	wr_u64(&w, PERF_CRASH_MAGIC);
	wr_u64(&w, 0x1234);
	wr_u32(&w, 11);
	wr_u32(&w, 1);
	wr_u64(&w, 0);
	wr_u32(&w, 0);
	put(set, &w);
}

static void put_branches(struct perf_set *set, uint32_t pid)
{
	struct wr w = begun_sample(pid);
	const struct spool_branch b = { .from = 0x1234, .to = 0x1000 };

	wr_u64(&w, PERF_BRANCHES_MARK);
	wr_u64(&w, 1);
	spool_branch_put(&w, &b);
	put(set, &w);
}

/* A sample without its registers. */
static void put_broken(struct perf_set *set)
{
	struct wr w = begun_sample(1);

	put(set, &w);
}

static void put_count(struct perf_set *set, uint32_t type, uint64_t count)
{
	struct wr w = begun(type, 0);

	wr_u64(&w, 1);
	wr_u64(&w, count);
	if (type == PERF_RECORD_THROTTLE)
		wr_u64(&w, 0);
	wr_u32(&w, 1);
	wr_u32(&w, 1);
	wr_u64(&w, next_ns++);
	put(set, &w);
}

const char *monitor_clock_name(enum monitor_clock clock)
{
	return clock == MONITOR_CLOCK_TICK ? "tick" : "?";
}

int perf_map(struct perf_set *set, struct err *err)
{
	(void)err;
	set->mapped = true;
	return 0;
}

int perf_enable(struct perf_set *set, struct err *err)
{
	(void)err;
	assert_true(set->mapped);
	set->enabled = true;
	return 0;
}

int perf_pause(struct perf_set *set, bool pause, struct err *err)
{
	if (set->cannot_pause)
		return err_set(err, ERR_SYS, "no pause");
	set->paused = pause;
	return 0;
}

int perf_set_state(struct perf_set *set, bool on, struct err *err)
{
	(void)err;
	assert_true(strlen(set->state) + 1 < sizeof(set->state));
	strcat(set->state, on ? "1" : "0");
	return 0;
}

unsigned perf_nring(const struct perf_set *set)
{
	(void)set;
	return 1;
}

int perf_ring_fd(const struct perf_set *set, unsigned i)
{
	(void)i;
	return set->ring_fd;
}

struct perf_ring perf_ring(const struct perf_set *set, unsigned i)
{
	(void)i;
	return (struct perf_ring){ set->data, SIZE, set->tail, set->head };
}

void perf_ring_consumed(struct perf_set *set, unsigned i, uint64_t tail)
{
	(void)i;
	assert_in_range(tail, set->tail, set->head);
	set->tail = tail;
	if (set->late)
		put_sample(set, set->late, false);
	set->late = 0;
}

bool perf_cpu_came(struct perf_set *set)
{
	return set->came;
}

const struct perf_format *perf_format(const struct perf_set *set)
{
	return &set->format;
}

enum monitor_clock perf_clock(const struct perf_set *set)
{
	(void)set;
	return MONITOR_CLOCK_TICK;
}

uint64_t perf_period_ns(const struct perf_set *set)
{
	(void)set;
	return 4000000;
}

const struct kernelnames *perf_names(const struct perf_set *set)
{
	(void)set;
	return NULL;
}

bool perf_tells_crashes(const struct perf_set *set)
{
	return set->format.crashes;
}

bool perf_guards(const struct perf_set *set)
{
	return set->guards;
}

unsigned perf_branches_hz(const struct perf_set *set)
{
	return set->branches_hz;
}

const struct lacks *perf_lacks(const struct perf_set *set)
{
	return &set->lacks;
}

#endif
