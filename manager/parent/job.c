/* job.c - one run of morph-edit or morph-verify; see job.h
 *
 * The child's descriptors: 0 /dev/null, 1 the text output or /dev/null, 2 the pipe for the
 * reason, FIRST_FD... inputs, then outputs, in the order of job.h.  The program is started by a
 * descriptor of its own, so the job's user need not be able to reach its folder.
 *
 * The cage is put up here, before the program starts, and not left to the program: what is to
 * be feared is one that a hostile file has taken over: tests/unit/manager/parent/test_cage.c.
 */
#include "manager/parent/job.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "manager/parent/patience.h"

/* Descriptors are parked above before they get in order.  The program's is out of reach of the
 * job, which cannot make one beyond its limit. */
enum { FIRST_FD = 3, MAX_FD = 32, PARK_FD = 40, PROGRAM_FD = 63 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

struct shape {
	const char *name;		/* the command; NULL: it is morph-verify */
	int min_in, max_in, nout;
	bool text;			/* the last output is its standard output */
};

static const struct shape shape[NJOB] = {
	[JOB_ANALYZE]	  = { "analyze",     1, 1, 1, false },
	[JOB_OPTIMIZE]	  = { "optimize",    2, 3, 3, false },
	[JOB_VERIFY]	  = { NULL,	     2, 2, 1, true },
	[JOB_SYMBOLS]	  = { "symbols",     1, 2, 1, true },
	[JOB_DISASSEMBLE] = { "disassemble", 1, 1, 1, true },
	[JOB_PLACED]	  = { "placed",	     3, 3, 1, false },
	[JOB_EXPLAIN]	  = { "analyze",     1, 2, 1, true },
	[JOB_INTERPRET]	  = { "interpret",   2, 3, 1, false },
	[JOB_DERIVED]	  = { "derived",     3, 3, 1, true },
	[JOB_MAP]	  = { "extract-map", 1, 1, 1, false },
	[JOB_COUNTS]	  = { "counts",      2, 2, 1, false },
	[JOB_INSTRUMENT]  = { "instrument",  2, 2, 3, false },
	[JOB_SIGNATURE]	  = { "analyze",     1, 1, 1, false },
	[JOB_INHERIT]	  = { "inherit",     3, 3, 2, true },
	[JOB_EXECUTIONS]  = { "interpret",   2, 3, 1, false },
	[JOB_BUILD_ID]	  = { "build-id",    1, 1, 1, true },
	[JOB_CATCHES]	  = { "catches",     1, 1, 1, true },
	[JOB_PLACES]	  = { "places",	     2, 3, 1, false },
	[JOB_CODE_NAMES]  = { "code-names",  2, 2, 1, false },
	[JOB_EXPORT]	  = { "export",	     2, 3, 1, false },
	[JOB_FOREIGN]	  = { "foreign",     2, 2, 1, false },
	[JOB_ANNOTATE]	  = { "annotate",    2, 3, 1, false },
	[JOB_PICTURE]	  = { "picture",     2, 3, 1, false },
	[JOB_UNWIND_ROWS] = { "unwind-rows", 1, 1, 1, false },
	[JOB_UNWIND]	  = { "unwind",	     2, 2, 1, false },
};

struct job {
	enum job_kind kind;
	pid_t pid;
	int pidfd, reason_fd;
	int out[JOB_MAX_OUT];
	struct patience wall;		/* then it is killed */
	unsigned cpu_s;
	uint64_t stopped_ms;		/* since when; 0: it runs */
	bool timed_out;
	char reason[1024];
	size_t nreason;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- the child --- */

static void child_fail(const char *what)
{
	/* then we end */
	(void)dprintf(2, "cannot start: %s: %s\n", what, strerror(errno));
	_exit(JOB_NOT_RUN);
}

static void limit(int resource, uint64_t value, const char *name)
{
	struct rlimit r;

	if (getrlimit(resource, &r) < 0)
		child_fail(name);
	if (value > r.rlim_max)		/* who started us has less */
		value = r.rlim_max;
	r = (struct rlimit){ value, value };
	if (setrlimit(resource, &r) < 0)
		child_fail(name);
}

static void lower_priority(bool background)
{
	struct sched_param none = { 0 };

	/* A job that runs at a higher priority than it should is still right. */
	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)sched_setscheduler(0, background ? SCHED_IDLE : SCHED_BATCH, &none);
	(void)syscall(SYS_ioprio_set, 1, 0, 3 << 13);	/* this process, idle class */
}

/* Who started us may have ended before that: nobody reads what we say then.  Its process number
 * would not tell, it is 0 in a namespace of our own. */
static void die_with_parent(void)
{
	struct pollfd said = { .fd = 2 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail("prctl");
	if (poll(&said, 1, 0) > 0 && (said.revents & POLLERR))
		_exit(1);
}

static void drop(const struct job_spec *spec)
{
	/* 1 also keeps it from a program that takes core files, which 0 does not: core(5) */
	limit(RLIMIT_CORE, 1, "core limit");
	limit(RLIMIT_AS, spec->memory_bytes, "memory limit");
	limit(RLIMIT_CPU, spec->cpu_s, "CPU limit");
	limit(RLIMIT_FSIZE, spec->file_bytes, "file size limit");
	limit(RLIMIT_NOFILE, MAX_FD, "descriptor limit");
	if (spec->user.change &&
	    (setgroups(0, NULL) < 0 ||
	     setresgid(spec->user.gid, spec->user.gid, spec->user.gid) < 0 ||
	     setresuid(spec->user.uid, spec->user.uid, spec->user.uid) < 0))
		child_fail("change of user");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		child_fail("prctl");
	die_with_parent();
}

/* fd[i] becomes FIRST_FD + i and survives exec, unlike the program's; all others above 2 are
 * gone. */
static void arrange(int *fd, int n, int program)
{
	program = fcntl(program, F_DUPFD, PROGRAM_FD + 1);
	for (int i = 0; i < n; i++) {
		fd[i] = fcntl(fd[i], F_DUPFD, PARK_FD);
		if (fd[i] < 0)
			child_fail("descriptors");
	}
	for (int i = 0; i < n; i++)
		if (dup2(fd[i], FIRST_FD + i) < 0)
			child_fail("descriptors");
	if (dup3(program, PROGRAM_FD, O_CLOEXEC) < 0)
		child_fail("descriptors");
	if (close_range((unsigned)(FIRST_FD + n), PROGRAM_FD - 1, 0) < 0 ||
	    close_range(PROGRAM_FD + 1, ~0u, 0) < 0)
		child_fail("close_range");
}

enum { MAX_ARG = 20, ARG_BYTES = 96 };

static const char *program_name(enum job_kind kind)
{
	return shape[kind].name ? "morph-edit" : "morph-verify";
}

static const char *program_path(const struct job_spec *spec)
{
	return shape[spec->kind].name ? spec->morph_edit : spec->morph_verify;
}

/* Which of its inputs is a debug file, -1: none. */
static int takes_debug_at(enum job_kind kind)
{
	return kind == JOB_SYMBOLS ? 1 : kind == JOB_PLACES ? 2 : -1;
}

/* Its output is named by -o, and nothing else is. */
static bool has_one_output(enum job_kind kind)
{
	return kind == JOB_INTERPRET || kind == JOB_EXECUTIONS || kind == JOB_COUNTS ||
	       kind == JOB_PLACES || kind == JOB_CODE_NAMES || kind == JOB_EXPORT ||
	       kind == JOB_FOREIGN || kind == JOB_PLACED ||
	       kind == JOB_INHERIT || kind == JOB_ANNOTATE || kind == JOB_PICTURE ||
	       kind == JOB_UNWIND_ROWS || kind == JOB_UNWIND;
}

/* The command line, in arg[] with room for the texts in text[]. */
static void command_line(const struct job_spec *spec, char text[MAX_ARG][ARG_BYTES], char **arg)
{
	static const char *const option[] = { "-o", "--map", "--stats" };
	static const char *const form[NJOB_FORM] = { "fdata", "preagg", "yaml", "dot",
							  "calls", "flow", "flowdot",
							  "flow-placed", "flowdot-placed" };
	const bool interprets = spec->kind == JOB_INTERPRET || spec->kind == JOB_EXECUTIONS;
	int n = 0, fd = FIRST_FD;

#define ADD(...) do {								\
	(void)snprintf(text[n], ARG_BYTES, __VA_ARGS__);			\
	arg[n] = text[n];							\
	n++;									\
} while (0)
	ADD("%s", program_name(spec->kind));
	if (shape[spec->kind].name)
		ADD("%s", shape[spec->kind].name);
	if (spec->kind == JOB_VERIFY && (spec->a & 1))
		ADD("--counting");
	if (spec->kind == JOB_VERIFY && (spec->a & 2))
		ADD("--live");
	for (int i = 0; i < spec->nin; i++) {
		if ((i == 1 && (spec->kind == JOB_OPTIMIZE || spec->kind == JOB_EXPLAIN ||
				spec->kind == JOB_INSTRUMENT || spec->kind == JOB_EXPORT)) ||
		    (i == 2 && spec->kind == JOB_INHERIT))
			ADD("--profile");
		if (i == 1 && spec->kind == JOB_INHERIT)
			ADD("--signature");
		const bool beside = spec->kind == JOB_OPTIMIZE || spec->kind == JOB_EXPORT ||
				    (spec->kind == JOB_ANNOTATE &&
				     spec->b == JOB_COUNTED_BESIDE);
		if (i == 2 && beside)
			ADD("--counted");
		if (i == takes_debug_at(spec->kind))
			ADD("--debug");
		if (i == 2 && spec->kind == JOB_PICTURE && spec->b)
			ADD("--generation");
		else if (i == 2 && !beside && (spec->kind == JOB_ANNOTATE ||
					       spec->kind == JOB_PICTURE))
			ADD("--counts");
		if (i == 2 && interprets)
			ADD("--original");
		ADD("fd:%d", fd++);
	}
	if (spec->kind == JOB_ANALYZE || spec->kind == JOB_SIGNATURE) {
		ADD("%s", spec->kind == JOB_ANALYZE ? "--table" : "--signature");
		ADD("fd:%d", fd);
	} else if (has_one_output(spec->kind)) {
		if (spec->kind == JOB_EXECUTIONS)
			ADD("--executions");
		if (spec->kind == JOB_EXPORT)
			ADD("--format=%s", form[spec->a]);
		if (spec->kind == JOB_EXPORT && spec->b)
			ADD("--function=0x%" PRIx64, spec->b);
		if (spec->kind == JOB_ANNOTATE) {
			ADD("--function=0x%" PRIx64, spec->a);
			if (spec->b != JOB_COUNTED_BESIDE)
				ADD("--cycles=%" PRIu64, spec->b);
		}
		if (spec->kind == JOB_PICTURE)
			ADD("--functions=%" PRIu64, spec->a);
		ADD("-o");
		ADD("fd:%d", fd);
	} else if (spec->kind == JOB_INSTRUMENT) {
		ADD("--private");
		if (spec->b)
			ADD("--text-at=0x%" PRIx64, spec->b);
		ADD("--uncertain=%" PRIu64, spec->a);
		ADD("-o");
		ADD("fd:%d", fd);
		ADD("--counts");
		ADD("fd:%d", fd + 1);
		ADD("--stats");
		ADD("fd:%d", fd + 2);
	} else if (spec->kind == JOB_MAP) {
		ADD("fd:%d", fd);
	} else if (spec->kind == JOB_OPTIMIZE) {
		for (int i = 0; i < 3; i++) {
			ADD("%s", option[i]);
			ADD("fd:%d", fd++);
		}
		ADD("--generation=%" PRIu64, spec->a);
		if (spec->passes)
			ADD("--passes=%s", spec->passes);
		if (spec->b)
			ADD("--keep-pointers");
		if (spec->b > 1)
			ADD("--text-at=0x%" PRIx64, spec->b);
	} else if (spec->kind == JOB_DISASSEMBLE) {
		ADD("--start=0x%" PRIx64, spec->a);
		ADD("--size=%" PRIu64, spec->b);
	}
#undef ADD
	arg[n] = NULL;
}

static void child(const struct job_spec *spec, const int *out, int reason_fd, int program)
{
	const struct shape *s = &shape[spec->kind];
	int fd[JOB_MAX_IN + JOB_MAX_OUT], n = 0;
	char text[MAX_ARG][ARG_BYTES], *arg[MAX_ARG + 1];
	char locale[] = "LC_ALL=C", *env[] = { locale, NULL };
	struct err err = { 0 };
	sigset_t none;

	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(reason_fd, 2) < 0 || dup2(null, 0) < 0 ||
	    dup2(s->text ? out[s->nout - 1] : null, 1) < 0)
		child_fail("descriptors");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);	/* neither can fail on valid pointers */
	(void)signal(SIGXFSZ, SIG_DFL);		/* its limit ends it */
	/* in its own namespace it leads already */
	(void)setsid();
	for (int i = 0; i < spec->nin; i++)
		fd[n++] = spec->in[i];
	for (int i = 0; i < s->nout - s->text; i++)
		fd[n++] = out[i];
	arrange(fd, n, program);
	command_line(spec, text, arg);
	if (!spec->prompt)
		lower_priority(spec->background);
	drop(spec);
	if (confine_program(PROGRAM_FD, FIRST_FD + spec->nin, FIRST_FD + n, &err) < 0) {
		(void)dprintf(2, "cannot start: %s\n", err.text);	/* then we end */
		_exit(JOB_NOT_RUN);
	}
	fexecve(PROGRAM_FD, arg, env);
	child_fail(program_path(spec));
}

/* --- the parent --- */

/* Its session, too: a job starts nothing, but if it could that would be no other.  It may
 * have ended by itself. */
static void signal_job(const struct job *j, int signal)
{
	(void)kill(-j->pid, signal);
	(void)kill(j->pid, signal);
}

static pid_t fork_in_namespaces(void)
{
	long flags = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Like fork(), in namespaces of its own where we may make them; where not, rights.c says so. */
static pid_t fork_apart(void)
{
	pid_t pid = fork_in_namespaces();

	return pid < 0 ? (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL) : pid;
}

bool job_has_namespaces(void)
{
	pid_t pid = fork_in_namespaces();

	if (pid == 0)
		_exit(0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return pid > 0;
}

static int make_outputs(struct job *j, struct err *err)
{
	for (int i = 0; i < shape[j->kind].nout; i++) {
		j->out[i] = memfd_create("morph-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (j->out[i] < 0)
			return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	}
	return 0;
}

static int launch(struct job *j, const struct job_spec *spec, struct err *err)
{
	int pipe_fd[2];

	int program = open(program_path(spec), O_PATH | O_CLOEXEC);
	if (program < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", program_path(spec),
			       strerror(errno));
	if (pipe2(pipe_fd, O_CLOEXEC) < 0) {
		err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
		close(program);
		return -1;
	}
	j->reason_fd = pipe_fd[0];
	j->pid = fork_apart();
	if (j->pid == 0)
		child(spec, j->out, pipe_fd[1], program);
	int e = errno;
	close(pipe_fd[1]);
	close(program);
	if (j->pid < 0)
		return err_set(err, ERR_SYS, "fork: %s", strerror(e));
	j->pidfd = (int)syscall(SYS_pidfd_open, j->pid, 0);
	if (j->pidfd < 0)
		return err_set(err, ERR_SYS, "pidfd_open: %s", strerror(errno));
	if (fcntl(j->reason_fd, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, ERR_SYS, "fcntl: %s", strerror(errno));
	return 0;
}

struct job *job_start(const struct job_spec *spec, struct err *err)
{
	struct job *j;

	if (spec->kind >= NJOB || spec->nin < shape[spec->kind].min_in ||
	    spec->nin > shape[spec->kind].max_in ||
	    (spec->kind == JOB_EXPORT && spec->a >= NJOB_FORM)) {
		err_set(err, ERR_INPUT, "a job of a wrong kind or number of inputs");
		return NULL;
	}
	j = calloc(1, sizeof(*j));
	if (!j) {
		err_set(err, ERR_SYS, "out of memory");
		return NULL;
	}
	j->kind = spec->kind;
	j->cpu_s = spec->cpu_s;
	j->pid = j->pidfd = j->reason_fd = -1;
	for (int i = 0; i < JOB_MAX_OUT; i++)
		j->out[i] = -1;
	j->wall = patience_begin(now_ms(), (uint64_t)spec->wall_s * 1000);
	if (make_outputs(j, err) < 0 || launch(j, spec, err) < 0) {
		job_free(j);
		return NULL;
	}
	return j;
}

int job_poll(const struct job *j, struct pollfd p[2])
{
	p[0] = (struct pollfd){ j->pidfd, POLLIN, 0 };
	p[1] = (struct pollfd){ j->reason_fd, POLLIN, 0 };
	if (j->stopped_ms)
		return -1;
	return j->timed_out ? 100 : patience_poll(&j->wall);
}

void job_stop(struct job *j)
{
	if (j->stopped_ms || j->timed_out || j->pid < 0)
		return;
	j->stopped_ms = now_ms();
	(void)patience_over(&j->wall, j->stopped_ms);	/* the next step sees it */
	signal_job(j, SIGSTOP);
}

void job_go_on(struct job *j)
{
	if (!j->stopped_ms || j->pid < 0)
		return;
	patience_skip(&j->wall, now_ms());
	j->stopped_ms = 0;
	signal_job(j, SIGCONT);
}

void job_hurry(struct job *j)
{
	struct sched_param none = { 0 };

	/* What may not be raised stays as it is; it is slow then. */
	if (j->pid >= 0)
		(void)sched_setscheduler(j->pid, SCHED_BATCH, &none);
	job_go_on(j);
}

pid_t job_process(const struct job *j)
{
	return j->pid < 0 ? 0 : j->pid;
}

/* Keeps the last line; the rest of what a hostile job may say is dropped.  One that goes on
 * talking is not listened to for long; of one that has `ended` all that a pipe can hold, 1 MiB,
 * is read, else the last line might not be. */
static void read_reason(struct job *j, bool ended)
{
	char buf[512];
	ssize_t k;

	for (int i = 0; i < (ended ? 4096 : 64) && j->reason_fd >= 0; i++) {
		k = read(j->reason_fd, buf, sizeof(buf));
		if (k < 0)
			return;		/* nothing more at present */
		if (k == 0) {
			close(j->reason_fd);
			j->reason_fd = -1;
		}
		for (ssize_t c = 0; c < k; c++) {
			if (j->nreason && j->reason[j->nreason - 1] == '\n')
				j->nreason = 0;
			if (j->nreason < sizeof(j->reason) - 1)
				j->reason[j->nreason++] = buf[c];
			else if (buf[c] == '\n')
				j->reason[j->nreason - 1] = '\n';
		}
	}
}

static void say_reason(struct job *j, int status, struct job_result *out)
{
	const char *text = j->reason, *program = program_name(j->kind);
	const char *command = shape[j->kind].name ? shape[j->kind].name : "";
	size_t n = strlen(program);

	if (j->nreason && j->reason[j->nreason - 1] == '\n')
		j->nreason--;
	j->reason[j->nreason] = '\0';
	for (char *c = j->reason; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	if (strncmp(text, program, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	if (j->timed_out)
		(void)snprintf(out->reason, sizeof(out->reason),
			       "%s%s%s took too long and was ended", program,
			       *command ? " " : "", command);
	else if (WIFSIGNALED(status))
		(void)snprintf(out->reason, sizeof(out->reason),
			       "%s%s%s was ended by signal %d (%s)", program,
			       *command ? " " : "", command, WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else if (*text)
		(void)snprintf(out->reason, sizeof(out->reason), "%s", text);
	else
		(void)snprintf(out->reason, sizeof(out->reason), "%s failed without a reason",
			       program);
}

/* Outputs may be believed to stay what they are only once they are sealed. */
static int seal_outputs(struct job *j, struct job_result *out)
{
	for (int i = 0; i < shape[j->kind].nout; i++)
		if (fcntl(j->out[i], F_ADD_SEALS, SEALS) < 0 ||
		    lseek(j->out[i], 0, SEEK_SET) != 0) {
			(void)snprintf(out->reason, sizeof(out->reason), "seal: %s",
				       strerror(errno));
			return -1;
		}
	out->nout = shape[j->kind].nout;
	for (int i = 0; i < out->nout; i++) {
		out->out[i] = j->out[i];
		j->out[i] = -1;
	}
	return 0;
}

static uint64_t cpu_ms(const struct rusage *used)
{
	return 1000 * (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
	       (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
}

/* Who crashes or takes too long does so again with the same file.  A missing library is told by
 * 127, a program of another version does not know the command, one that is killed lacks memory,
 * and ours do not fail without a word. */
static int exit_code_of(const struct job *j, int status, uint64_t cpu)
{
	/* the kernel counts by ticks what it ends for its CPU time */
	bool too_long = j->timed_out || 2 * cpu >= 1000 * (uint64_t)j->cpu_s;

	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGKILL && !too_long ? JOB_NOT_RUN : 1;
	if (j->timed_out)
		return 1;
	int code = WEXITSTATUS(status);
	return code == 2 || code > 3 || (code == 1 && !j->nreason) ? JOB_NOT_RUN : code;
}

enum err_kind job_err_kind(const struct job_result *r)
{
	return r->exit_code == 0 ? ERR_NONE : r->exit_code == 3 ? ERR_REFUSED :
	       r->exit_code == JOB_NOT_RUN ? ERR_SYS : ERR_INPUT;
}

enum err_kind job_proof_kind(const struct job_result *r)
{
	return r->exit_code == JOB_NOT_RUN ? ERR_SYS : ERR_REFUSED;
}

int job_step(struct job *j, struct job_result *out)
{
	int status;

	if (j->reason_fd >= 0)
		read_reason(j, false);
	struct rusage used = { 0 };
	pid_t pid = wait4(j->pid, &status, WNOHANG, &used);
	if (pid == 0 || (pid < 0 && errno == EINTR)) {
		/* One that has ended meanwhile is not too late, however late it is. */
		if (!j->timed_out && !j->stopped_ms && patience_over(&j->wall, now_ms())) {
			j->timed_out = true;
			signal_job(j, SIGKILL);
		}
		return 0;
	}
	j->pid = -1;
	if (j->reason_fd >= 0)
		read_reason(j, true);
	memset(out, 0, sizeof(*out));
	out->cpu_ms = cpu_ms(&used);
	out->exit_code = pid > 0 ? exit_code_of(j, status, out->cpu_ms) : 1;
	if (out->exit_code == 0 && seal_outputs(j, out) < 0)
		out->exit_code = 1;
	else if (out->exit_code)
		say_reason(j, status, out);
	return 1;
}

int job_run(const struct job_spec *spec, int out[JOB_MAX_OUT], struct err *err)
{
	struct job *j = job_start(spec, err);
	struct job_result r;
	struct pollfd f[2];

	if (!j)
		return -1;
	while (!job_step(j, &r)) {
		int timeout = job_poll(j, f);

		(void)poll(f, 2, timeout);	/* the step sees for itself what has happened */
	}
	job_free(j);
	if (r.exit_code)
		return err_set(err, r.exit_code == 3 ? ERR_REFUSED : ERR_SYS, "%s", r.reason);
	memcpy(out, r.out, sizeof(r.out));
	return 0;
}

uint64_t job_end(struct job *j)
{
	struct rusage used = { 0 };

	if (j->pid <= 0)
		return 0;
	signal_job(j, SIGKILL);
	while (wait4(j->pid, NULL, 0, &used) < 0 && errno == EINTR)
		;
	j->pid = -1;
	return cpu_ms(&used);
}

void job_free(struct job *j)
{
	if (!j)
		return;
	(void)job_end(j);	/* who wants to know the time has asked for it */
	for (int i = 0; i < JOB_MAX_OUT; i++)
		if (j->out[i] >= 0)
			close(j->out[i]);
	if (j->reason_fd >= 0)
		close(j->reason_fd);
	if (j->pidfd >= 0)
		close(j->pidfd);
	free(j);
}

void job_result_close(struct job_result *r)
{
	for (int i = 0; i < r->nout; i++)
		close(r->out[i]);
	r->nout = 0;
}
