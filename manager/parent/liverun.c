/* liverun.c - starts morph-live, gathers what it says and how it ends; see liverun.h
 *
 * Tested by tests/unit/manager/parent/test_livework.c.
 */
#include "manager/parent/liverun.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"

/* Threads of others stand still while it runs: it must not wait for a CPU. */
enum { NICE = -10, FIRST_FD = 3, MOST_FD = 4 };

/* Away from the places that they are wanted at; then there. */
static int arrange(const int *fd, int nfd, int out)
{
	int high[MOST_FD];

	if (dup2(out, 1) < 0 || dup2(out, 2) < 0)
		return -1;
	for (int i = 0; i < nfd; i++)
		if ((high[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, FIRST_FD + MOST_FD)) < 0)
			return -1;
	for (int i = 0; i < nfd; i++)
		if (dup2(high[i], FIRST_FD + i) < 0)
			return -1;
	return (int)syscall(SYS_close_range, FIRST_FD + nfd, ~0U, 0);
}

static void child(const char *program, const char *const *arg, const int *fd, int nfd,
		  bool stops, int out)
{
	char name[] = "morph-live", locale[] = "LC_ALL=C", *env[] = { locale, NULL };
	char *argv[LIVERUN_ARGS + 2] = { name };
	sigset_t none;

	for (int n = 0; arg[n] && n < LIVERUN_ARGS; n++)
		argv[n + 1] = strdup(arg[n]);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);	/* neither can fail on valid pointers */
	(void)signal(SIGPIPE, SIG_DFL);
	if (stops)			/* without the right it is slower */
		(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)setsid();			/* what ends the daemon does not end it half way */
	if (arrange(fd, nfd, out) == 0)
		(void)execve(program, argv, env);
	(void)!write(2, "cannot be started\n", 18);	/* then the exit code tells */
	_exit(1);
}

int liverun_start(struct liverun *r, const char *program, const char *const *arg,
		  const int *fd, int nfd, bool stops, struct err *err)
{
	int out[2];

	if (!r->said)
		r->said = malloc(LIVERUN_SAID);
	if (!r->said || pipe2(out, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "morph-live: %s", strerror(errno));
	r->nsaid = 0;
	r->said[0] = '\0';
	r->pid = fork();
	if (r->pid == 0)
		child(program, arg, fd, nfd, stops, out[1]);
	close(out[1]);
	r->pipe = out[0];
	r->pidfd = r->pid > 0 ? (int)syscall(SYS_pidfd_open, r->pid, 0) : -1;
	if (r->pidfd >= 0 && fcntl(r->pipe, F_SETFL, O_NONBLOCK) == 0)
		return 0;
	err_set(err, ERR_SYS, "morph-live: %s", strerror(errno));
	close(r->pipe);
	if (r->pidfd >= 0)
		close(r->pidfd);
	if (r->pid > 0) {
		(void)kill(r->pid, SIGKILL);	/* it has done nothing yet */
		(void)waitpid(r->pid, NULL, 0);
	}
	r->pid = 0;
	return -1;
}

void liverun_poll(const struct liverun *r, struct pollfd p[2])
{
	p[0] = (struct pollfd){ r->pidfd, POLLIN, 0 };
	p[1] = (struct pollfd){ r->pipe, POLLIN, 0 };
}

/* What does not fit is dropped. */
static void take(struct liverun *r)
{
	char rest[4096];
	ssize_t n;

	do {
		size_t room = LIVERUN_SAID - 1 - r->nsaid;

		n = room ? read(r->pipe, r->said + r->nsaid, room)
			 : read(r->pipe, rest, sizeof(rest));
		if (n > 0 && room)
			r->nsaid += (size_t)n;
	} while (n > 0);
	r->said[r->nsaid] = '\0';
}

int liverun_step(struct liverun *r)
{
	int status;

	take(r);
	if (waitpid(r->pid, &status, WNOHANG) != r->pid)
		return -1;
	take(r);
	close(r->pipe);
	close(r->pidfd);
	r->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void liverun_hurry(const struct liverun *r)
{
	if (r->pid)		/* it may have ended */
		(void)syscall(SYS_pidfd_send_signal, r->pidfd, SIGTERM, NULL, 0);
}

pid_t liverun_leave(struct liverun *r)
{
	pid_t pid = r->pid;

	if (pid) {
		close(r->pipe);
		close(r->pidfd);
	}
	r->pid = 0;
	return pid;
}

void liverun_free(struct liverun *r)
{
	(void)liverun_leave(r);
	free(r->said);
	r->said = NULL;
}
