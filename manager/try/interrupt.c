/* interrupt.c - SIGINT, SIGTERM and SIGHUP come where a trial waits, and nowhere else */
#include "manager/try/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };
enum { NWATCHED = sizeof(watched) / sizeof(watched[0]) };

static volatile sig_atomic_t came;
static struct sigaction before[NWATCHED];
static sigset_t mask_before;

static void note(int sig)
{
	came = sig;
}

void interrupt_begin(void)
{
	struct sigaction a = { .sa_handler = note };
	sigset_t block;

	came = 0;
	(void)sigemptyset(&block);	/* cannot fail, nor below */
	for (int i = 0; i < NWATCHED; i++) {
		(void)sigaddset(&block, watched[i]);
		(void)sigaction(watched[i], &a, &before[i]);
		if (before[i].sa_handler == SIG_IGN)	/* nohup(1), for one */
			(void)sigaction(watched[i], &before[i], NULL);
	}
	(void)sigprocmask(SIG_BLOCK, &block, &mask_before);
}

void interrupt_child(void)
{
	for (int i = 0; i < NWATCHED; i++)
		(void)sigaction(watched[i], &before[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void interrupt_end(void)
{
	interrupt_child();
}

int interrupt_signal(void)
{
	return came;
}

static long long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* cannot fail */
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int interrupt_poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
	long long end = now_ms() + timeout_ms;

	for (;;) {
		long long left = timeout_ms < 0 ? 0 : end - now_ms();
		struct timespec t = { left > 0 ? left / 1000 : 0,
				      left > 0 ? left % 1000 * 1000000 : 0 };
		int rc = ppoll(p, n, timeout_ms < 0 ? NULL : &t, &mask_before);

		if (came)
			return -1;
		if (rc >= 0 || errno != EINTR)
			return rc;
	}
}
