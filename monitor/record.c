/* record.c - one command and its children sampled into one spool file
 *
 * The command's process is forked first and waits on a pipe; the events are opened on it, per CPU
 * (that is what lets children inherit them into a mapped ring), and switch themselves on at its
 * exec.  The recording ends with the command; what it left running is not waited for.
 */
#include "monitor/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/merge.h"

enum { DRAIN_MS = 1000 };

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

static struct perf_set *open_events(pid_t pid, unsigned rate_hz, enum monitor_clock clock,
				    struct err *err)
{
	struct perf_options o = { .clock = clock, .rate_hz = rate_hz, .pid = pid };
	struct perf_set *set = perf_open(&o, err);

	if (!set && geteuid() != 0) {
		o.user_only = true;
		set = perf_open(&o, err);
		if (!set)
			err_wrap(err, "sampling without privileges needs kernel.perf_event_paranoid "
				 "of 2 or less");
	}
	if (set && perf_map(set, err) < 0) {
		perf_close(set);
		return NULL;
	}
	return set;
}

static void on_event(void *ctx, const struct spool_event *ev)
{
	struct recording *r = ctx;
	struct err err;

	if (spool_write(r->writer, ev, &err) < 0 && r->trouble.kind == ERR_NONE)
		r->trouble = err;
}

static void look(struct recording *r, bool all)
{
	unsigned n = perf_nring(r->set);

	for (unsigned i = 0; i < n; i++) {
		struct perf_ring ring = perf_ring(r->set, i);

		merge_look(r->merge, i, &ring);
	}
	(void)merge_round(r->merge, all, on_event, r);	/* held back until the next look */
	for (unsigned i = 0; i < n; i++)
		perf_ring_consumed(r->set, i, merge_tail(r->merge, i));
}

/* Lets the command go and drains the rings until it has ended. */
static int record(struct recording *r, struct command *c, int *exit_status, struct err *err)
{
	unsigned n = perf_nring(r->set);
	int status = 0, failed = 0;

	if (write(c->go_fd, "", 1) != 1)
		return err_set(err, ERR_SYS, "the command's process: %s", strerror(errno));
	if (read(c->failed_fd, &failed, sizeof(failed)) == sizeof(failed))
		return err_set(err, ERR_USAGE, "%s", strerror(failed));
	r->fd[0] = (struct pollfd){ c->pidfd, POLLIN, 0 };
	for (unsigned i = 0; i < n; i++)
		r->fd[i + 1] = (struct pollfd){ perf_ring_fd(r->set, i), POLLIN, 0 };
	do {
		if (poll(r->fd, n + 1, DRAIN_MS) < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, "poll: %s", strerror(errno));
		for (unsigned i = 1; i <= n; i++)	/* the events end with the command */
			if (r->fd[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				r->fd[i].fd = -1;
		look(r, false);
	} while (!r->fd[0].revents);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	look(r, true);
	if (spool_flush(r->writer, true, &r->trouble) < 0 || r->trouble.kind != ERR_NONE) {
		*err = r->trouble;
		return -1;
	}
	*exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

static int make_recording(struct recording *r, int log_fd, struct err *err)
{
	unsigned n = perf_nring(r->set);

	r->merge = merge_new(n, perf_format(r->set));
	r->fd = calloc(n + 1, sizeof(*r->fd));
	if (!r->fd)
		return err_set(err, ERR_SYS, "out of memory");
	r->writer = spool_writer_new_file(log_fd, monitor_clock_name(perf_clock(r->set)),
					  perf_period_ns(r->set), err);
	return r->writer ? 0 : -1;
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

int record_command(const char *log_path, char *const argv[], unsigned rate_hz,
		   enum monitor_clock clock, int *exit_status, struct err *err)
{
	/* The keys that end the command must not end the recording before it; nor must its end. */
	static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old[3];
	struct command c = { .pid = -1, .pidfd = -1, .go_fd = -1, .failed_fd = -1 };
	struct recording r = { 0 };

	int log_fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (log_fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", log_path, strerror(errno));
	int rc = start_command(argv, &c, err);
	for (int i = 0; i < 3; i++)
		(void)sigaction(ignored[i], &ignore, &old[i]);	/* cannot fail, nor below */
	if (rc == 0) {
		rc = -1;
		r.set = open_events(c.pid, rate_hz, clock, err);
		if (r.set && make_recording(&r, log_fd, err) == 0)
			rc = record(&r, &c, exit_status, err);
	}
	end_command(&c);
	for (int i = 0; i < 3; i++)
		(void)sigaction(ignored[i], &old[i], NULL);
	spool_writer_free(r.writer);
	merge_free(r.merge);
	free(r.fd);
	perf_close(r.set);
	close(log_fd);
	return rc < 0 ? err_wrap(err, "record '%s' to '%s'", argv[0], log_path) : 0;
}
