/* monitor.c - the Monitor's loop: takes records from the kernel's rings and writes the spool
 *
 * It sleeps in poll(2) until a ring is half full, `drain_s` has passed, or the parent says
 * something.  A drain is two looks at the rings, SETTLE_MS apart: by the finished-round rule of
 * merge.h the second lets out what the first has seen.  A block that is not full is written
 * when it is FLUSH_S old, so that a killed Monitor loses little.
 *
 * A sample that brings the state of its task is written twice: without the state to the spool
 * on disk, with it to a spool in memory, which the answer to FLUSH carries away.  When the one
 * in memory is full, registers are switched off until it is taken, because they would be lost.
 *
 * Sampling is on before the maps of the running processes are opened, and their events get an
 * earlier time: if a process maps or executes something in between, a later record says so.
 *
 * Tested by tests/unit/monitor/test_monitor.c.
 */
#include "monitor/monitor.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "lib/secret.h"
#include "monitor/kernelnames.h"
#include "monitor/merge.h"
#include "monitor/mono.h"
#include "monitor/private.h"
#include "monitor/procmaps.h"
#include "monitor/proctree.h"
#include "monitor/statespool.h"

enum { SETTLE_MS = 20, FLUSH_S = 60 };	/* chosen, not measured */
enum { TELL_MAX = 1000 };	/* bytes of WATCHING's text */
static_assert((int)NLACK * (int)LACK_WHY_MAX <= (int)TELL_MAX, "all reasons fit");

struct monitor {
	struct perf_set *set;
	const struct monitor_options *options;
	struct merge *merge;
	struct proctree *own;
	struct spool_writer *writer;
	struct statespool *states;
	struct private *private;	/* NULL: the kernel tells */
	struct private *private_stack;	/* whose branch stacks are not kept; NULL: none come */
	bool registers;			/* wanted */
	bool full;			/* `states` had no room for the last one */
	struct pollfd *fd;		/* [0] the parent, then the rings */
	struct monitor_counts counts;
	/* of the spool since the last FLUSH; kind ERR_NONE: none */
	struct err trouble;
	uint64_t start_ns, drain_ns, flush_ns;	/* sampling, last drain, last spool_flush() */
	bool crashed;			/* since the parent was told last */
	bool end;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void spool_failed(struct monitor *m, const struct err *err)
{
	m->counts.write_errors++;
	m->trouble = *err;
}

static void on_event(void *ctx, const struct spool_event *event)
{
	struct monitor *m = ctx;
	struct spool_event plain = *event;
	const struct spool_event *ev = &plain;
	struct err err;

	if (proctree_event(m->own, ev)) {
		m->counts.own += ev->kind == SPOOL_SAMPLE;
		return;
	}
	/* which way a program that holds keys went is as secret as they are */
	if (ev->kind == SPOOL_BRANCHES && private_is(m->private_stack, ev->pid))
		return;
	if (ev->kind == SPOOL_SAMPLE)
		m->counts.kernel += ev->sample.kernel;
	else if (ev->kind == SPOOL_LOST)
		m->counts.lost += ev->lost;
	else if (ev->kind == SPOOL_THROTTLE)
		m->counts.throttled += ev->lost;
	m->crashed |= ev->kind == SPOOL_CRASH;
	if (ev->kind == SPOOL_SAMPLE && ev->sample.has_state) {
		if (!private_is(m->private, ev->pid))
			m->full = !statespool_put(m->states, ev);
		plain.sample.has_state = false;
	}
	kernelnames_tell(perf_names(m->set), &plain);
	if (spool_write(m->writer, &plain, &err) < 0)
		spool_failed(m, &err);
}

/* As wanted, as long as there is room. */
static int switch_registers(struct monitor *m, struct err *err)
{
	bool on = m->registers && !m->full;

	if (!m->options->switched || on == m->counts.registers)
		return 0;
	m->counts.registers = on;
	return perf_set_state(m->set, on, err);
}

static bool look(struct monitor *m, bool all)
{
	unsigned n = perf_nring(m->set);

	for (unsigned i = 0; i < n; i++) {
		struct perf_ring ring = perf_ring(m->set, i);

		merge_look(m->merge, i, &ring);
	}
	bool held = merge_round(m->merge, all, on_event, m);
	for (unsigned i = 0; i < n; i++)
		perf_ring_consumed(m->set, i, merge_tail(m->merge, i));
	return held;
}

static void drain(struct monitor *m, bool all)
{
	const struct timespec settle = { 0, SETTLE_MS * 1000000L };

	if (look(m, false)) {
		(void)nanosleep(&settle, NULL);	/* woken early, less goes out now */
		(void)look(m, all);
	}
	merge_rest(m->merge);
	private_forget(m->private);
	private_forget(m->private_stack);
	secret_wipe_stack();
	m->drain_ns = now_ns();
}

static void flush(struct monitor *m, bool rotate)
{
	struct err err;

	if (spool_flush(m->writer, rotate, &err) < 0)
		spool_failed(m, &err);
	m->flush_ns = now_ns();
}

static void fill_counts(struct monitor *m)
{
	const struct merge_counts *merged = merge_counts(m->merge);

	spool_writer_counts(m->writer, &m->counts.spool);
	m->counts.samples = m->counts.spool.samples;
	m->counts.unknown = merged->unknown;
	m->counts.malformed = merged->malformed;
	m->counts.late = merged->late;
	m->counts.states = statespool_states(m->states);
	m->counts.states_private = merged->private + private_found(m->private);
	m->counts.stacks_private = private_found(m->private_stack);
	m->counts.states_dropped = statespool_dropped(m->states);
}

static int send_counts(struct monitor *m, struct err *err)
{
	const struct monitor_counts *c = &m->counts;
	struct msg msg = { .type = MSG_MONITOR_COUNTS };

	fill_counts(m);
	msg.num[MSG_MONITOR_COUNTS_samples] = c->samples;
	msg.num[MSG_MONITOR_COUNTS_events] = c->spool.events;
	msg.num[MSG_MONITOR_COUNTS_lost] = c->lost;
	msg.num[MSG_MONITOR_COUNTS_throttled] = c->throttled;
	msg.num[MSG_MONITOR_COUNTS_spool_bytes] = c->spool.bytes;
	msg.num[MSG_MONITOR_COUNTS_files_dropped] = c->spool.files_dropped;
	msg.num[MSG_MONITOR_COUNTS_samples_dropped] = c->spool.samples_dropped;
	msg.num[MSG_MONITOR_COUNTS_paused] = c->paused;
	msg.num[MSG_MONITOR_COUNTS_unknown] = c->unknown;
	msg.num[MSG_MONITOR_COUNTS_malformed] = c->malformed;
	msg.num[MSG_MONITOR_COUNTS_late] = c->late;
	msg.num[MSG_MONITOR_COUNTS_states] = c->states;
	msg.num[MSG_MONITOR_COUNTS_states_dropped] = c->states_dropped;
	msg.num[MSG_MONITOR_COUNTS_registers] = c->registers;
	msg.num[MSG_MONITOR_COUNTS_states_private] = c->states_private;
	msg.num[MSG_MONITOR_COUNTS_branches_hz] = perf_branches_hz(m->set);
	msg.num[MSG_MONITOR_COUNTS_stacks] = c->spool.stacks;
	msg.num[MSG_MONITOR_COUNTS_stacks_private] = c->stacks_private;
	strcpy(msg.text, monitor_clock_name(perf_clock(m->set)));
	return msg_send(m->options->command_fd, &msg, err);
}

static int send_flushed(struct monitor *m, struct err *err)
{
	struct msg msg = { .type = MSG_FLUSHED };
	int fd = statespool_take(m->states);

	if (fd >= 0)
		msg.fd[msg.nfd++] = fd;
	if (m->trouble.kind != ERR_NONE) {
		msg.num[MSG_FLUSHED_status] = 1;
		strcpy(msg.text, m->trouble.text);
		m->trouble.kind = ERR_NONE;
	}
	int rc = msg_send(m->options->command_fd, &msg, err);
	if (fd >= 0)
		close(fd);
	m->full = false;
	return rc < 0 ? -1 : switch_registers(m, err);
}

static int on_message(struct monitor *m, const struct msg *msg, struct err *err)
{
	switch (msg->type) {
	case MSG_SET_PAUSE:
		if (perf_pause(m->set, msg->num[MSG_SET_PAUSE_on], err) < 0)
			return -1;
		m->counts.paused = msg->num[MSG_SET_PAUSE_on];
		return send_counts(m, err);
	case MSG_SET_REGISTERS:
		m->registers = msg->num[MSG_SET_REGISTERS_on];
		if (switch_registers(m, err) < 0)
			return -1;
		return send_counts(m, err);
	case MSG_END:
		m->end = true;
		m->registers = false;
		if (perf_pause(m->set, true, err) < 0)
			return -1;
		/* fall through */
	default:		/* FLUSH: the table lets nothing else through */
		drain(m, m->end);
		flush(m, true);
		return send_counts(m, err) < 0 ? -1 : send_flushed(m, err);
	}
}

/* The parent said something, or ended. */
static int on_parent(struct monitor *m, struct err *err)
{
	struct msg msg = { 0 };
	int rc = msg_receive(m->options->command_fd, MSG_ROLE_PARENT, MSG_ROLE_MONITOR, &msg,
			     err);

	if (rc > 0) {
		msg_close_fds(&msg);
		return on_message(m, &msg, err);
	}
	if (rc < 0 && err->kind == ERR_INPUT)
		return err_wrap(err, "from the parent");
	if (rc < 0) {
		m->end = true;
		drain(m, true);
		flush(m, true);
	}
	return 0;
}

/* Unasked, so never waits: a parent that has no time now hears more the next time. */
static int tell_parent(struct monitor *m, struct err *err)
{
	struct pollfd p = { m->options->command_fd, POLLOUT, 0 };

	if (poll(&p, 1, 0) != 1 || p.revents != POLLOUT)
		return 0;
	if (m->crashed) {
		m->crashed = false;
		if (msg_send(m->options->command_fd, &(struct msg){ .type = MSG_CRASHED },
			     err) < 0)
			return -1;
	}
	return send_counts(m, err);
}

/* Ends, so that the parent starts another one, which samples all CPUs. */
static void begin_anew(struct monitor *m)
{
	m->end = m->counts.cpu_came = true;
	drain(m, true);
	flush(m, true);
}

static int loop(struct monitor *m, struct err *err)
{
	unsigned n = perf_nring(m->set);
	uint64_t drain_every = (uint64_t)m->options->drain_s * 1000000000;

	while (!m->end) {
		uint64_t now = now_ns(), due = m->drain_ns + drain_every;
		int wait_ms = due > now ? (int)((due - now) / 1000000) + 1 : 0;
		bool full = false;

		if (poll(m->fd, n + 1, wait_ms) < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, "poll: %s", strerror(errno));
		for (unsigned i = 1; i <= n; i++) {
			full |= m->fd[i].revents & POLLIN;
			if (m->fd[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				/* its CPU has gone; the rest is drained */
				m->fd[i].fd = -1;
		}
		if (full || now_ns() >= due) {
			drain(m, false);
			if (switch_registers(m, err) < 0)
				return -1;
			if (m->drain_ns - m->flush_ns >= FLUSH_S * UINT64_C(1000000000))
				flush(m, false);
			if (tell_parent(m, err) < 0)
				return -1;
			if (perf_cpu_came(m->set))
				begin_anew(m);
		}
		if (m->fd[0].revents && on_parent(m, err) < 0)
			return -1;
	}
	return 0;
}

static int tell_watching(struct monitor *m, struct err *err)
{
	struct msg msg = { .type = MSG_WATCHING };
	size_t n = 0;

	msg.num[MSG_WATCHING_crashes] = perf_tells_crashes(m->set);
	for (int i = 0; i < NLACK; i++)			/* all of them fit */
		n += (size_t)snprintf(msg.text + n, sizeof(msg.text) - n, "%s\n",
				      perf_lacks(m->set)->why[i]);
	return msg_send(m->options->command_fd, &msg, err);
}

int monitor_tell_failure(int command_fd, const char *why, struct err *err)
{
	struct msg msg = { .type = MSG_WATCHING };

	static_assert(LACK_SAMPLING == 0, "its line is the first");
	(void)snprintf(msg.text, TELL_MAX, "%s", why);	/* or its beginning */
	return msg_send(command_fd, &msg, err);
}

static int start_sampling(struct monitor *m, struct err *err)
{
	if (perf_map(m->set, err) < 0)
		return -1;
	m->start_ns = mono_now_ns(mono_shift_ns());
	if (perf_enable(m->set, err) < 0)
		return -1;
	m->counts.paused = m->options->paused;
	return m->options->paused ? perf_pause(m->set, true, err) : 0;
}

/* What needs no privileges any more. */
static int start_spool(struct monitor *m, struct procmaps *maps, struct err *err)
{
	const struct monitor_options *o = m->options;
	uint32_t self = (uint32_t)getpid();
	unsigned n = perf_nring(m->set);

	m->merge = merge_new(n, perf_format(m->set));
	m->own = proctree_new();
	m->private = o->switched && !perf_guards(m->set) ? private_new() : NULL;
	m->private_stack = perf_branches_hz(m->set) ? private_new() : NULL;
	m->states = statespool_new(monitor_clock_name(perf_clock(m->set)),
				   perf_period_ns(m->set), o->states_max_bytes);
	m->fd = calloc(n + 1, sizeof(*m->fd));
	if (!m->own || !m->fd || !m->states)
		return err_set(err, ERR_SYS, "out of memory");
	proctree_add(m->own, self);
	for (unsigned i = 0; i < o->nown_pid; i++)
		proctree_add(m->own, o->own_pid[i]);
	proctree_add_children(m->own);
	m->fd[0] = (struct pollfd){ o->command_fd, POLLIN, 0 };
	for (unsigned i = 0; i < n; i++)
		m->fd[i + 1] = (struct pollfd){ perf_ring_fd(m->set, i), POLLIN, 0 };
	m->writer = spool_writer_new(o->spool_dirfd, monitor_clock_name(perf_clock(m->set)),
				     perf_period_ns(m->set), o->spool_max_bytes, err);
	if (!m->writer)
		return -1;
	m->counts.processes_missed = procmaps_missed(maps);
	struct err strange;
	if (procmaps_emit(maps, m->start_ns, on_event, m, &strange) < 0)
		m->counts.malformed++;
	m->drain_ns = m->flush_ns = now_ns();
	m->registers = o->registers;
	return switch_registers(m, err);
}

int monitor_run(struct perf_set *set, const struct monitor_options *options,
		struct monitor_counts *counts, struct err *err)
{
	struct monitor m = { .set = set, .options = options };
	struct procmaps *maps = NULL;
	int rc = start_sampling(&m, err);

	if (rc == 0 && !(maps = procmaps_open(err)))
		rc = -1;
	if (rc == 0 && options->confine)
		rc = options->confine(options->confine_ctx, err);
	if (rc == 0)
		rc = start_spool(&m, maps, err);
	procmaps_free(maps);
	if (rc == 0)
		rc = tell_watching(&m, err);
	if (rc == 0)
		rc = loop(&m, err);
	if (m.writer)
		fill_counts(&m);
	if (counts)
		*counts = m.counts;
	spool_writer_free(m.writer);
	statespool_free(m.states);
	private_free(m.private);
	private_free(m.private_stack);
	merge_free(m.merge);
	proctree_free(m.own);
	free(m.fd);
	return rc;
}
