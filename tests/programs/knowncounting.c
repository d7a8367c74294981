/* knowncounting.c - what a program may do that counts privately: it ends the same, in each mode
 *
 *	knowncounting MODE
 *
 * Each mode prints what it saw, and nothing that differs from run to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static sigjmp_buf back;

__attribute__((noinline)) static unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 3 + (i % 7 == 3 ? i : 1);
	return sum;
}

static void handler(int signal)
{
	caught += signal == SIGALRM || signal == SIGUSR1;
}

static void leave(int signal)
{
	siglongjmp(back, signal);
}

/* Signals at any instruction, counters among them. */
static void signals(void)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	static char stack[1 << 16];
	stack_t on = { .ss_sp = stack, .ss_size = sizeof(stack) };
	unsigned sum = 0;

	(void)sigaltstack(&on, NULL);
	(void)sigaction(SIGALRM, &a, NULL);
	(void)ualarm(200, 200);
	while (caught < 50)
		sum = work(1000);
	(void)ualarm(0, 0);
	printf("%u\n", sum);
}

static void jumps(void)
{
	struct sigaction a = { .sa_handler = leave };
	volatile int n = 0;

	(void)sigaction(SIGUSR1, &a, NULL);
	while (n < 20)
		if (sigsetjmp(back, 1) == 0)
			(void)raise(SIGUSR1);
		else
			n += (int)(work(100) % 2 + 1) > 0;
	printf("%d\n", n);
}

static void children(void)
{
	int status = 0;

	(void)fflush(stdout);
	for (int i = 0; i < 5; i++) {
		pid_t pid = i % 2 ? vfork() : fork();

		if (pid == 0)
			_exit((int)(work((unsigned)i * 100) % 50));
		(void)waitpid(pid, &status, 0);
		printf("%d ", WEXITSTATUS(status));
	}
	printf("\n");
}

/* What the start left behind: no descriptor, nothing below the mapped memory's limit. */
static void looks(void)
{
	int fds = 0;

	for (int fd = 0; fd < 256; fd++)
		fds += fcntl(fd, F_GETFD) >= 0;
	printf("%d %s\n", fds, strerror(errno));
}

static void root(void)
{
	if (chroot("/proc") == 0 && chdir("/") == 0)
		printf("%u\n", work(5000));
	else
		printf("%u without\n", work(5000));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "signals") == 0)
		signals();
	else if (strcmp(mode, "jumps") == 0)
		jumps();
	else if (strcmp(mode, "children") == 0)
		children();
	else if (strcmp(mode, "looks") == 0)
		looks();
	else if (strcmp(mode, "root") == 0)
		root();
	else if (strcmp(mode, "exec") == 0 && work(10) > 0)
		(void)execl(argv[0], argv[0], "looks", (char *)NULL);
	else if (strcmp(mode, "quick") == 0)
		_exit((int)(work(100) % 100));
	else if (strcmp(mode, "killed") == 0)
		(void)raise(SIGKILL);
	else if (strcmp(mode, "aborted") == 0)
		abort();
	return 3;
}
