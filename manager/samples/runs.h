/* runs.h - how much time processes of each kind spend in each file that they have mapped
 *
 * A kind is a program and the program that started it.  For every file that a process has
 * mapped there is the time in that file, the time of the same processes in all the rest, and,
 * of those that end, their whole time since exec.  Malloc-backed and bounded: beyond
 * RUNS_USES_MAX nothing new is entered.
 */
#ifndef MANAGER_SAMPLES_RUNS_H
#define MANAGER_SAMPLES_RUNS_H

#include <stdint.h>

struct runs;
struct spaces;
struct spool_event;

enum { RUNS_USES_MAX = 1 << 16, RUNS_NO_FILE = UINT32_MAX };

struct runs_use {
	uint32_t file, exe, from;	/* of the spaces; from: RUNS_NO_FILE when not known */
	uint64_t module_ns, rest_ns;
	uint64_t run_ns;		/* of processes that ended, */
	uint32_t runs;			/* so many */
	uint32_t samples, rest_samples;	/* of module_ns and rest_ns; of rest_ns */
};

struct runs *runs_new(struct spaces *spaces);	/* which it uses, the caller's */
void runs_free(struct runs *r);			/* NULL is allowed */

/* A sample of the process: in that file, or RUNS_NO_FILE. */
void runs_sample(struct runs *r, uint32_t pid, uint32_t file);
/* Before the spaces take it in: an exec or an exit ends a run. */
void runs_event(struct runs *r, const struct spool_event *ev, uint64_t period_ns);
/* Enters what the processes that go on have had till now. */
void runs_flush(struct runs *r, uint64_t period_ns);
/* After it they can only be asked for and cleared. */
void runs_sort(struct runs *r);
/* Those of one file. */
const struct runs_use *runs_of(const struct runs *r, uint32_t file, uint32_t *n);
void runs_clear(struct runs *r);

#endif
