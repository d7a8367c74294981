/* clock.c - the time, and how waits are cut short */
#include "live/clock.h"

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

static void do_nothing(int signal_no)
{
	(void)signal_no;
}

void live_alarm(uint64_t in_ns)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct itimerval at = { { 0, in_ns ? ALARM_US : 0 }, { (time_t)(in_ns / 1000000000),
				(suseconds_t)(in_ns % 1000000000 / 1000 + (in_ns != 0)) } };

	(void)sigaction(SIGALRM, &action, NULL);	/* neither can fail */
	(void)setitimer(ITIMER_REAL, &at, NULL);
}
