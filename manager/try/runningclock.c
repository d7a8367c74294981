/* runningclock.c - what all steps of a trial of a process use: its clock, its lines */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "lib/say.h"
#include "manager/try/running.h"

double running_now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* cannot fail */
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double running_elapsed_s(const struct running *t)
{
	return running_now_s() - t->begun_s;
}

void running_say(const struct running *t, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut, if it is so long */
	va_end(ap);
	say_line(stderr, "%5.1f s  %s", running_elapsed_s(t), text);
}
