/* runs.h - how much time processes of each kind spend in each file that they have mapped
 *
 * A kind is a program and the program that started it.  For every kind and every file that its
 * processes have mapped there is their time in that file, their time outside of it, and, for
 * processes that have ended, their whole time since exec.  Malloc-backed and bounded: beyond
 * RUNS_USES_MAX nothing new is entered.
 */
#ifndef MANAGER_SAMPLES_RUNS_H
#define MANAGER_SAMPLES_RUNS_H

#include <stdint.h>

struct runs;
struct spaces;
struct spool_event;

enum { RUNS_USES_MAX = 1 << 16, RUNS_NO_FILE = UINT32_MAX };	/* USES_MAX: chosen */

struct runs_use {
	uint32_t file, exe, from;	/* of the spaces; from: RUNS_NO_FILE when not known */
	uint64_t module_ns, rest_ns;
	uint64_t run_ns;		/* from exec to exit, of the processes that ended */
	uint32_t runs;			/* number of these processes */
	uint32_t samples;		/* that module_ns and rest_ns are made of */
	uint32_t rest_samples;		/* that rest_ns is made of */
};

struct runs *runs_new(struct spaces *spaces);	/* keeps `spaces`, which stays the caller's */
void runs_free(struct runs *r);			/* NULL is allowed */

/* Counts a sample of the process, in that file or (RUNS_NO_FILE) in none. */
void runs_sample(struct runs *r, uint32_t pid, uint32_t file);
/* To be called with each event before the spaces get it: an exec or an exit ends a run. */
void runs_event(struct runs *r, const struct spool_event *ev, uint64_t period_ns);
/* Enters the time till now of the processes that have not ended. */
void runs_flush(struct runs *r, uint64_t period_ns);
/* Makes runs_of() possible; after it nothing can be entered until runs_clear(). */
void runs_sort(struct runs *r);
/* What is known of one file, an entry for each kind; *n of them. */
const struct runs_use *runs_of(const struct runs *r, uint32_t file, uint32_t *n);
void runs_clear(struct runs *r);

#endif
