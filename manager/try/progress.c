/* progress.c - the clock of a trial, and lines of what it does */
#include "manager/try/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "lib/say.h"

double progress_now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* cannot fail */
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double progress_elapsed_s(double begun_s)
{
	return progress_now_s() - begun_s;
}

void progress_say(double begun_s, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut, if it is so long */
	va_end(ap);
	say_line(stderr, "%5.1f s  %s", progress_elapsed_s(begun_s), text);
}
