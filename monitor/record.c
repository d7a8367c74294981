/* record.c - runs one command and samples it and its children into one spool file
 *
 * The command's process is forked first and waits on a pipe.  The recording begins with its
 * exec and ends with the command; it does not wait for processes that the command left running.
 *
 * OF ALL   With privileges the CPUs are sampled, as the daemon does.  The rings then have
 *          records of all processes.  Only those of the command's process, and of the
 *          processes that descend from it by forks seen in the rings, go on to the log.
 * OF ONE   Without privileges, the events are opened on the command's process, per CPU (that is
 *          what lets children inherit them into a mapped ring), and switch themselves on at its
 *          exec.  Each fork then makes copies of all events, and takes them down at its exit: a
 *          command that starts many processes is slower by that, and since a timer begins anew
 *          with each copy, a process that ends within its first period has no sample.
 *
 * The rings hold RING_S of samples at the asked rate and of what processes that begin and end
 * have to tell, as far as the kernel lets us lock so much memory: we share the CPUs with the
 * command and are not always in time.  A drain is two looks at the rings, because by the
 * finished-round rule of merge.h the second lets out, and gives back to the kernel, what the
 * first has seen.
 */
#include "monitor/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "monitor/kernelnames.h"
#include "monitor/merge.h"
#include "monitor/mono.h"
#include "monitor/procmaps.h"
#include "monitor/proctree.h"

/* Times are chosen; bytes are those of the records, rounded up. */
enum { DRAIN_MS = 1000, SETTLE_MS = 20, PAGE_BYTES = 4096,
       RING_S = 2, SAMPLE_BYTES = 64, STATE_BYTES = 192, MEMORY_BYTES = 2400,
       BRANCHES_BYTES = 832, MAPS_BYTES = 64 << 20,
       PROCESS_BYTES_S = 256 * 1024 };	/* on one CPU: 250 processes with 8 mappings each */
/* Signals that end a recording from outside. */
enum { NENDING = 2 };
static const int ending[NENDING] = { SIGTERM, SIGHUP };

struct command {
	pid_t pid;
	int pidfd;
	int go_fd;		/* a byte lets it execute, its closing lets it end */
	int failed_fd;		/* errno of a failed exec, or end of file */
};

struct recording {
	struct perf_set *set;
	struct merge *merge;
	struct spool_writer *writer;
	struct pollfd *fd;	/* [0] the command, then the rings */
	struct proctree *own;	/* of all: whose records are written; NULL: all that come */
	bool lost;		/* of all: records, since the last drain */
	struct record_result *result;
	struct err trouble;	/* the first one of the spool; kind ERR_NONE: none */
};

/* In the new process. */
static void wait_and_execute(char *const argv[], int go_fd, int failed_fd)
{
	char byte;

	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	int e = errno;
	(void)!write(failed_fd, &e, sizeof(e));	/* without it the exit code tells */
	_exit(127);
}

static int start_command(char *const argv[], struct command *c, struct err *err)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC) < 0) {
		err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
		close(go[0]);
		close(go[1]);
		return -1;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(failed[0]);
		wait_and_execute(argv, go[0], failed[1]);
	}
	int e = errno;
	close(go[0]);
	close(failed[1]);
	c->go_fd = go[1];
	c->failed_fd = failed[0];
	c->pidfd = c->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd >= 0)
		return 0;
	return err_set(err, ERR_SYS, "%s: %s", c->pid < 0 ? "fork" : "pidfd_open",
		       strerror(c->pid < 0 ? e : errno));
}

static unsigned ring_pages(const struct record_options *o)
{
	uint64_t sample = o->registers ? STATE_BYTES + o->stack_bytes +
					(o->memory ? MEMORY_BYTES : 0) : SAMPLE_BYTES;
	uint64_t bytes = RING_S * (sample * o->rate_hz +
				   (uint64_t)BRANCHES_BYTES * o->branches_hz + PROCESS_BYTES_S);
	unsigned pages = PERF_DATA_PAGES;

	while (pages < PERF_DATA_PAGES_MAX && (uint64_t)pages * PAGE_BYTES < bytes)
		pages *= 2;
	return pages;
}

/* The best way that the kernel permits: *all is whether it is that of all processes. */
static struct perf_set *open_permitted(struct perf_options *o, pid_t pid, bool *all,
				       struct err *err)
{
	struct err of_all;
	struct perf_set *set = perf_open(o, &of_all);

	*all = set != NULL;
	o->pid = pid;
	if (!set)
		set = perf_open(o, err);
	if (!set && geteuid() != 0) {
		o->user_only = true;
		set = perf_open(o, err);
		if (!set)
			err_wrap(err,
				 "sampling without privileges needs kernel.perf_event_paranoid "
				 "of 2 or less");
	}
	return set;
}

static struct perf_set *open_events(pid_t pid, const struct record_options *options, bool *all,
				    struct err *err)
{
	struct perf_options o = {
		.clock = options->clock, .rate_hz = options->rate_hz, .pid = PERF_PID_ALL,
		.state = options->registers ? PERF_STATE_ALWAYS : PERF_STATE_NEVER,
		.stack_bytes = options->stack_bytes, .memory = options->memory,
		.kernel_state = options->stacks, .kernel_pcs = options->kernel_names,
		.branches_hz = options->branches_hz,
		.data_pages = ring_pages(options),
	};
	struct perf_set *set = open_permitted(&o, pid, all, err);

	if (set && ((options->memory && !perf_tells_memory(set)) ||
		    (options->branches_hz && !perf_branches_hz(set)))) {
		err_set(err, ERR_SYS, "%s", perf_lacks(set)->note);
		perf_close(set);
		return NULL;
	}
	if (set && (perf_map(set, err) < 0 || (*all && perf_enable(set, err) < 0))) {
		perf_close(set);
		return NULL;
	}
	return set;
}

/* Is it to be written?  What of all was lost may be anybody's: so it is told, without whose. */
static bool is_ours(struct recording *r, struct spool_event *ev)
{
	if (!r->own)
		return true;
	if (ev->kind == SPOOL_LOST || ev->kind == SPOOL_THROTTLE) {
		ev->pid = ev->tid = 0;
		r->lost |= ev->kind == SPOOL_LOST;
		return true;
	}
	return proctree_event(r->own, ev);
}

static void on_event(void *ctx, const struct spool_event *event)
{
	struct recording *r = ctx;
	struct spool_event ev = *event;
	struct err err;

	if (!is_ours(r, &ev))
		return;
	if (ev.kind == SPOOL_LOST)
		r->result->lost += ev.lost;
	else if (ev.kind == SPOOL_THROTTLE)
		r->result->throttled += ev.lost;
	kernelnames_tell(perf_names(r->set), &ev);
	if (spool_write(r->writer, &ev, &err) < 0 && r->trouble.kind == ERR_NONE)
		r->trouble = err;
}

/* True when records were held back until the next look. */
static bool look(struct recording *r, bool all)
{
	unsigned n = perf_nring(r->set);

	for (unsigned i = 0; i < n; i++) {
		struct perf_ring ring = perf_ring(r->set, i);

		merge_look(r->merge, i, &ring);
	}
	bool held = merge_round(r->merge, all, on_event, r);
	for (unsigned i = 0; i < n; i++)
		perf_ring_consumed(r->set, i, merge_tail(r->merge, i));
	return held;
}

static void drain(struct recording *r, pid_t command)
{
	if (look(r, false)) {
		(void)poll(r->fd, 1, SETTLE_MS);	/* ended early, less goes out now */
		(void)look(r, false);
	}
	if (r->lost)
		proctree_doubt(r->own, (uint32_t)command, mono_now_ns(mono_shift_ns()));
	r->lost = false;
}

/* Lets the command go and drains the rings until it has ended. */
static int record(struct recording *r, struct command *c, struct err *err)
{
	unsigned n = perf_nring(r->set);
	struct spool_counts counts;
	int status = 0, failed = 0;

	if (write(c->go_fd, "", 1) != 1)
		return err_set(err, ERR_SYS, "the command's process: %s", strerror(errno));
	if (read(c->failed_fd, &failed, sizeof(failed)) == sizeof(failed))
		return err_set(err, ERR_SYS, "%s", strerror(failed));
	r->fd[0] = (struct pollfd){ c->pidfd, POLLIN, 0 };
	for (unsigned i = 0; i < n; i++)
		r->fd[i + 1] = (struct pollfd){ perf_ring_fd(r->set, i), POLLIN, 0 };
	do {
		if (poll(r->fd, n + 1, DRAIN_MS) < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, "poll: %s", strerror(errno));
		for (unsigned i = 1; i <= n; i++)	/* the events end with the command */
			if (r->fd[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				r->fd[i].fd = -1;
		drain(r, c->pid);
	} while (!r->fd[0].revents);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	(void)look(r, true);
	if (spool_flush(r->writer, true, &r->trouble) < 0 || r->trouble.kind != ERR_NONE) {
		*err = r->trouble;
		return -1;
	}
	spool_writer_counts(r->writer, &counts);
	r->result->samples = counts.samples;
	r->result->states = counts.states;
	r->result->stacks = counts.stacks;
	r->result->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
						       WEXITSTATUS(status);
	return 0;
}

/* What a process that runs already has mapped. */
static int add_running(struct recording *r, pid_t pid, struct err *err)
{
	struct arena *a = arena_new();
	char path[64], comm[16] = "";
	struct bytes text;
	int rc = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!read(fd, comm, sizeof(comm) - 1);	/* or it has no name */
		comm[strcspn(comm, "\n")] = '\0';
		close(fd);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	else
		rc = io_read_all(fd, MAPS_BYTES, a, &text, err);
	if (rc == 0) {
		proctree_add(r->own, (uint32_t)pid);
		(void)procmaps_parse(text, (uint32_t)pid, comm,
				     mono_now_ns(mono_shift_ns()), on_event, r);
	}
	if (fd >= 0)
		close(fd);
	arena_free(a);
	return rc;
}

static int make_recording(struct recording *r, bool all, const struct record_options *options,
			  pid_t command, int log_fd, struct err *err)
{
	unsigned n = perf_nring(r->set);

	r->merge = merge_new(n, perf_format(r->set));
	r->fd = calloc(n + 1, sizeof(*r->fd));
	r->own = all ? proctree_new() : NULL;
	if (!r->fd || (all && !r->own))
		return err_set(err, ERR_SYS, "out of memory");
	if (all)
		proctree_add_at_exec(r->own, (uint32_t)command);
	r->writer = spool_writer_new_file(log_fd, monitor_clock_name(perf_clock(r->set)),
					  perf_period_ns(r->set), err);
	if (!r->writer)
		return -1;
	if (options->pid && !all)
		return err_set(err, ERR_REFUSED, "only root may sample other processes");
	return options->pid ? add_running(r, options->pid, err) : 0;
}

static void end_command(struct command *c)
{
	if (c->go_fd >= 0)
		close(c->go_fd);
	if (c->failed_fd >= 0)
		close(c->failed_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	while (c->pid > 0 && waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;	/* it never got its byte, or never executed: it ends by itself */
}

/* Registers are their owner's alone, also in a file that was there before. */
static int open_log(const struct record_options *o, struct err *err)
{
	mode_t mode = o->registers ? 0600 : 0666;
	int fd = open(o->log_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", o->log_path, strerror(errno));
	if (!o->registers || fchmod(fd, mode) == 0)
		return fd;
	err_set(err, ERR_SYS, "'%s': fchmod: %s", o->log_path, strerror(errno));
	close(fd);
	return -1;
}

static volatile pid_t passed_to;

static void pass_on(int sig)
{
	if (passed_to > 0)
		(void)kill(passed_to, sig);
}

/* What is to end the recording ends the command, and so the recording with all that it has:
 * unless who calls has a use for such signals. */
static void pass_endings(pid_t command, struct sigaction old[NENDING])
{
	struct sigaction pass = { .sa_handler = pass_on, .sa_flags = SA_RESTART };

	passed_to = command;
	for (int i = 0; i < NENDING; i++) {
		(void)sigaction(ending[i], NULL, &old[i]);	/* cannot fail, nor below */
		if (command > 0 && old[i].sa_handler == SIG_DFL)
			(void)sigaction(ending[i], &pass, NULL);
	}
}

static void keep_endings(const struct sigaction old[NENDING])
{
	for (int i = 0; i < NENDING; i++)
		(void)sigaction(ending[i], &old[i], NULL);
	passed_to = 0;
}

int record_command(const struct record_options *options, struct record_result *out,
		   struct err *err)
{
	/* The keys that end the command must not end the recording before it; nor must its
	 * end. */
	static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old[3], endings[NENDING];
	struct command c = { .pid = -1, .pidfd = -1, .go_fd = -1, .failed_fd = -1 };
	struct record_result result = { 0 };
	struct recording r = { .result = &result };

	int log_fd = open_log(options, err);
	if (log_fd < 0)
		return -1;
	int rc = start_command(options->argv, &c, err);
	for (int i = 0; i < 3; i++)
		(void)sigaction(ignored[i], &ignore, &old[i]);	/* cannot fail, nor below */
	pass_endings(c.pid, endings);
	if (rc == 0) {
		rc = -1;
		bool all = false;

		r.set = open_events(c.pid, options, &all, err);
		if (r.set && make_recording(&r, all, options, c.pid, log_fd, err) == 0)
			rc = record(&r, &c, err);
	}
	end_command(&c);
	keep_endings(endings);
	for (int i = 0; i < 3; i++)
		(void)sigaction(ignored[i], &old[i], NULL);
	spool_writer_free(r.writer);
	merge_free(r.merge);
	proctree_free(r.own);
	free(r.fd);
	perf_close(r.set);
	close(log_fd);
	if (rc < 0)
		return err_wrap(err, "record '%s' to '%s'", options->argv[0],
				options->log_path);
	*out = result;
	return 0;
}
