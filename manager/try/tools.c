/* tools.c - starts programs of ours, waits for them, and has their reasons */
#include "manager/try/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/try/interrupt.h"

enum { AT_ONCE_MAX = 16 };

static unsigned cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CPU_COUNT(&set);

	return n < AT_ONCE_MAX ? (unsigned)n : AT_ONCE_MAX;
}

static void run_child(const struct tool *t, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *argv[TOOL_ARGUMENTS];

	memcpy(argv, t->argv, sizeof(argv));	/* execv() does not change the texts */
	interrupt_child();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setsid();		/* Ctrl-C is for us; we end it */
	if (getppid() == parent && null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
	    dup2(t->said, 2) >= 0)
		execv(argv[0], argv);
	_exit(127);
}

static void start(struct tool *t)
{
	pid_t parent = getpid();

	t->pidfd = -1;
	t->said = memfd_create("said", MFD_CLOEXEC);
	t->pid = t->said < 0 ? -1 : fork();
	if (t->pid == 0)
		run_child(t, parent);
	if (t->pid > 0)
		t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (t->pidfd < 0)
		err_set(&t->err, ERR_SYS, "'%s': %s", t->argv[0], strerror(errno));
}

/* Its first line, without its name in front. */
static void take_reason(struct tool *t, int status)
{
	char text[1024];
	ssize_t n = pread(t->said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	const char *colon = strstr(text, ": ");
	if (WIFSIGNALED(status))
		err_set(&t->err, ERR_SYS, "'%s' died of signal %d", t->argv[0],
			WTERMSIG(status));
	else if (WEXITSTATUS(status))
		err_set(&t->err, WEXITSTATUS(status) == 3 ? ERR_REFUSED : ERR_SYS, "%s",
			colon ? colon + 2 : "it failed and did not say why");
}

static void finish(struct tool *t)
{
	int status = 0;

	while (t->pid > 0 && waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (t->err.kind == ERR_NONE)
		take_reason(t, status);
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->said >= 0)
		close(t->said);
	t->pidfd = t->said = -1;
	t->pid = 0;
}

/* Waits until one of tool[0 .. n) ends, and finishes all that have. */
static int wait_some(struct tool *tool, size_t n, unsigned *running)
{
	struct pollfd p[AT_ONCE_MAX];
	struct tool *of[AT_ONCE_MAX];
	nfds_t np = 0;

	for (size_t i = 0; i < n; i++)
		if (tool[i].pid > 0) {
			of[np] = &tool[i];
			p[np++] = (struct pollfd){ tool[i].pidfd, POLLIN, 0 };
		}
	if (interrupt_poll(p, np, -1) < 0)
		return -1;
	for (nfds_t i = 0; i < np; i++)
		if (p[i].revents) {
			finish(of[i]);
			--*running;
		}
	return 0;
}

int tools_run(struct tool *tool, size_t n, struct err *err)
{
	unsigned most = cpus(), running = 0;
	bool go_on = interrupt_signal() == 0;

	for (size_t i = 0; i < n && go_on; i++) {
		if (!tool[i].argv[0])
			continue;
		start(&tool[i]);
		if (tool[i].err.kind != ERR_NONE) {
			if (tool[i].pid > 0)
				(void)kill(tool[i].pid, SIGKILL);
			finish(&tool[i]);
			continue;
		}
		if (++running == most)
			go_on = wait_some(tool, i + 1, &running) == 0;
	}
	while (go_on && running)
		go_on = wait_some(tool, n, &running) == 0;
	if (go_on)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (tool[i].pid > 0) {
			/* and what it runs, once it has its session */
			(void)kill(tool[i].pid, SIGKILL);
			(void)kill(-tool[i].pid, SIGKILL);
			finish(&tool[i]);
		}
	return err_set(err, ERR_SYS, "interrupted");
}
