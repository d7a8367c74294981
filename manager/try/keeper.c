/* keeper.c - starts, watches and ends one run of the command */
#include "manager/try/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "manager/try/commandline.h"
#include "manager/try/folder.h"
#include "manager/try/input.h"
#include "manager/try/interrupt.h"
#include "manager/try/loaderpath.h"
#include "manager/try/procwatch.h"
#include "monitor/record.h"

/* 5 ms is what bench/pairs.c uses, which says why; the others are chosen. */
enum { SLICE_MS = 5, LOOK_HZ = 1009, WATCH_MS = 10, GRACE_MS = 5000 };

static double seconds(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);		/* cannot fail */
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- in the keeper --- */

/* The children of this process, of which the kernel lists as many as fit: killed.  System calls
 * alone: also in a signal handler. */
static unsigned kill_children(void)
{
	char text[4096];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned killed = 0;
	pid_t pid = 0;

	for (ssize_t i = 0; i < n; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = 10 * pid + (text[i] - '0');
			continue;
		}
		if (pid > 0 && kill(pid, SIGKILL) == 0)
			killed++;
		pid = 0;
	}
	if (fd >= 0)
		close(fd);
	return killed;
}

/* All that descends from us: whose parent has gone is our child. */
static unsigned end_tree(void)
{
	unsigned killed = 0;

	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid > 0)
			continue;
		if (pid < 0)
			return killed;
		unsigned n = kill_children();
		if (n == 0)
			return killed;	/* without /proc nobody can be found */
		killed += n;
		(void)waitpid(-1, NULL, 0);	/* one of them */
	}
}

static void on_term(int sig)
{
	(void)sig;
	(void)end_tree();
	_exit(1);
}

static int fail(const char *what, struct err *err)
{
	return err_set(err, ERR_SYS, "%s: %s", what, strerror(errno));
}

static double cpu_of_children(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_CHILDREN, &u);	/* cannot fail */
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for that child, and takes those that end meanwhile; looks at them, if they are to be
 * watched. */
static int wait_for(pid_t pid, struct procwatch *watch)
{
	static const struct timespec between = { 0, WATCH_MS * 1000000 };
	int status = 0;
	pid_t got;

	while ((got = waitpid(-1, &status, watch ? WNOHANG : 0)) != pid) {
		if (got < 0 && errno != EINTR)
			return 127;
		if (got == 0) {
			procwatch_look(watch, getpid());
			(void)nanosleep(&between, NULL);	/* or less */
		}
	}
	return code_of(status);
}

static int run_prepare(const struct keeper_spec *s, struct err *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return fail("fork", err);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0)
			execl("/bin/sh", "sh", "-c", s->prepare, (char *)NULL);
		_exit(127);
	}
	int code = wait_for(pid, NULL);
	return code ? err_set(err, ERR_INPUT, "--prepare '%s' ended with code %d", s->prepare,
			      code)
		    : 0;
}

/* All on one CPU, of which the kernel gives each SLICE_MS in turn (6.12 and later). */
static void share_cpu(int cpu)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .policy = SCHED_OTHER,
		   .nice = getpriority(PRIO_PROCESS, 0),
		   .runtime = SLICE_MS * UINT64_C(1000000) };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	/* else it is measured elsewhere, or in longer slices, like the other one */
	(void)sched_setaffinity(0, sizeof(set), &set);
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* For all that this process starts from now on. */
static void set_libraries(const char *more)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *both = NULL;

	if (asprintf(&both, "%s%s%s", more, old && *old ? ":" : "", old ? old : "") >= 0)
		(void)setenv("LD_LIBRARY_PATH", both, 1);	/* out of memory: not found */
}

static void execute(const struct keeper_spec *s, const struct loaderpath *path, int failed)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	(void)sigaction(SIGTERM, &usual, NULL);
	if (path && path->program)
		execv(path->program, s->command->argv);
	else
		execvp(s->argv[0], s->argv);
	int e = errno;
	(void)!write(failed, &e, sizeof(e));	/* without it the exit code tells */
	_exit(127);
}

static int run_command(const struct keeper_spec *s, const struct loaderpath *path,
		       struct procwatch *watch, struct keeper_result *r)
{
	int failed[2], e = 0;

	if (pipe2(failed, O_CLOEXEC) < 0)
		return fail("pipe", &r->err);
	pid_t pid = fork();
	if (pid == 0)
		execute(s, path, failed[1]);
	close(failed[1]);
	bool bad = pid > 0 && read(failed[0], &e, sizeof(e)) == sizeof(e);
	close(failed[0]);
	if (pid < 0)
		return fail("fork", &r->err);
	r->status = wait_for(pid, watch);
	return bad ? err_set(&r->err, ERR_SYS, "'%s': %s", s->argv[0], strerror(e)) : 0;
}

static int run_sampled(const struct keeper_spec *s, struct keeper_result *r)
{
	struct record_options o = { .log_path = s->log, .argv = s->argv, .rate_hz = LOOK_HZ,
				    .clock = MONITOR_CLOCK_CPU_CLOCK };
	struct record_result got;
	struct err err;

	if (record_command(&o, &got, &err) == 0) {
		r->status = got.exit_status;
		return 0;
	}
	(void)snprintf(r->unsampled, sizeof(r->unsampled), "%.255s", err.text);
	r->watched = true;
	struct procwatch *watch = procwatch_new();
	int rc = run_command(s, NULL, watch, r);
	if (rc == 0)
		rc = procwatch_write(watch, s->log, &r->err);
	procwatch_free(watch);
	return rc;
}

static void take_outputs(const struct keeper_spec *s, struct keeper_result *r)
{
	for (unsigned i = 0; i < s->noutput; i++) {
		int fd = open(s->output[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		struct stat st;
		struct err why;

		r->there[i] = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			      digest_fd(fd, &r->digest[i], &why) == 0;
		if (fd >= 0)
			close(fd);
	}
}

static void take_place(const struct keeper_spec *s, const struct keeper *k)
{
	char path[64];
	int in;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", s->in);	/* fits */
	in = open(s->in < 0 ? "/dev/null" : path, O_RDONLY | O_CLOEXEC);
	if (in < 0 || (s->in >= 0 && lseek(in, s->in_at, SEEK_SET) < 0) || dup2(in, 0) < 0 ||
	    dup2(k->out, 1) < 0 || dup2(k->error, 2) < 0)
		_exit(1);
}

/* Without namespaces: a folder of this run's own, whose name is as long as any other's. */
static int prepare_paths(const struct keeper_spec *s, struct loaderpath *path, char **dir,
			 struct err *err)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "run.%010d", (int)getpid());	/* fits */
	*dir = folder_path(s->world->folder, name);
	if (loaderpath_make(*dir, s->command->program, s->world->image, s->world->nimage, path,
			    err) < 0 ||
	    (s->confined && loaderpath_confine(s->world->folder, err) < 0))
		return -1;
	if (s->confined)
		(void)setenv("TMPDIR", path->temporary, 1);	/* else it can write nowhere */
	if (path->libraries)
		set_libraries(path->libraries);
	return 0;
}

static int prepare(const struct keeper_spec *s, struct keeper_result *r, pid_t parent,
		   struct loaderpath *path, char **dir)
{
	struct sigaction term = { .sa_handler = on_term };

	(void)sigaction(SIGTERM, &term, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (world_enter(s->world, r->lacks, sizeof(r->lacks), &r->err) < 0 ||
	    (s->world->kind == WORLD_NONE && prepare_paths(s, path, dir, &r->err) < 0))
		return -1;
	/* a new user namespace made us one that cannot be sampled */
	(void)prctl(PR_SET_DUMPABLE, 1);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return -1;	/* it died before we asked to be told */
	return s->prepare && s->argv ? run_prepare(s, &r->err) : 0;
}

static void keep(const struct keeper_spec *s, const struct keeper *k, int go, int ready,
		 pid_t parent)
{
	struct keeper_result *r = k->result;
	struct loaderpath path = { 0 };
	struct err ignored;
	char byte, *dir = NULL;

	if (prepare(s, r, parent, &path, &dir) < 0)
		_exit(0);
	if (!s->argv || write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(0);
	if (s->cpu >= 0)
		share_cpu(s->cpu);
	double cpu = cpu_of_children(), begun = seconds(CLOCK_MONOTONIC);
	int rc = s->log ? run_sampled(s, r) : run_command(s, &path, NULL, r);
	r->wall_s = seconds(CLOCK_MONOTONIC) - begun;
	r->cpu_s = cpu_of_children() - cpu;
	if (rc == 0)
		take_outputs(s, r);
	r->left = end_tree();
	if (dir)
		(void)folder_remove(dir, &ignored);	/* or with the trial's */
	_exit(0);
}

/* --- outside --- */

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int keeper_start(const struct keeper_spec *spec, const char *dir, struct keeper *k,
		 struct err *err)
{
	int go[2] = { -1, -1 }, ready[2] = { -1, -1 };
	pid_t parent = getpid();

	*k = (struct keeper){ .pidfd = -1, .go = -1, .ready = -1, .out = -1, .error = -1 };
	k->out = input_nameless(dir, err);
	k->error = k->out < 0 ? -1 : input_nameless(dir, err);
	if (k->error < 0)
		goto failed;
	k->result = mmap(NULL, sizeof(*k->result), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (k->result == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0 ||
	    pipe2(ready, O_CLOEXEC) < 0) {
		fail("a run", err);
		goto failed;
	}
	k->pid = fork();
	if (k->pid == 0) {
		interrupt_child();
		(void)setsid();
		close(go[1]);
		close(ready[0]);
		take_place(spec, k);
		keep(spec, k, go[0], ready[1], parent);
	}
	if (k->pid < 0) {
		fail("fork", err);
		goto failed;
	}
	close_one(&go[0]);
	close_one(&ready[1]);
	k->go = go[1];
	k->ready = ready[0];
	k->pidfd = (int)syscall(SYS_pidfd_open, k->pid, 0);
	if (k->pidfd >= 0)
		return 0;
	fail("pidfd_open", err);
failed:
	for (int i = 0; i < 2; i++) {
		close_one(&go[i]);
		close_one(&ready[i]);
	}
	keeper_free(k);
	return -1;
}

int keeper_ready(struct keeper *k, struct err *err)
{
	struct pollfd p = { k->ready, POLLIN, 0 };

	return interrupt_poll(&p, 1, -1) < 0 ? err_set(err, ERR_SYS, "interrupted") : 0;
}

void keeper_go(struct keeper *k)
{
	/* a keeper that is gone says why in its result */
	(void)!send(k->go, "", 1, MSG_NOSIGNAL);
}

int keeper_wait(struct keeper *k, double limit_s, struct err *err)
{
	struct pollfd p = { k->pidfd, POLLIN, 0 };
	int rc = interrupt_poll(&p, 1, limit_s > 0 ? (int)(1000 * limit_s) : -1);

	if (rc < 0)
		return err_set(err, ERR_SYS, "interrupted");
	if (rc == 0)
		return err_set(err, ERR_SYS, "it took more than %.1f s", limit_s);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
	if (k->result->err.kind == ERR_NONE)
		return 0;
	*err = k->result->err;
	return -1;
}

void keeper_free(struct keeper *k)
{
	if (k->pid > 0) {
		struct pollfd p = { k->pidfd, POLLIN, 0 };

		(void)kill(k->pid, SIGTERM);
		if (k->pidfd >= 0 && poll(&p, 1, GRACE_MS) == 0)
			(void)kill(k->pid, SIGKILL);
		while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_one(&k->pidfd);
	close_one(&k->go);
	close_one(&k->ready);
	close_one(&k->out);
	close_one(&k->error);
	if (k->result && k->result != MAP_FAILED)
		(void)munmap(k->result, sizeof(*k->result));
	*k = (struct keeper){ .pidfd = -1, .go = -1, .ready = -1, .out = -1, .error = -1 };
}
