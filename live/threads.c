/* threads.c - the threads of a process: what they wait in, stopping them all, letting them go
 *
 * STOP      PTRACE_SEIZE and PTRACE_INTERRUPT change nothing in a thread: no signal is sent.
 *           New threads may appear until all are stopped, so the list is read until it has no
 *           new one.  Registers are read at once, and a call that fails with EINTR by the stop
 *           is mended at once (restart.h), so that it does not matter when we come to an end.
 *
 *           One that is cut short with a part of its work is finished when the thread is let
 *           go (finish.h).
 *
 *           A signal that is ignored is not ignored where a thread is traced.  One for the
 *           process counts as one for its main thread, and what tells of a child as one for the
 *           thread that has it: as soon as that is traced they wake another thread, in whatever
 *           that is.  So these targets are stopped when all others stand, and go on before
 *           these do.
 *
 * DEATH     PTRACE_O_EXITKILL is not set.  When the tracer dies the kernel lets all threads go
 *           on with the registers that they have: these are their own.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/procstat.h"
#include "live/clock.h"
#include "live/finish.h"
#include "live/left.h"
#include "live/look.h"
#include "live/process.h"
#include "live/restart.h"
#include "live/signals.h"
#include "live/waiting.h"
#include "live/worker.h"

/* STRAGGLERS_NS: threads that cannot stop (they wait for a disk) are waited for so long.
 * starved_ns: those that come to no CPU; they would find their calls cut short.
 * TARGETS_NS: others stand so much longer than they should, where a target comes to no CPU.
 * FINISH_NS: those that make the rest of a call.
 * EXEC_NS: who asks for longer is held up by one that executes another program.
 * REST_NS, REST_THREAD_NS: kept for what comes after the stop, with one thread and for each:
 * with these most tries that end in time do so within the pause, and few are in vain
 * (bench/live.sh). */
enum { STRAGGLERS_NS = 1000000000, TARGETS_NS = 20000000, FINISH_NS = 2000000000,
       EXEC_NS = 2000000, REST_NS = 1000000, REST_THREAD_NS = 8000 };
static const uint64_t starved_ns = UINT64_C(30000000000);

/* --- the list --- */

static struct live_thread *find(struct live_threads *t, pid_t tid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->thread[i].tid == tid)
			return &t->thread[i];
	return NULL;
}

static void add(struct live_threads *t, pid_t tid)
{
	char path[64];

	if (t->n == t->room) {
		t->room = t->room * 2 + 16;
		t->thread = realloc(t->thread, t->room * sizeof(*t->thread));
		if (!t->thread)
			abort();
	}
	(void)snprintf(path, sizeof(path), "%d/syscall", (int)tid);
	t->thread[t->n++] = (struct live_thread){
		.tid = tid, .call_fd = openat(t->task_fd, path, O_RDONLY | O_CLOEXEC) };
}

static bool is_known_worker(const struct live_threads *t, pid_t tid)
{
	for (uint32_t i = 0; i < t->nworker; i++)
		if (t->worker[i] == tid)
			return true;
	return false;
}

static void add_worker(struct live_threads *t, pid_t tid)
{
	if (t->nworker == t->worker_room) {
		t->worker_room = t->worker_room * 2 + 16;
		t->worker = realloc(t->worker, t->worker_room * sizeof(*t->worker));
		if (!t->worker)
			abort();
	}
	t->worker[t->nworker++] = tid;
}

/* One that has ended meanwhile is none of the kernel's: that is found out later. */
static enum worker worker_kind(const struct live_threads *t, pid_t tid)
{
	char stat[512], call[256];
	struct utsname kernel;

	if (live_look_read(t, tid, "stat", stat, sizeof(stat)) < 0 ||
	    worker_told(stat, "", "") == WORKER_NOT)
		return WORKER_NOT;
	(void)uname(&kernel);		/* cannot fail */
	return live_look_read(t, tid, "syscall", call, sizeof(call)) < 0 ? WORKER_PERHAPS :
	       worker_told(stat, call, kernel.release);
}

/* Adds those that are not known yet; how many. */
static int update(struct live_threads *t, struct err *err)
{
	char path[64];
	int found = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	DIR *d = opendir(path);
	if (!d)
		return err_set(err, ERR_SYS, "process %d: %s", (int)t->pid, strerror(errno));
	t->perhaps = 0;
	for (struct dirent *e; (e = readdir(d));) {
		pid_t tid = (pid_t)atol(e->d_name);

		if (tid <= 0 || find(t, tid) || is_known_worker(t, tid))
			continue;
		enum worker kind = worker_kind(t, tid);
		if (kind == WORKER_IS) {
			add_worker(t, tid);
		} else if (kind == WORKER_PERHAPS) {
			t->perhaps = tid;
		} else {
			add(t, tid);
			found++;
		}
	}
	closedir(d);
	return found;
}

static void forget(struct live_threads *t, pid_t tid)
{
	struct live_thread *x = find(t, tid);

	if (x && x->call_fd >= 0)
		close(x->call_fd);
	if (x)
		*x = t->thread[--t->n];
	t->ended |= tid == t->pid;
}

int live_threads_init(struct live_threads *t, pid_t pid, struct err *err)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	*t = (struct live_threads){ .pid = pid,
				    .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
				    .task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (t->pidfd < 0 || t->task_fd < 0)
		return err_set(err, ERR_SYS, "process %d: %s", (int)pid, strerror(errno));
	return 0;
}

void live_threads_free(struct live_threads *t)
{
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->task_fd >= 0)
		close(t->task_fd);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->thread[i].call_fd >= 0)
			close(t->thread[i].call_fd);
	free(t->thread);
	free(t->worker);
	*t = (struct live_threads){ .pidfd = -1, .task_fd = -1 };
}

/* --- in which order they stop --- */

/* Signals are sent to it that the process may ignore. */
static bool is_target(const struct live_threads *t, const struct live_thread *x)
{
	return x->parent || x->tid == t->pid;
}

static void move_last(struct live_threads *t, bool parents)
{
	uint32_t n = t->n;

	for (uint32_t i = t->n; i-- > 0;) {
		struct live_thread x = t->thread[i];

		if (parents ? !x.parent : !is_target(t, &x))
			continue;
		t->thread[i] = t->thread[--n];
		t->thread[n] = x;
	}
}

/* Targets are last, and of these those with children. */
static void set_order(struct live_threads *t)
{
	move_last(t, false);
	move_last(t, true);
}

/* --- stopping --- */

/* One that is ending cannot be traced, which is told in the same way as that another does. */
static bool is_ending(const struct live_threads *t, pid_t tid)
{
	struct procstat s;
	char text[512];

	if (live_look_read(t, tid, "stat", text, sizeof(text)) < 0)
		return true;
	return !procstat_parse(text, &s) || s.state == 'Z' || s.state == 'X';
}

/* Whose thread is being asked for; NULL: none is. */
static const struct live_threads *volatile asking;

/* A thread that executes another program waits for the end of all others, also until they are
 * waited for here, and holds up who asks for one of them.  (A wait for what ends would take the
 * report of a stop.) */
static void take_ended(void)
{
	const struct live_threads *t = asking;

	for (uint32_t i = 0; t && i < t->n; i++) {
		siginfo_t told = { .si_code = 0 };
		id_t tid = (id_t)t->thread[i].tid;

		if (t->thread[i].asked &&
		    waitid(P_PID, tid, &told, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
		    (told.si_code == CLD_EXITED || told.si_code == CLD_KILLED ||
		     told.si_code == CLD_DUMPED))
			(void)waitid(P_PID, tid, &told, WEXITED | WNOHANG | __WALL);
	}
}

static long seize(const struct live_threads *t, pid_t tid)
{
	asking = t;
	long rc = ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD);
	asking = NULL;
	return rc;
}

/* It was looked at just before.  One that has ended is not asked. */
static int ask(struct live_threads *t, struct live_thread *x, struct err *err)
{
	if (t->asked_ns == 0)
		t->asked_ns = live_clock_ns();
	if (seize(t, x->tid) < 0) {
		int e = errno;

		if (e == ESRCH || (e == EPERM && is_ending(t, x->tid)))
			return LIVE_DONE;
		return err_set(err, e == EPERM ? ERR_REFUSED : ERR_SYS, "thread %d: %s",
			       (int)x->tid,
			       e == EPERM ? "another tracer is there" : strerror(e));
	}
	x->asked = true;
	x->back = NULL;
	/* ESRCH: it has ended since */
	(void)ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);
	return LIVE_DONE;
}

/* False: it has ended. */
static bool take_regs(const struct live_threads *t, struct live_thread *x)
{
	enum { ERESTART_RESTARTBLOCK = 516 };

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &x->regs) < 0)
		return false;
	/* who waits in the call since the last look has got no filter since */
	if ((long)x->regs.rax == -ERESTART_RESTARTBLOCK && x->age.last.running)
		x->filtered |= live_process_filters(x->tid);
	if ((long)x->regs.rax == -ERESTART_RESTARTBLOCK && x->left.at)
		left_put_back(t->pid, x->tid, &x->left);
	if (restart_fix(&x->regs, x->filtered))
		(void)ptrace(PTRACE_SETREGS, x->tid, 0, &x->regs);
	return true;
}

/* What one of them told.  A signal on its way is delivered; the thread stops before it runs
 * the handler.  It may have been woken for a signal that is ignored, as nobody else is. */
static void take_report(struct live_threads *t, pid_t tid, int status)
{
	struct live_thread *x = find(t, tid);

	if (!WIFSTOPPED(status)) {
		forget(t, tid);
	} else if (x && x->finish != FINISH_NONE) {
		finish_go_on(t, x, status);
	} else if (x) {
		bool there = take_regs(t, x);

		x->stopped = there && status >> 16 == PTRACE_EVENT_STOP;
		if (!x->stopped)
			(void)ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	}
}

/* Waits for its report, or only takes what is there.  False: there was none. */
static bool collect_one(struct live_threads *t, struct live_thread *x, bool wait)
{
	int status;
	pid_t told = waitpid(x->tid, &status, __WALL | (wait ? 0 : WNOHANG));

	if (told > 0)
		take_report(t, told, status);
	else if (told < 0 && errno != EINTR)
		forget(t, x->tid);	/* another became the main thread, by exec() */
	return told > 0;
}

/* Takes reports, or those of targets, until nothing is left to do or the time is over; true:
 * nothing is.  It waits for the one that was asked last: it should come last, and nobody wakes
 * us for the others, whom we would only keep from a CPU. */
static bool collect(struct live_threads *t, bool targets, uint64_t until_ns)
{
	uint64_t now = live_clock_ns();
	bool all = true;

	if (now < until_ns)
		live_alarm(until_ns - now);
	for (uint32_t i = t->n; i-- > 0;) {
		struct live_thread *x = &t->thread[i];
		pid_t tid = x->tid;

		while (i < t->n && x->tid == tid && x->asked && !x->stopped &&
		       (!targets || is_target(t, x))) {
			bool wait = live_clock_ns() < until_ns;

			if (!collect_one(t, x, wait) && !wait) {
				all = false;
				break;
			}
		}
	}
	if (now < until_ns)
		live_alarm(0);
	return all;
}

/* Is it not known of one whether it runs the program? */
static int unclear(const struct live_threads *t, struct err *err)
{
	if (!t->perhaps)
		return LIVE_DONE;
	err_set(err, ERR_REFUSED, "thread %d may be the program's or the kernel's",
		(int)t->perhaps);
	return LIVE_NOT_NOW;
}

static int too_late(struct err *err)
{
	err_set(err, ERR_REFUSED, "its threads do not stop in time");
	return LIVE_NOT_NOW;
}

/* Asks those that were not asked yet, of targets or of others. */
static int ask_some(struct live_threads *t, bool targets, uint64_t deadline_ns, bool *new_ones,
		    struct err *err)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct live_thread *x = &t->thread[i];

		if (x->asked || is_target(t, x) != targets)
			continue;
		*new_ones = true;
		int rc = t->asked_ns && live_clock_ns() > t->asked_ns + deadline_ns ?
			 too_late(err) : LIVE_DONE;
		if (rc == LIVE_DONE && !targets)
			rc = live_look_at(t, x, true, err);
		if (rc == LIVE_DONE)
			rc = ask(t, x, err);
		if (rc != LIVE_DONE)
			return rc;
		if (!x->asked)
			forget(t, t->thread[i--].tid);
	}
	return LIVE_DONE;
}

/* Targets if there are no others, and these only if all may be stopped. */
static int ask_next(struct live_threads *t, uint64_t deadline_ns, bool *new_ones,
		    struct err *err)
{
	*new_ones = false;
	if (update(t, err) < 0)
		return LIVE_FAILED;
	if (unclear(t, err) != LIVE_DONE)
		return LIVE_NOT_NOW;
	int rc = ask_some(t, false, deadline_ns, new_ones, err);
	for (uint32_t i = 0; i < t->n && rc == LIVE_DONE && !*new_ones; i++)
		if (!t->thread[i].asked)
			rc = live_look_at(t, &t->thread[i], true, err);
	return rc == LIVE_DONE && !*new_ones ?
	       ask_some(t, true, deadline_ns, new_ones, err) : rc;
}

static int ask_new(struct live_threads *t, uint64_t deadline_ns, bool *new_ones,
		   struct err *err)
{
	live_alarm_calls(EXEC_NS, take_ended);
	int rc = ask_next(t, deadline_ns, new_ones, err);

	live_alarm(0);
	return rc;
}

/* The part of a pause in which all must have stopped: the rest is for what is then done, and
 * for letting them go. */
static uint64_t for_stopping(const struct live_threads *t, uint64_t pause_ns)
{
	uint64_t rest_ns = REST_NS + t->n * REST_THREAD_NS;

	return rest_ns < pause_ns / 2 ? pause_ns - rest_ns : pause_ns / 2;
}

int live_threads_stop(struct live_threads *t, uint64_t pause_ns, struct err *err)
{
	uint64_t deadline_ns = for_stopping(t, pause_ns);
	bool new_ones;
	int rc;

	t->asked_ns = 0;
	t->pause_ns = pause_ns;
	while ((rc = ask_new(t, deadline_ns, &new_ones, err)) == LIVE_DONE && new_ones)
		if (!collect(t, false, t->asked_ns + deadline_ns))
			return too_late(err);
	if (rc == LIVE_DONE && (t->ended || t->n == 0))
		return err_set(err, ERR_SYS, "process %d has ended", (int)t->pid);
	return rc;
}

/* Only a thread that is stopped can be let go of.  First those whose call is whole: to find out
 * about others takes longer.  The last that was stopped comes first. */
static void release(struct live_threads *t)
{
	for (int last = 0; last < 2; last++)
		for (uint32_t i = t->n; i-- > 0;) {
			struct live_thread *x = &t->thread[i];

			if (!x->stopped || (!last && finish_may_be(x)) ||
			    (last && finish_begin(t, x)))
				continue;
			(void)ptrace(PTRACE_DETACH, x->tid, 0, 0);	/* or it has ended */
			x->finish = FINISH_NONE;
			x->stopped = x->asked = false;
		}
}

/* Those that have not stopped in time have perhaps done so since, and go on; LIVE_DONE: all. */
static int release_late(struct live_threads *t, struct err *err)
{
	bool all = collect(t, false, 0);

	release(t);
	for (uint32_t i = 0; i < t->n && !all; i++)
		if (t->thread[i].asked) {
			err_set(err, ERR_REFUSED, "thread %d does not stop",
				(int)t->thread[i].tid);
			return LIVE_NOT_NOW;
		}
	return LIVE_DONE;
}

int live_threads_look(struct live_threads *t, struct err *err)
{
	struct err ignored;

	int rc = release_late(t, err);

	t->nworker = 0;			/* their numbers may be others' by now */
	if (update(t, err) < 0)
		return LIVE_FAILED;
	if (rc == LIVE_DONE)
		rc = unclear(t, err);
	for (uint32_t i = 0; i < t->n; i++) {
		struct err *first = rc == LIVE_DONE ? err : &ignored;

		if (live_look_at(t, &t->thread[i], false, first) != LIVE_DONE)
			rc = LIVE_NOT_NOW;
	}
	set_order(t);
	return rc;
}

static void let_go_until(struct live_threads *t, uint64_t until_ns)
{
	for (bool all = false; !all && live_clock_ns() < until_ns;) {
		all = collect(t, false, live_clock_ns() + 1000000);
		release(t);
	}
}

/* A thread that was asked to stop will do so once it has a CPU, or has just done so. */
static bool is_due(const struct live_threads *t, bool targets)
{
	struct procstat s;
	char text[512];

	for (uint32_t i = t->n; i-- > 0;) {
		const struct live_thread *x = &t->thread[i];

		if ((!targets || is_target(t, x)) && x->asked && !x->stopped &&
		    live_look_read(t, x->tid, "stat", text, sizeof(text)) == 0 &&
		    procstat_parse(text, &s) && (s.state == 'R' || s.state == 't'))
			return true;
	}
	return false;
}

static void let_stragglers_go(struct live_threads *t)
{
	uint64_t since_ns = live_clock_ns();

	do {
		let_go_until(t, live_clock_ns() + STRAGGLERS_NS);
	} while (is_due(t, false) && live_clock_ns() < since_ns + starved_ns);
}

/* A call that does not come to its end is left with what was done so far. */
static void finish_now(struct live_threads *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		finish_end(&t->thread[i]);
	let_stragglers_go(t);
}

/* Before all targets have stopped nobody may go on, but in the end somebody must. */
static void await_targets(struct live_threads *t, uint64_t until_ns)
{
	uint64_t last_ns = until_ns + TARGETS_NS;

	while (!collect(t, true, until_ns) && until_ns < last_ns && is_due(t, true))
		until_ns = live_clock_ns() + 1000000;
}

/* Those that go back to a call with a mask of its own get to its entry first: then all targets
 * go on at once. */
static void enter_targets(struct live_threads *t)
{
	bool any = false;

	for (uint32_t i = 0; i < t->n; i++) {
		struct live_thread *x = &t->thread[i];

		if (x->stopped && is_target(t, x) && signals_may_be_held(&x->regs))
			any |= finish_enter(t, x);
	}
	if (any)
		await_targets(t, live_clock_ns() + 1000000);
}

void live_threads_let_go(struct live_threads *t)
{
	bool finishing = false;

	await_targets(t, t->asked_ns + t->pause_ns);
	enter_targets(t);
	release(t);
	t->released_ns = live_clock_ns();
	/* what was seen of them before tells nothing of their calls any more */
	for (uint32_t i = 0; i < t->n; i++)
		t->thread[i].age = (struct age){ 0 };
	let_stragglers_go(t);
	for (uint32_t i = 0; i < t->n; i++)
		finishing |= t->thread[i].finish != FINISH_NONE;
	if (finishing) {
		let_go_until(t, t->released_ns + FINISH_NS);
		finish_now(t);
	}
}
