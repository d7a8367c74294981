/* progress.h - the clock of a trial, and lines of what it does */
#ifndef MANAGER_TRY_PROGRESS_H
#define MANAGER_TRY_PROGRESS_H

/* Seconds, by a clock that nobody sets. */
double progress_now_s(void);
double progress_elapsed_s(double begun_s);
/* A line of what is done now, on standard error. */
void progress_say(double begun_s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
