/* metercount.c - the user's own counter: a command that prints one number
 *
 * Tested by tests/unit/manager/try/test_meter.c.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/interrupt.h"
#include "manager/try/meter.h"

enum { LIMIT_MS = 10000, TEXT = 256 };	/* chosen */

bool meter_number(const char *text, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || !isfinite(v))
		return false;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return false;
	*out = v;
	return true;
}

static void run_child(const char *command, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	interrupt_child();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setsid();		/* Ctrl-C is for us; we end it */
	if (getppid() == parent && null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* What it says, as far as it fits, until it closes its output.  -1: it takes too long, or we
 * are interrupted. */
static int take_text(int fd, char text[TEXT], struct err *err)
{
	struct pollfd p = { fd, POLLIN, 0 };
	size_t n = 0;

	for (;;) {
		char more[TEXT];
		int rc = interrupt_poll(&p, 1, LIMIT_MS);
		ssize_t got = rc > 0 ? read(fd, more, sizeof(more)) : -1;

		if (rc < 0)
			return err_set(err, ERR_SYS, "interrupted");
		if (rc == 0)
			return err_set(err, ERR_USAGE, "takes more than %d s", LIMIT_MS / 1000);
		if (got <= 0)
			break;
		for (ssize_t i = 0; i < got && n < TEXT - 1; i++)
			text[n++] = more[i];
	}
	text[n] = '\0';
	return strlen(text) == n && n < TEXT - 1 ? 0 : err_set(err, ERR_USAGE,
							       "prints no number");
}

static int end(pid_t pid, int rc, struct err *err)
{
	int status = 0;

	if (rc < 0) {		/* and what it runs, once it has its session */
		(void)kill(pid, SIGKILL);
		(void)kill(-pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc < 0)
		return -1;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_USAGE, "died of signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(err, ERR_USAGE, "ended with code %d", WEXITSTATUS(status));
	return 0;
}

int meter_run_count(const char *command, double *out, struct err *err)
{
	char text[TEXT];
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		run_child(command, fd[1], parent);
	close(fd[1]);
	int rc = pid < 0 ? err_set(err, ERR_SYS, "fork: %s", strerror(errno)) :
		 end(pid, take_text(fd[0], text, err), err);
	close(fd[0]);
	if (rc == 0 && !meter_number(text, out))
		rc = err_set(err, ERR_USAGE, "prints no number");
	return rc < 0 ? err_wrap(err, "--count: '%s'", command) : 0;
}
