/* kept HOW - a process that has something where others have nothing, or gets it later
 *
 *	alternate | coroutine
 *	            its main thread waits on a stack of its own, which is a part of the first
 *	            one, by a handler or without; ends with 1 when what is below has changed
 *	sleep | poll | poll-on | epoll
 *	            waits in the call for 3 seconds, the last two for ever, or until SIGTERM
 *	            comes; ends with 1 when it was ended by something else
 *	locks | locks-all | private
 *	            on SIGUSR1 locks a page of memory, or all of it, or lets nobody look into
 *	            it any more; ends with 0 on SIGTERM
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WAIT_S = 3, MARK = 0xa5, BELOW = 1 << 16, SMALL = 8192 };

static volatile sig_atomic_t ends, asked;
static ucontext_t first, second;

static void end(int sig)
{
	ends = sig == SIGTERM;
	asked |= sig == SIGUSR1;
}

/* Until SIGTERM. */
static void stand(int sig)
{
	const struct timespec t = { .tv_nsec = 20000000 };

	(void)sig;
	while (!ends)
		(void)nanosleep(&t, NULL);
}

static void run_coroutine(void)
{
	stand(0);
}

/* The buffer is on the first stack, below what it runs on. */
static int wait_above(int on_signal)
{
	struct {
		unsigned char below[BELOW], stack[SMALL];
	} room;
	const stack_t small = { .ss_sp = room.stack, .ss_size = sizeof(room.stack) };
	struct sigaction a = { .sa_handler = stand, .sa_flags = SA_ONSTACK };
	volatile unsigned char *below = room.below;
	int changed = 0;

	memset(room.below, MARK, sizeof(room.below));
	if (on_signal) {
		(void)sigaltstack(&small, NULL);
		(void)sigaction(SIGUSR2, &a, NULL);
		(void)raise(SIGUSR2);
	} else {
		(void)getcontext(&second);
		second.uc_stack = small;
		second.uc_link = &first;
		makecontext(&second, run_coroutine, 0);
		(void)swapcontext(&first, &second);
	}
	for (size_t i = 0; i < sizeof(room.below); i++)
		changed |= below[i] != MARK;
	return changed;
}

static int wait_long(const char *how)
{
	const struct timespec t = { .tv_sec = WAIT_S };

	if (strcmp(how, "sleep") == 0)
		return nanosleep(&t, NULL) != 0 && !ends;
	if (strcmp(how, "epoll") == 0)
		return epoll_wait(epoll_create1(0), &(struct epoll_event){ 0 }, 1, -1) != 0 &&
		       !ends;
	return poll(NULL, 0, strcmp(how, "poll") == 0 ? WAIT_S * 1000 : -1) != 0 && !ends;
}

static int get_later(const char *how)
{
	int rc = 0;

	while (!asked && !ends)
		(void)usleep(10000);
	if (strcmp(how, "private") == 0)
		rc = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	else if (strcmp(how, "locks") == 0)
		rc = mlock(&first, 1);
	else
		rc = mlockall(MCL_CURRENT);
	stand(0);
	return rc != 0;
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = end };

	if (argc < 2)
		return 2;
	(void)sigaction(SIGTERM, &a, NULL);
	(void)sigaction(SIGUSR1, &a, NULL);
	if (strcmp(argv[1], "alternate") == 0 || strcmp(argv[1], "coroutine") == 0)
		return wait_above(argv[1][0] == 'a');
	if (strcmp(argv[1], "sleep") == 0 || strstr(argv[1], "poll"))
		return wait_long(argv[1]);
	return get_later(argv[1]);
}
