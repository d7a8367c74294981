/* confinedjob.c - files are opened, all rights given up, and only then the work is done
 *
 * Tested by tests/e2e/refusals.sh (paths), tests/e2e/daemon.sh (descriptors) and
 * tests/unit/manager/import/test_importjob.c (limits).
 */
#include "lib/confinedjob.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confine.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"

enum {
	INPUT_MAX = 1 << 30,	/* bytes; the largest program of a distribution is 200 MiB */
	/* An allocation of this size goes back to the system when it is freed, for the next
	 * step; chosen, not measured. */
	LARGE = 1 << 18,
};

struct opened {			/* the parent's view of one output */
	int fd;
	char *temporary;	/* NULL: written in place or not wanted */
	struct io_output file;	/* else: what it becomes */
};

int confinedjob_wrap(const struct confinedjob *job, int i, struct err *err)
{
	const char *arg = job->in[i].arg;

	return strncmp(arg, "fd:", 3) == 0 ? -1 : err_wrap(err, "'%s'", arg);
}

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
enum { NENDING = sizeof(ending) / sizeof(ending[0]) };

/* Signals that end: from the first temporary file on they find out about it. */
static void block(int how)
{
	sigset_t set;

	(void)sigemptyset(&set);	/* cannot fail, nor below */
	for (int i = 0; i < NENDING; i++)
		(void)sigaddset(&set, ending[i]);
	(void)sigprocmask(how, &set, NULL);
}

static int open_output(struct confinedjob_out *out, struct opened *o, struct err *err)
{
	*o = (struct opened){ .fd = -1 };
	if (!out->arg)
		return 0;
	bool is_fd = strncmp(out->arg, "fd:", 3) == 0;
	if (!is_fd && io_output_of(out->arg, 0666, &o->file, err) < 0)
		return -1;
	if (is_fd || o->file.in_place) {
		o->fd = io_open_write(out->arg, err);
		return o->fd < 0 ? -1 : 0;
	}
	if (asprintf(&o->temporary, "%s.XXXXXX", o->file.at) < 0) {
		o->temporary = NULL;
		return err_set(err, ERR_SYS, "out of memory");
	}
	block(SIG_BLOCK);
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		err_set(err, ERR_SYS, "'%s': create: %s", out->arg, strerror(errno));
		free(o->temporary);
		o->temporary = NULL;
		return -1;
	}
	return 0;
}

/* What cannot be read as a whole is refused by name before anything else is done. */
static int check_input(const struct confinedjob *job, int i, const struct stat *st,
		       struct err *err)
{
	if (S_ISDIR(st->st_mode))
		err_set(err, ERR_REFUSED, "a directory");
	else if (S_ISREG(st->st_mode) && st->st_size > INPUT_MAX)
		err_set(err, ERR_REFUSED, "larger than %d MiB", INPUT_MAX >> 20);
	else
		return 0;
	(void)confinedjob_wrap(job, i, err);		/* already failing */
	return -1;
}

static int open_input(struct confinedjob *job, int i, int *fd, struct stat *st, struct err *err)
{
	const char *arg = job->in[i].arg;

	*fd = io_open_read(arg, err);
	if (*fd < 0)
		return -1;
	if (fstat(*fd, st) < 0)
		return err_set(err, ERR_SYS, "'%s': fstat: %s", arg, strerror(errno));
	job->in[i].mode = st->st_mode;
	return check_input(job, i, st, err);
}

/* Nobody means to have a file replaced by what is made of it; by whichever name. */
static int check_output(const struct confinedjob *job, const struct stat *in,
			const struct confinedjob_out *out, struct err *err)
{
	struct stat st;

	if (!out->arg || strncmp(out->arg, "fd:", 3) == 0 || stat(out->arg, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	for (int i = 0; i < job->nin; i++)
		if (in[i].st_dev == st.st_dev && in[i].st_ino == st.st_ino)
			return err_set(err, ERR_USAGE, "'%s': the same file as the input '%s'; "
				       "the output needs one of its own", out->arg,
				       job->in[i].arg);
	return 0;
}

/* Runs in the child; the exit code. */
static int work_confined(struct confinedjob *job, const int *in_fd, const struct opened *out)
{
	/* given, so that stdio asks nothing of the kernel */
	static char stdout_buffer[1 << 16];
	struct err err = { 0 };

	(void)mallopt(M_MMAP_THRESHOLD, LARGE);		/* an advice */
	(void)setvbuf(stdout, stdout_buffer, _IOFBF, sizeof(stdout_buffer));
	job->arena = arena_new();
	for (int i = 0; i < job->nin; i++) {
		struct confinedjob_in *in = &job->in[i];

		if (io_read_all(in_fd[i], INPUT_MAX, job->arena, &in->bytes, &err) < 0) {
			(void)confinedjob_wrap(job, i, &err);	/* already failing */
			goto fail;
		}
	}
	if (confine_job(job->memory_bytes, job->cpu_s, &err) < 0 ||
	    job->work(job, job->ctx, &err) < 0)
		goto fail;
	for (int i = 0; i < job->nout; i++)
		if (out[i].fd >= 0 && io_write_all(out[i].fd, wr_bytes(&job->out[i].bytes).p,
						   job->out[i].bytes.n, &err) < 0) {
			err_wrap(&err, "'%s'", job->out[i].arg);
			goto fail;
		}
	if (fflush(stdout) == 0)
		return 0;
	err_set(&err, ERR_SYS, "standard output: %s", strerror(errno));
fail:
	(void)fflush(stdout);		/* already failing; the message below says why */
	say_line(stderr, "%s: %s", program_invocation_short_name, err.text);
	return err_exit_code(&err);
}

/* --- who is told to end takes what is half done with him --- */

static volatile sig_atomic_t working, told;	/* the child; the signal that came */

static void end_child(int sig)
{
	told = sig;
	(void)kill(working, SIGKILL);	/* not waited for yet, so it is nobody else */
}

/* Where nohup(1) or its like asks for that, they go on being ignored. */
static void watch(pid_t pid)
{
	struct sigaction a = { .sa_handler = end_child }, was;

	working = pid;
	for (int i = 0; i < NENDING; i++)
		if (sigaction(ending[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			(void)sigaction(ending[i], &a, NULL);
	block(SIG_UNBLOCK);
}

/* As if nothing had been there to be removed. */
static void end_as_told(void)
{
	(void)signal(told, SIG_DFL);
	(void)raise(told);
	block(SIG_UNBLOCK);
}

static int wait_for(pid_t pid)
{
	siginfo_t info;
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return 1;
	block(SIG_BLOCK);		/* its number is free then: nobody is to be ended */
	if (waitpid(pid, &status, 0) < 0 || told)
		return 1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int sig = WTERMSIG(status);
	say_line(stderr, "%s: the job died of signal %d (%s)%s", program_invocation_short_name,
		 sig, strsignal(sig),
		 sig == SIGSYS    ? ": it tried a forbidden system call"
		 : sig == SIGXCPU ? ": CPU time limit"
				  : "");
	return 1;
}

/* Gives a finished output its name, or removes it. */
static int settle_output(const struct confinedjob *job, const struct confinedjob_out *out,
			 struct opened *o, bool keep, struct err *err)
{
	mode_t mode = out->mode_from >= 0 ? job->in[out->mode_from].mode & 0777 : o->file.mode;
	int rc = 0;

	if (keep && fchmod(o->fd, mode) < 0)
		rc = err_set(err, ERR_SYS, "'%s': chmod: %s", out->arg, strerror(errno));
	if (keep && rc == 0 && rename(o->temporary, o->file.at) < 0)
		rc = err_set(err, ERR_SYS, "'%s': rename: %s", out->arg, strerror(errno));
	if (!keep || rc < 0)
		(void)unlink(o->temporary);	/* best effort: we are failing anyway */
	free(o->temporary);
	o->temporary = NULL;
	return rc;
}

/* Is there an output that must get its name once the job has succeeded? */
static bool needs_name(const struct opened *out, int n)
{
	for (int i = 0; i < n; i++)
		if (out[i].temporary)
			return true;
	return false;
}

int confinedjob_run(struct confinedjob *job)
{
	int in_fd[CONFINEDJOB_FILES], code = 1;
	struct opened out[CONFINEDJOB_FILES] = { 0 };
	struct stat in[CONFINEDJOB_FILES];
	struct err err = { 0 };
	int nopen = 0;

	for (int i = 0; i < job->nin; i++)
		if (open_input(job, i, &in_fd[i], &in[i], &err) < 0)
			goto fail;
	for (int i = 0; i < job->nout; i++)
		if (check_output(job, in, &job->out[i], &err) < 0)
			goto fail;
	for (; nopen < job->nout; nopen++)
		if (open_output(&job->out[nopen], &out[nopen], &err) < 0)
			goto fail;
	if (!needs_name(out, nopen))
		_exit(work_confined(job, in_fd, out));
	pid_t pid = fork();
	if (pid < 0) {
		err_set(&err, ERR_SYS, "fork: %s", strerror(errno));
		goto fail;
	}
	if (pid == 0) {
		block(SIG_UNBLOCK);
		_exit(work_confined(job, in_fd, out));
	}
	watch(pid);
	code = wait_for(pid);
	err.kind = ERR_NONE;
	goto settle;
fail:
	say_line(stderr, "%s: %s", program_invocation_short_name, err.text);
	code = err_exit_code(&err);
settle:
	for (int i = 0; i < nopen; i++)
		if (out[i].temporary &&
		    settle_output(job, &job->out[i], &out[i], code == 0, &err) < 0) {
			say_line(stderr, "%s: %s", program_invocation_short_name, err.text);
			code = 1;
		}
	if (told)
		end_as_told();
	block(SIG_UNBLOCK);
	return code;
}
