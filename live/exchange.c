/* exchange.c - one mapping of text for another, in a process that is stopped for it
 *
 * ORDER     socketpair, recvmsg: the descriptor is in the process.  mmap of what is new, where
 *           nothing may be; mmap over the text, which is the change.  close.  What fails in
 *           front of the change is taken back.  A tracer that dies leaves at worst mappings
 *           that nothing leads to, and up to three descriptors that close on exec.
 *
 * TIME      Each call waits for the thread to get a CPU, twice.  So there are few of them; and
 *           where the pause is over before the first mapping, it is left for another time.
 *           From there on there is less to do forward than back.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/clock.h"
#include "live/filter.h"
#include "live/frozen.h"
#include "live/maps.h"
#include "live/moment.h"
#include "live/process.h"
#include "live/remote.h"
#include "live/splice.h"
#include "live/threads.h"

enum { LOOK_NS = 1000000, LATER_NS = 20000000 };

struct work {
	const struct live_exchange *x;
	struct live_threads threads;
	struct live_maps maps;		/* as they are while it is stopped */
	struct live_places places;
	struct live_remote remote;
	struct live_filters filters;
	int mem;
	int pair[2], copy;		/* descriptors in the process */
	uint64_t late_ns;		/* when the pause should be over */
	uint32_t nadded;
	bool changed;
	struct err *err;
};

/* A filter may end the process for a call, so it is not made. */
static int check_filters(struct work *w, long nr, const uint64_t arg[6], const char *name)
{
	enum { SYSCALL_BYTES = 2 };

	if (live_filters_allow(&w->filters, nr, arg, w->places.call + SYSCALL_BYTES))
		return LIVE_DONE;
	return err_set(w->err, ERR_REFUSED, "it filters its system calls (seccomp) and cannot "
		       "%s", name);
}

static int call(struct work *w, long nr, const uint64_t arg[6], const char *name,
		int64_t *result)
{
	if (check_filters(w, nr, arg, name) < 0 ||
	    live_remote_call(&w->remote, nr, arg, result, w->err) < 0)
		return LIVE_FAILED;
	if (*result < 0 && *result >= -4095)
		return err_set(w->err, *result == -EACCES || *result == -EPERM ? ERR_REFUSED :
			       ERR_SYS, "the process cannot %s: %s", name,
			       strerror((int)-*result));
	return LIVE_DONE;
}

static int fetch(struct work *w, uint64_t addr, void *to, size_t n)
{
	if (pread(w->mem, to, n, (off_t)addr) != (ssize_t)n)
		return err_set(w->err, ERR_SYS, "its memory: %s", strerror(errno));
	return 0;
}

static int store(struct work *w, uint64_t addr, const void *from, size_t n)
{
	if (pwrite(w->mem, from, n, (off_t)addr) != (ssize_t)n)
		return err_set(w->err, ERR_SYS, "its memory: %s", strerror(errno));
	return 0;
}

/* Sends the descriptor to the other end of the process's pair. */
static int send_descriptor(struct work *w)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &w->x->to, sizeof(int));
	int end = (int)syscall(SYS_pidfd_getfd, w->threads.pidfd, w->pair[1], 0);
	ssize_t n = end < 0 ? -1 : sendmsg(end, &msg, MSG_NOSIGNAL);
	if (n != 1)
		err_set(w->err, ERR_SYS, "a descriptor for the process: %s", strerror(errno));
	if (end >= 0)
		close(end);
	return n == 1 ? 0 : -1;
}

/* Has the process receive it: in w->copy. */
static int receive(struct work *w)
{
	enum { PAIR = 0, MSG = 64, IOV = 128, BYTE = 144, CONTROL = 192 };
	uint64_t data = w->remote.data;
	struct iovec iov = { (void *)(uintptr_t)(data + BYTE), 1 };
	struct msghdr msg = { .msg_iov = (void *)(uintptr_t)(data + IOV), .msg_iovlen = 1,
			      .msg_control = (void *)(uintptr_t)(data + CONTROL),
			      .msg_controllen = CMSG_SPACE(sizeof(int)) };
	int64_t result;

	if (call(w, SYS_socketpair,
		 (uint64_t[6]){ AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, data + PAIR },
		 "make sockets", &result) < 0 ||
	    fetch(w, data + PAIR, w->pair, sizeof(w->pair)) < 0 || send_descriptor(w) < 0 ||
	    store(w, data + MSG, &msg, sizeof(msg)) < 0 ||
	    store(w, data + IOV, &iov, sizeof(iov)) < 0 ||
	    call(w, SYS_recvmsg, (uint64_t[6]){ (uint64_t)w->pair[0], data + MSG,
						MSG_CMSG_CLOEXEC | MSG_DONTWAIT },
		 "receive a descriptor", &result) < 0 ||
	    fetch(w, data + MSG, &msg, sizeof(msg)) < 0)
		return LIVE_FAILED;
	if (msg.msg_controllen < CMSG_LEN(sizeof(int)))
		return err_set(w->err, ERR_SYS, "the process has no room for a descriptor");
	return fetch(w, data + CONTROL + CMSG_LEN(0), &w->copy, sizeof(w->copy));
}

static int map(struct work *w, const struct live_new *s, int flags)
{
	int64_t result;

	if (s->counters)
		return call(w, SYS_mmap, (uint64_t[6]){ s->addr, s->size,
			    PROT_READ | PROT_WRITE,
			    (uint64_t)(MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | flags),
			    (uint64_t)-1 }, "map memory", &result);
	return call(w, SYS_mmap, (uint64_t[6]){ s->addr, s->size,
		    (uint64_t)(PROT_READ | (s->exec ? PROT_EXEC : 0)),
		    (uint64_t)(MAP_PRIVATE | flags), (uint64_t)w->copy, s->offset },
		    "map the file", &result);
}

/* Where their numbers follow each other, as they mostly do, one call closes all three. */
static bool close_at_once(struct work *w)
{
	int64_t result;

	return w->pair[0] >= 0 && w->pair[1] == w->pair[0] + 1 && w->copy == w->pair[1] + 1 &&
	       call(w, SYS_close_range, (uint64_t[6]){ (uint64_t)w->pair[0],
		    (uint64_t)w->copy, 0 }, "close", &result) == LIVE_DONE;
}

/* Closes what was opened there, and unless the text was changed unmaps what was new. */
static void tidy(struct work *w)
{
	const int fds[] = { w->copy, w->pair[0], w->pair[1] };
	struct err ignored, *err = w->err;
	int64_t result;

	w->err = &ignored;	/* the process goes on either way */
	for (uint32_t i = 0; i < w->nadded && !w->changed; i++)
		(void)call(w, SYS_munmap, (uint64_t[6]){ w->x->add[i].addr,
			   w->x->add[i].size }, "unmap", &result);
	bool closed = close_at_once(w);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0 && !closed)
			(void)call(w, SYS_close, (uint64_t[6]){ (uint64_t)fds[i] }, "close",
				   &result);
	w->err = err;
}

static int in_time(struct work *w)
{
	if (live_clock_ns() < w->late_ns)
		return LIVE_DONE;
	err_set(w->err, ERR_REFUSED, "its main thread does not come to a CPU in time");
	return LIVE_NOT_NOW;
}

static int change(struct work *w)
{
	const struct live_exchange *x = w->x;
	int rc = receive(w);

	if (rc == LIVE_DONE)
		rc = in_time(w);
	for (uint32_t i = 0; i < x->nadd && rc == LIVE_DONE; i++) {
		rc = map(w, &x->add[i], MAP_FIXED_NOREPLACE);
		w->nadded += rc == LIVE_DONE;
	}
	if (rc == LIVE_DONE)
		rc = map(w, &(struct live_new){ .addr = x->text, .size = x->size,
						.offset = x->to_offset, .exec = true },
			 MAP_FIXED | (x->locked ? MAP_LOCKED : 0));
	w->changed = rc == LIVE_DONE;
	tidy(w);
	return rc;
}

/* What was found out while it ran is so still. */
static int check_maps(struct work *w)
{
	const struct live_exchange *x = w->x;
	const struct live_map *m;

	live_maps_free(&w->maps);
	if (live_maps_read(x->pid, &w->maps, w->err) < 0)
		return LIVE_FAILED;
	m = live_maps_at(&w->maps, x->text);
	bool same = m && m->start == x->text && m->end == x->text + x->size &&
		    m->offset == x->from_offset && m->exec && !m->write && !m->shared &&
		    live_map_is_file(x->pid, m, x->from);
	for (uint32_t i = 0; i < x->nadd; i++)
		same &= live_maps_free_at(&w->maps, x->add[i].addr,
					  x->add[i].addr + x->add[i].size);
	return same ? LIVE_DONE : err_set(w->err, ERR_REFUSED, "its mappings have changed");
}

/* Its filters, and whether they allow at least what takes it back to what it was doing, and
 * undoes what comes before the change. */
static int take_filters(struct work *w)
{
	static const uint64_t any[6];

	live_filters_free(&w->filters);
	if (!live_process_filters(w->x->pid))
		return LIVE_DONE;
	if (live_filters_read(w->x->pid, &w->filters, w->err) < 0 ||
	    check_filters(w, SYS_rt_sigreturn, any, "return from a signal") < 0 ||
	    check_filters(w, SYS_munmap, any, "unmap") < 0 ||
	    check_filters(w, SYS_close, any, "close") < 0)
		return LIVE_FAILED;
	return LIVE_DONE;
}

/* The change, by one of its threads. */
static int change_by(struct work *w, struct live_thread *x)
{
	int rc = live_remote_begin(&w->remote, x, w->mem, &w->places, &w->maps, w->err);

	if (rc == LIVE_DONE)
		rc = change(w);
	if (rc != LIVE_DONE && w->remote.late && w->nadded == 0)
		rc = LIVE_NOT_NOW;
	if (w->remote.lost) {		/* at its next stop, if any comes, it is let go */
		x->stopped = false;
		x->finish = FINISH_LOST;
	}
	live_remote_end(&w->remote);
	return rc;
}

static int while_stopped(struct work *w)
{
	int rc = check_maps(w);

	if (rc == LIVE_DONE)
		rc = take_filters(w);
	if (rc == LIVE_DONE)
		rc = live_moment_check(w->x, &w->threads, &w->maps, w->mem, w->err);
	if (rc == LIVE_DONE)
		rc = in_time(w);
	if (rc != LIVE_DONE)
		return rc;
	for (uint32_t i = 0; i < w->threads.n; i++)
		if (w->threads.thread[i].tid == w->x->pid)
			return change_by(w, &w->threads.thread[i]);
	return err_set(w->err, ERR_REFUSED, "its main thread has ended");
}

/* Who tells us to end waits until all calls that we have cut short are whole again. */
static void hold_signals(sigset_t *before)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	sigset_t set;

	(void)sigemptyset(&set);	/* none can fail for these */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		(void)sigaddset(&set, ends[i]);
	(void)sigprocmask(SIG_BLOCK, &set, before);
}

static int try_once(struct work *w, const struct live_limits *limits, struct live_outcome *out)
{
	int rc = live_process_check(w->x->pid, w->x->back, w->err);

	if (rc == LIVE_DONE)
		rc = live_process_alone(w->x->pid, w->err);
	if (rc != LIVE_DONE)
		return rc;
	sigset_t before;
	hold_signals(&before);
	w->nadded = 0;
	w->pair[0] = w->pair[1] = w->copy = -1;
	rc = live_threads_stop(&w->threads, limits->pause_ns, w->err);
	w->late_ns = w->threads.asked_ns + limits->pause_ns;
	if (rc == LIVE_DONE)
		rc = while_stopped(w);
	live_threads_let_go(&w->threads);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (w->threads.asked_ns) {
		uint64_t pause_ns = w->threads.released_ns - w->threads.asked_ns;

		out->pause_ns = pause_ns > out->pause_ns ? pause_ns : out->pause_ns;
		out->tries++;
	}
	return rc;
}

/* While threads stand still everybody waits for us: we come first.  Without it the pause is
 * longer. */
static void hurry(void)
{
	struct sched_param first = { .sched_priority = 1 };

	(void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

/* Nobody does any more. */
static void hurry_no_more(void)
{
	struct sched_param others = { 0 };

	(void)sched_setscheduler(0, SCHED_OTHER, &others);	/* as it was: allowed */
}

/* After a try that has stopped it it is left alone for longer. */
static int try_until(struct work *w, const struct live_limits *limits, struct live_outcome *out)
{
	uint64_t until = live_clock_ns() + limits->patience_ns;
	int rc = LIVE_NOT_NOW;

	while (rc == LIVE_NOT_NOW && live_clock_ns() < until) {
		struct timespec wait = { 0, w->threads.asked_ns ? LATER_NS : LOOK_NS };

		(void)nanosleep(&wait, NULL);	/* or less */
		w->threads.asked_ns = 0;
		rc = live_threads_look(&w->threads, w->err);
		if (rc != LIVE_FAILED && live_frozen(w->x->pid)) {
			err_set(w->err, ERR_REFUSED, "it is frozen (by its control group)");
			rc = LIVE_NOT_NOW;
		}
		if (rc == LIVE_DONE)
			rc = try_once(w, limits, out);
	}
	if (rc != LIVE_NOT_NOW)
		return rc;
	/* if so, that tells more than the call that a thread of it waits in for the other */
	(void)live_process_alone(w->x->pid, w->err);
	return err_wrap(w->err, "no moment for it came");
}

/* Elsewhere if possible; what is replaced may be the C library itself. */
static int find_places(struct work *w)
{
	const struct live_exchange *x = w->x;

	if (live_places_find(w->mem, &w->maps, x->text, x->text + x->size, &w->places,
			     w->err) == 0)
		return 0;
	if (live_places_find(w->mem, &w->maps, 0, 0, &w->places, w->err) < 0)
		return -1;
	if (live_moment_same(x, w->places.call) && live_moment_same(x, w->places.restore))
		return 0;
	return err_set(w->err, ERR_REFUSED, "what could make a system call for us changes");
}

int live_exchange(const struct live_exchange *x, const struct live_limits *limits,
		  struct live_outcome *out, struct err *err)
{
	struct work w = { .x = x, .mem = -1, .err = err };
	char path[64];
	int rc = -1;

	*out = (struct live_outcome){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)x->pid);
	if (live_threads_init(&w.threads, x->pid, err) < 0)
		return -1;
	w.mem = open(path, O_RDWR | O_CLOEXEC);
	if (w.mem < 0)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	else if (live_maps_read(x->pid, &w.maps, err) == 0 &&
		 find_places(&w) == 0) {
		hurry();
		rc = try_until(&w, limits, out);
		hurry_no_more();
	}
	if (w.mem >= 0)
		close(w.mem);
	live_filters_free(&w.filters);
	live_maps_free(&w.maps);
	live_threads_free(&w.threads);
	return rc;
}
