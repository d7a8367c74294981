/* look.c - what a thread does, as files of /proc tell while it runs; see look.h
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/clock.h"
#include "live/process.h"
#include "live/restart.h"
#include "live/threads.h"
#include "live/waiting.h"

int live_look_read(const struct live_threads *t, pid_t tid, const char *name, char *to,
		   size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/%s", (int)tid, name);
	int fd = openat(t->task_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
	if (fd >= 0)
		close(fd);
	to[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -1 : 0;
}

/* How long the thread ran, and how often it was put on a CPU. */
static void read_runs(const struct live_threads *t, pid_t tid, struct age_seen *s)
{
	char text[128];

	if (live_look_read(t, tid, "schedstat", text, sizeof(text)) < 0 ||
	    sscanf(text, "%" SCNu64 " %*u %" SCNu64, &s->cpu_ns, &s->runs) != 2)
		s->cpu_ns = s->runs = 0;
}

static bool has_children(const struct live_threads *t, pid_t tid)
{
	char text[16];

	return live_look_read(t, tid, "children", text, sizeof(text)) == 0 && text[0];
}

/* *runs: it is on a CPU, or waits for one. */
static enum restart kind_of(const struct live_threads *t, struct live_thread *x, long *nr,
			    bool *runs)
{
	struct waiting w = { .tid = x->tid, .filtered = x->filtered };
	uint64_t *arg = w.arg, pc = 0;
	char text[256];
	ssize_t n = x->call_fd < 0 ? -1 : pread(x->call_fd, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	/* there were no descriptors left for it */
	if (x->call_fd < 0)
		n = live_look_read(t, x->tid, "syscall", text, sizeof(text));
	if (n < 0)
		return RESTART_KERNEL;		/* it has ended */
	*runs = strncmp(text, "running", 7) == 0;
	x->left.at = 0;
	/* or -1 for a thread that waits in no call */
	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64, &w.nr, &arg[0], &arg[1], &arg[2],
		   &arg[3], &arg[4], &arg[5], &w.sp, &pc) != 9)
		return RESTART_KERNEL;
	*nr = w.nr;
	left_save(t->pid, &w, pc, &x->left);
	return waiting_kind(t->pid, t->pidfd, &w);
}

int live_look_at(const struct live_threads *t, struct live_thread *x, bool again,
		 struct err *err)
{
	struct age_seen before = x->age.last, s = before;
	long nr = -1;

	s.running = false;
	if (!again)
		read_runs(t, x->tid, &s);
	if (!again && (before.now_ns == 0 || before.runs != s.runs))
		x->filtered = live_process_filters(x->tid);
	enum restart kind = kind_of(t, x, &nr, &s.running);
	s.limited = restart_has_limit(kind, nr);
	if (s.running || s.limited)
		read_runs(t, x->tid, &s);
	/* it has none since, if it did not run */
	if (!again && t->n > 1 &&
	    (before.now_ns == 0 || before.runs != s.runs || before.cpu_ns != s.cpu_ns))
		x->parent |= has_children(t, x->tid);
	s.now_ns = live_clock_ns();
	age_look(&x->age, &s);
	if (kind != RESTART_UNKNOWN && kind != RESTART_PARTIAL && kind != RESTART_UNSEEN &&
	    !x->age.old)
		return LIVE_DONE;
	if (s.running)
		err_set(err, ERR_REFUSED, "thread %d runs, perhaps in a system call still that "
			"has a time limit", (int)x->tid);
	else
		err_set(err, ERR_REFUSED, "thread %d waits in system call %ld, which %s",
			(int)x->tid, nr,
			kind == RESTART_PARTIAL ? "may have done a part of its work" :
			kind == RESTART_UNKNOWN ? "may not be made again" :
			"has a time limit");
	return LIVE_NOT_NOW;
}
