/* woken forks|signals MS - ignored signals come all the time, while the process is stopped
 *
 * forks: one of its threads forks without end, and SIGCHLD tells of that; signals: another
 * process sends it SIGWINCH, SIGURG and SIGCONT.  Nobody has a handler for these, so no call is
 * ended by them: two threads wait in epoll_wait(), one in sigwaitinfo(), two write to processes
 * that read.  Prints "ok" and how many writes there were, or of the first call that was
 * different what it did.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1000000 };

static char data[SIZE];
static unsigned long calls;
static volatile bool failed;

static void tell(const char *what, long did)
{
	if (!__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED))
		(void)printf("%s: %ld, %s\n", what, did, did < 0 ? strerrorname_np(errno) :
			     "short");
}

/* Of what never comes. */
static void *wait_for_event(void *unused)
{
	struct epoll_event e;
	int epoll = epoll_create1(0);

	tell("epoll_wait", epoll_wait(epoll, &e, 1, -1));
	return unused;
}

static void *wait_for_signal(void *unused)
{
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	tell("sigwaitinfo", sigwaitinfo(&usr1, NULL));
	return unused;
}

/* A child of the main thread reads what is written to what this returns. */
static int start_reader(void)
{
	static char some[100003];
	int pair[2];

	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &(int){ SIZE / 4 }, sizeof(int));
	if (fork() != 0)
		return pair[1];
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(pair[0], some, sizeof(some)) > 0)
		continue;
	_exit(0);
}

static void *write_all(void *fd)
{
	for (;;) {
		long n = write(*(int *)fd, data, SIZE);

		if (n != SIZE)
			tell("write", n);
		(void)__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	}
	return fd;
}

static void *fork_all(void *unused)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			tell("waitpid", -1);
	}
	return unused;
}

static void signal_all(void)
{
	static const int ignored[] = { SIGWINCH, SIGURG, SIGCONT };
	pid_t parent = getpid();

	if (fork() != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned n = 0; kill(parent, ignored[n % 3]) == 0; n++)
		(void)usleep(1000);
	_exit(0);
}

int main(int argc, char **argv)
{
	bool forks = argc > 1 && strcmp(argv[1], "forks") == 0;
	void *(*const run[])(void *) = { wait_for_event, write_all, forks ? fork_all : NULL,
					 write_all, wait_for_event, wait_for_signal };
	unsigned long ms = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	static int fd[2];
	pthread_t t;

	fd[0] = start_reader(), fd[1] = start_reader();
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++)
		if (run[i])
			(void)pthread_create(&t, NULL, run[i], &fd[i == 1]);
	if (!forks)
		signal_all();
	for (unsigned long i = 0; i < ms / 10 && !failed; i++)
		(void)usleep(10000);
	if (!failed)
		(void)printf("ok %lu\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
	(void)fflush(stdout);
	_exit(0);
}
