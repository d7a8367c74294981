/* perf.c - opens the kernel's sampling events: with perf_run.c, all system calls of perf
 *
 * Per CPU there are one to six events.  The first samples; its ring of 64 data pages holds 21
 * s of samples at 250 Hz.  The second, a dummy, never samples: it is there for the exec, mmap,
 * fork and exit records, also in a pause, which it writes into the first one's ring, so that
 * one CPU's records keep their order.  (Output can be led neither to another CPU's ring nor
 * into a ring that is not mapped yet: that is why perf_map() does it.)  Where a single process
 * is sampled there is no dummy, and the first event brings those records too: every fork copies
 * all events, and the fewer there are the less that costs.  The third is the first once more,
 * but takes all registers with each sample; one of the two is enabled at a time, the other
 * costs nothing.  It writes into the same ring: 6 s of samples, and no more memory.  Another,
 * if asked for, is what perf_crash.h writes through: its first record wakes the reader.  The
 * fifth is what perf_memory.h writes through, in front of the samples of the third.  The last
 * takes branch stacks (perf_branches.h), whatever the clock is.
 *
 * Ticks of all processes cost half as much by perf_sampler.h as by events: where that can be
 * had, the first and the third are those that it writes through, and sample nothing themselves.
 *
 * CLOCKS
 *   tick       the tracepoint of perf_tick.h, every hit that is a tick: no interrupt is added.
 *              The filter drops others and the idle task in the kernel.  Where in the kernel it
 *              was is told by the first entries of its call chain: 8 s of samples in a ring.
 *              Where ticks cannot be told, merge.h lets nothing out of what lies between two.
 *   cycles     the PMU, in frequency mode, as precise as it can.
 *   cpu-clock  a high-resolution timer per CPU with a prime period, so that it cannot march in
 *              step with what the program does periodically.
 * Times are CLOCK_MONOTONIC.  What is opened for a CPU ends when it goes offline, also if it
 * comes back, and needs privileges to be opened anew: perf_cpu_came() tells when that would be
 * worth while.
 */
#include "monitor/perf_impl.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "monitor/kernelnames.h"
#include "monitor/perf_branches.h"
#include "monitor/perf_crash.h"
#include "monitor/perf_memory.h"
#include "monitor/perf_sampler.h"
#include "monitor/perf_sysfs.h"

/* From the tracepoint to what its interrupt has interrupted; 6 on Linux 6.18, 4 by the
 * interrupt of all timers. */
enum { CHAIN_MAX = 8 };

static const char *const clock_names[] = { "auto", "tick", "cpu-clock", "cycles" };

const char *monitor_clock_name(enum monitor_clock clock)
{
	return clock_names[clock];
}

/* The least prime number that is not below n. */
static uint64_t prime_from(uint64_t n)
{
	for (;; n++) {
		bool prime = n > 1;

		for (uint64_t d = 2; prime && d * d <= n; d++)
			prime = n % d != 0;
		if (prime)
			return n;
	}
}

static struct perf_event_attr common_attr(const struct perf_options *options)
{
	bool one = options->pid != PERF_PID_ALL;

	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.inherit = one,
		.enable_on_exec = one,
		.exclude_kernel = options->user_only,
		.exclude_hv = 1,
		.exclude_idle = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = PERF_WATERMARK_BYTES,
	};
}

static void tell_tasks(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
}

static bool has_chains(void)
{
	char most[16];

	return sysfs_line("/proc/sys/kernel/perf_event_max_stack", most, sizeof(most)) == 0 &&
	       atoi(most) >= CHAIN_MAX;
}

/* Fills attr, set->format and set->period_ns for one clock. */
static int clock_attr(struct perf_set *set, const struct perf_options *options,
		      struct perf_event_attr *attr, struct err *err)
{
	struct kernelnames_range entry;

	*attr = common_attr(options);
	if (options->pid != PERF_PID_ALL)
		tell_tasks(attr);
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = UINT64_C(1) << PERF_REG_X86_IP;
	set->format = (struct perf_format){
		.ip = set->clock != MONITOR_CLOCK_TICK,
		.state = options->state != PERF_STATE_NEVER,
		.kernel_state = options->kernel_state,
		.stack = options->state != PERF_STATE_NEVER && options->stack_bytes,
	};
	set->period_ns = UINT64_C(1000000000) / options->rate_hz;
	switch (set->clock) {
	case MONITOR_CLOCK_TICK:
		if (perf_tick_find(set->names, &set->tick, err) < 0)
			return -1;
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = set->tick.id;
		attr->sample_period = 1;
		attr->exclude_hv = attr->exclude_idle = 0;	/* not for tracepoints */
		attr->sample_regs_user |= UINT64_C(1) << PERF_REG_X86_CX;
		set->format.user_cx = true;
		if (options->kernel_pcs && set->names && has_chains()) {
			attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
			attr->exclude_callchain_user = 1;
			attr->sample_max_stack = CHAIN_MAX;
			set->format.chain = true;
			entry = kernelnames_of(set->names, "asm_sysvec_apic_timer_interrupt");
			set->format.entry_start = entry.start;
			set->format.entry_end = entry.end;
		}
		set->period_ns = perf_tick_ns();
		/* a tick that came late does not take the next one away */
		if (!set->tick.handler)
			set->format.apart_ns = set->period_ns - set->period_ns / 16;
		return 0;
	case MONITOR_CLOCK_CYCLES:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		attr->freq = 1;
		attr->sample_freq = options->rate_hz;
		attr->precise_ip = 2;
		break;
	case MONITOR_CLOCK_CPU_CLOCK:
	case MONITOR_CLOCK_AUTO:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		set->period_ns = prime_from(set->period_ns);
		attr->sample_period = set->period_ns;
		break;
	}
	attr->sample_type |= PERF_SAMPLE_IP;
	return 0;
}

/* The same event, with all that a task holds in user mode. */
static struct perf_event_attr state_attr(const struct perf_event_attr *attr,
					 const struct perf_options *options)
{
	struct perf_event_attr a = *attr;

	a.sample_regs_user = PERF_STATE_REGS;
	/* else the registers are those behind the instruction at the PC */
	a.precise_ip = 0;
	if (options->stack_bytes) {
		a.sample_type |= PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = options->stack_bytes;
	}
	return a;
}

static int event_open(const struct perf_event_attr *attr, int pid, unsigned cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refused(unsigned cpu, const char *what, struct err *err)
{
	int why = errno;
	char level[32] = "?";

	if (why == ENOENT || why == EOPNOTSUPP)
		return err_set(err, ERR_SYS, "this machine has no such event (%s)", what);
	if (why != EACCES && why != EPERM)
		return err_set(err, ERR_SYS, "CPU %u: perf_event_open for %s: %s", cpu, what,
			       strerror(why));
	(void)sysfs_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	return err_set(err, ERR_SYS, "CPU %u: perf_event_open for %s: %s "
		       "(kernel.perf_event_paranoid is %s)", cpu, what, strerror(why), level);
}

static void close_cpu(struct perf_cpu *c)
{
	int fd[] = { c->sample_fd, c->state_fd, c->dummy_fd, c->crash_fd, c->memory_fd,
		     c->branch_fd };

	for (unsigned i = 0; i < 6; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	c->sample_fd = c->state_fd = c->dummy_fd = c->crash_fd = c->memory_fd = -1;
	c->branch_fd = -1;
}

/* One kind of event of all CPUs. */
static void close_all(struct perf_set *set, size_t member)
{
	for (unsigned i = 0; i < set->ncpu; i++) {
		int *fd = (int *)((char *)&set->cpu[i] + member);

		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

/* A sampling event as precise as the CPU can.  1: done; 0: the CPU went offline; -1. */
static int open_sampler(int *out, const struct perf_set *set, struct perf_event_attr *attr,
			unsigned cpu, const struct perf_options *options, struct err *err)
{
	char filter[PERF_TICK_FILTER] = "";
	int fd;

	if (set->clock == MONITOR_CLOCK_TICK)
		perf_tick_filter(&set->tick, options->pid == PERF_PID_ALL, filter);
	for (;;) {
		fd = event_open(attr, options->pid, cpu);
		if (fd >= 0 || !attr->precise_ip)
			break;
		attr->precise_ip--;
	}
	if (fd < 0)
		return errno == ENODEV ? 0 : refused(cpu, "the sampling event", err);
	if (*filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0) {
		err_set(err, ERR_SYS, "CPU %u: filter of the tick: %s", cpu, strerror(errno));
		close(fd);
		return -1;
	}
	*out = fd;
	return 1;
}

static int open_dummy(int *out, unsigned cpu, const struct perf_options *options,
		      struct err *err)
{
	struct perf_event_attr attr = common_attr(options);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	tell_tasks(&attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;	/* see is_dead() */
	int fd = event_open(&attr, options->pid, cpu);
	if (fd < 0)
		return refused(cpu, "exec and mmap records", err);
	*out = fd;
	return 1;
}

/* What BPF's records look like; `wakes`: each one wakes the reader. */
static struct perf_event_attr output_attr(const struct perf_set *set,
					  const struct perf_options *options, bool wakes)
{
	struct perf_event_attr attr = common_attr(options);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.sample_type |= PERF_SAMPLE_RAW | (set->format.ip ? PERF_SAMPLE_IP : 0);
	attr.sample_period = 1;
	attr.disabled = attr.inherit = attr.enable_on_exec = 0;
	attr.exclude_idle = attr.exclude_kernel = 0;
	if (wakes) {
		attr.watermark = 0;
		attr.wakeup_events = 1;
	}
	return attr;
}

static int open_output(unsigned cpu, const struct perf_event_attr *attr, struct err *err)
{
	int fd = event_open(attr, PERF_PID_ALL, cpu);

	return fd < 0 ? refused(cpu, "what BPF writes", err) : fd;
}

/* All events of one CPU.  1: done; 0: the CPU went offline; -1.  Below 1 nothing is left
 * open. */
static int open_cpu(const struct perf_set *set, struct perf_cpu *c, unsigned cpu,
		    struct perf_event_attr *attr, const struct perf_options *options,
		    struct err *err)
{
	struct perf_event_attr state = state_attr(attr, options);
	bool always = options->state == PERF_STATE_ALWAYS;

	*c = (struct perf_cpu){ .number = cpu,
				.sample_fd = -1, .state_fd = -1, .dummy_fd = -1, .crash_fd = -1,
				.memory_fd = -1, .branch_fd = -1 };
	int got = open_sampler(&c->sample_fd, set, always ? &state : attr, cpu, options, err);
	if (got > 0 && options->state == PERF_STATE_SWITCHED)
		got = open_sampler(&c->state_fd, set, &state, cpu, options, err);
	if (got > 0 && options->pid == PERF_PID_ALL)
		got = open_dummy(&c->dummy_fd, cpu, options, err);
	if (got <= 0)
		close_cpu(c);
	return got;
}

static int open_clock(struct perf_set *set, const struct perf_options *options,
		      const unsigned *cpu, unsigned ncpu, struct err *err)
{
	struct perf_event_attr attr;

	if (clock_attr(set, options, &attr, err) < 0)
		return -1;
	set->ncpu = 0;
	for (unsigned i = 0; i < ncpu; i++) {
		struct perf_cpu *c = &set->cpu[set->ncpu];

		int got = open_cpu(set, c, cpu[i], &attr, options, err);
		if (got >= 0) {
			set->ncpu += (unsigned)got;
			continue;
		}
		while (set->ncpu)
			close_cpu(&set->cpu[--set->ncpu]);
		return -1;
	}
	return set->ncpu ? 0 : err_set(err, ERR_SYS, "no CPU is online");
}

/* The events of a CPU that the program writes through. */
static int lead_program(const struct perf_set *set, unsigned cpu,
			const struct perf_options *options, int fd[2], struct err *err)
{
	struct perf_event_attr attr[2] = { output_attr(set, options, false) };

	attr[1] = state_attr(&attr[0], options);
	attr[1].sample_type |= PERF_SAMPLE_REGS_USER;
	for (unsigned state = 0; state <= (options->state == PERF_STATE_SWITCHED); state++) {
		fd[state] = open_output(cpu, &attr[state], err);
		if (fd[state] < 0 ||
		    perf_sampler_output(set->sampler, state, cpu, fd[state], err) < 0)
			return -1;
	}
	return 0;
}

/* In their places, or, when not `whole`, none. */
static void take_program(struct perf_set *set, int (*fd)[2], bool whole)
{
	for (unsigned i = 0; i < set->ncpu; i++) {
		int *sampler[2] = { &set->cpu[i].sample_fd, &set->cpu[i].state_fd };

		for (unsigned k = 0; k < 2; k++) {
			int old = whole ? *sampler[k] : fd[i][k];

			if (old >= 0)
				close(old);
			if (whole)
				*sampler[k] = fd[i][k];
		}
	}
	if (whole)
		return;
	perf_sampler_free(set->sampler);
	set->sampler = NULL;
}

/* Of ticks, on all CPUs or on none: a program instead of the events that sample. */
static void open_program(struct perf_set *set, const struct perf_options *options)
{
	const struct perf_sampler_options wanted = {
		.chain = set->format.chain, .state = options->state == PERF_STATE_SWITCHED,
		.memory = options->memory, .ncpu = set->cpu[set->ncpu - 1].number + 1,
	};
	int (*fd)[2] = memory_new(set->ncpu, sizeof(*fd));
	struct err why;
	bool ok;

	memset(fd, -1, set->ncpu * sizeof(*fd));
	set->sampler = perf_sampler_new(&set->tick, &wanted, &why);
	ok = set->sampler;
	for (unsigned i = 0; i < set->ncpu && ok; i++)
		ok = lead_program(set, set->cpu[i].number, options, fd[i], &why) == 0;
	ok = ok && perf_sampler_start(set->sampler, &why) == 0;
	take_program(set, fd, ok);
	free(fd);
	if (!ok) {
		lack_note(&set->lacks, "samples of ticks by BPF", why.text);
		return;
	}
	set->format.sampler = true;
	set->guards = wanted.state;
	set->reads_memory = wanted.state && options->memory;
}

static int open_memory(struct perf_set *set, struct perf_cpu *c,
		       const struct perf_options *options, struct err *err)
{
	int sampler = options->state == PERF_STATE_SWITCHED ? c->state_fd : c->sample_fd;
	struct perf_event_attr attr = output_attr(set, options, false);

	c->memory_fd = open_output(c->number, &attr, err);
	if (c->memory_fd < 0)
		return -1;
	if (perf_memory_output(set->memory, c->number, c->memory_fd, err) < 0)
		return -1;
	if (set->clock == MONITOR_CLOCK_TICK && c != set->cpu)
		return 0;		/* a tracepoint is all CPUs' */
	return perf_memory_attach(set->memory, sampler, err);
}

/* On all CPUs or on none. */
static void open_memories(struct perf_set *set, const struct perf_options *options)
{
	struct err why;
	int rc = -1;

	set->memory = perf_memory_new(set->clock == MONITOR_CLOCK_TICK ? &set->tick : NULL,
				      options->memory, set->cpu[set->ncpu - 1].number + 1,
				      &why);
	if (set->memory)
		rc = 0;
	for (unsigned i = 0; i < set->ncpu && rc == 0; i++)
		rc = open_memory(set, &set->cpu[i], options, &why);
	if (rc == 0) {
		set->format.memory = true;
		set->format.guarded = set->guards = options->guard;
		set->reads_memory = options->memory;
		perf_memory_switch(set->memory, options->state == PERF_STATE_ALWAYS);
		return;
	}
	lack_add(&set->lacks, LACK_MEMORY, why.text);
	close_all(set, offsetof(struct perf_cpu, memory_fd));
	perf_memory_free(set->memory);
	set->memory = NULL;
}

static int open_crash(struct perf_set *set, struct perf_cpu *c,
		      const struct perf_options *options, struct err *err)
{
	struct perf_event_attr attr = output_attr(set, options, true);

	c->crash_fd = open_output(c->number, &attr, err);
	if (c->crash_fd < 0)
		return -1;
	return perf_crash_output(set->crash, c->number, c->crash_fd, err);
}

/* The event of the tracepoint, never enabled, is only what the program hangs on. */
static int attach_crash(struct perf_set *set, const struct perf_options *options,
			struct err *err)
{
	struct perf_event_attr attr = common_attr(options);
	uint64_t id;

	if (sysfs_tracepoint("signal/signal_deliver", &id, err) < 0)
		return -1;
	set->crash = perf_crash_new(set->cpu[set->ncpu - 1].number + 1, err);
	if (!set->crash)
		return -1;
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.sample_period = 1;
	attr.exclude_hv = attr.exclude_idle = 0;	/* not for tracepoints */
	set->signal_fd = event_open(&attr, PERF_PID_ALL, set->cpu[0].number);
	if (set->signal_fd < 0)
		return refused(set->cpu[0].number, "signal:signal_deliver", err);
	return perf_crash_attach(set->crash, set->signal_fd, err);
}

static void close_crashes(struct perf_set *set)
{
	close_all(set, offsetof(struct perf_cpu, crash_fd));
	if (set->signal_fd >= 0)
		close(set->signal_fd);
	set->signal_fd = -1;
	perf_crash_free(set->crash);
	set->crash = NULL;
}

/* On all CPUs or on none: a crash that is not told would look like none. */
static void open_crashes(struct perf_set *set, const struct perf_options *options)
{
	struct err why;
	int rc = attach_crash(set, options, &why);

	for (unsigned i = 0; i < set->ncpu && rc == 0; i++)
		rc = open_crash(set, &set->cpu[i], options, &why);
	if (rc == 0) {
		set->format.crashes = true;
		return;
	}
	lack_add(&set->lacks, LACK_CRASHES, why.text);
	close_crashes(set);
}

/* On all CPUs or on none, by the first kind of event that the processor has.  The reason is
 * that of the first kind, which most have. */
static void open_branches(struct perf_set *set, const struct perf_options *options)
{
	struct err why = { 0 }, last;

	for (unsigned kind = 0; kind < PERF_BRANCHES_KINDS && !set->branches_hz; kind++) {
		struct perf_event_attr attr = common_attr(options);
		unsigned i = 0;

		perf_branches_attr(kind, options->branches_hz, set->format.ip, &attr);
		for (; i < set->ncpu; i++) {
			struct perf_cpu *c = &set->cpu[i];

			c->branch_fd = event_open(&attr, options->pid, c->number);
			if (c->branch_fd >= 0)
				continue;
			refused(c->number, "branch stacks", kind ? &last : &why);
			break;
		}
		if (i == set->ncpu)
			set->branches_hz = options->branches_hz;
		else
			close_all(set, offsetof(struct perf_cpu, branch_fd));
	}
	set->format.branches = set->branches_hz > 0;
	if (!set->branches_hz)
		lack_add(&set->lacks, LACK_BRANCHES, why.text);
}

/* For what a tick has interrupted, and to tell ticks. */
static void read_names(struct perf_set *set, const struct perf_options *options)
{
	struct err why;

	if (options->user_only ||
	    (!options->kernel_pcs && options->clock != MONITOR_CLOCK_AUTO &&
	     options->clock != MONITOR_CLOCK_TICK))
		return;
	int fd = kernelnames_open(&why);
	set->names = fd < 0 ? NULL : kernelnames_read(fd, &why);
	if (!set->names && options->kernel_pcs)
		lack_add(&set->lacks, LACK_KERNEL, why.text);
}

/* Names that only ticks were told by. */
static void forget_unasked(struct perf_set *set, const struct perf_options *options)
{
	if (options->kernel_pcs)
		return;
	kernelnames_free(set->names);
	set->names = NULL;
}

struct perf_set *perf_open(const struct perf_options *options, struct err *err)
{
	static const enum monitor_clock best[] = {
		MONITOR_CLOCK_TICK, MONITOR_CLOCK_CYCLES, MONITOR_CLOCK_CPU_CLOCK
	};
	static unsigned cpu[SYSFS_MAX_CPU];
	bool automatic = options->clock == MONITOR_CLOCK_AUTO;
	struct err why;

	if (sysfs_check_rate(options->rate_hz, PERF_RATE_MAX, err) < 0)
		return NULL;
	int ncpu = sysfs_online(cpu, SYSFS_MAX_CPU, err);
	if (ncpu < 0)
		return NULL;
	struct perf_set *set = calloc(1, sizeof(*set));
	if (set)
		set->signal_fd = -1;
	if (set)
		set->cpu = calloc((size_t)ncpu + 1, sizeof(*set->cpu));
	if (!set || !set->cpu) {
		free(set);
		err_set(err, ERR_SYS, "out of memory");
		return NULL;
	}
	set->data_pages = options->data_pages ? options->data_pages :
			  options->memory ? PERF_MEMORY_DATA_PAGES : PERF_DATA_PAGES;
	set->online_fd = open(sysfs_online_path, O_RDONLY | O_CLOEXEC);
	read_names(set, options);
	for (unsigned i = 0; i < 3; i++) {
		set->clock = best[i];
		if (!automatic && options->clock != best[i])
			continue;
		if (set->clock == MONITOR_CLOCK_TICK && options->user_only)
			err_set(&why, ERR_SYS, "needs privileges");
		else if (open_clock(set, options, cpu, (unsigned)ncpu, &why) == 0) {
			if (set->clock == MONITOR_CLOCK_TICK && !set->tick.handler)
				lack_add(&set->lacks, LACK_TIMERS, set->tick.untold.text);
			forget_unasked(set, options);
			if (set->tick.handler && options->pid == PERF_PID_ALL &&
			    options->state != PERF_STATE_ALWAYS)
				open_program(set, options);
			if (options->crashes)
				open_crashes(set, options);
			if (!set->sampler && (options->memory || options->guard) &&
			    options->state != PERF_STATE_NEVER)
				open_memories(set, options);
			if (options->branches_hz)
				open_branches(set, options);
			return set;
		}
		if (set->clock == MONITOR_CLOCK_CPU_CLOCK)
			lack_note(&set->lacks, clock_names[best[i]], why.text);
		else
			lack_add(&set->lacks, set->clock == MONITOR_CLOCK_TICK ? LACK_TICK
									       : LACK_CYCLES,
				 why.text);
	}
	err_set(err, ERR_SYS, "no sampling clock: %s", set->lacks.note);
	perf_close(set);
	return NULL;
}

void perf_close(struct perf_set *set)
{
	if (!set)
		return;
	perf_unmap(set);
	for (unsigned i = 0; i < set->ncpu; i++)
		close_cpu(&set->cpu[i]);
	perf_memory_free(set->memory);
	perf_sampler_free(set->sampler);
	close_crashes(set);
	if (set->online_fd >= 0)
		close(set->online_fd);
	kernelnames_free(set->names);
	free(set->cpu);
	free(set);
}

