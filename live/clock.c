/* clock.c - the time, and how waits are cut short */
#include "live/clock.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { ALARM_US = 200 };

uint64_t live_clock_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* cannot fail */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void (*volatile called)(void);

static void be_woken(int signal_no)
{
	int before = errno;

	(void)signal_no;
	if (called)
		called();
	errno = before;
}

void live_alarm_calls(uint64_t in_ns, void (*call)(void))
{
	struct sigaction action = { .sa_handler = be_woken };
	struct itimerval at = { { 0, in_ns ? ALARM_US : 0 }, { (time_t)(in_ns / 1000000000),
				(suseconds_t)(in_ns % 1000000000 / 1000 + (in_ns != 0)) } };

	called = call;
	(void)sigaction(SIGALRM, &action, NULL);	/* neither can fail */
	(void)setitimer(ITIMER_REAL, &at, NULL);
}

void live_alarm(uint64_t in_ns)
{
	live_alarm_calls(in_ns, NULL);
}
