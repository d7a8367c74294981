/* age.h - is the call that a thread is in too old to begin anew?
 *
 * WHY      A call with a time limit waits for all of it again when its thread was stopped in it
 *          (restart.h).  That does no harm to a call that has just begun.
 *
 * HOW      A thread that was put on a CPU between two looks has begun its call since the first
 *          of them.  One that runs may be on its way out of its call still, where some calls
 *          fail with EINTR as well, though their time is over: the kernel's code there takes
 *          microseconds, but the thread may be kept from its CPU in it, and its CPU time be
 *          brought up to date meanwhile.  So it must be seen to run on.
 */
#ifndef LIVE_AGE_H
#define LIVE_AGE_H

#include <stdbool.h>
#include <stdint.h>

/* What one look at a thread tells of it. */
struct age_seen {
	uint64_t now_ns;
	uint64_t cpu_ns, runs;	/* its CPU time, and how often it was put on a CPU */
	bool limited;		/* it sleeps in a call with a time limit */
	bool running;		/* it is on a CPU, or waits for one */
};

/* Zeros before the first look. */
struct age {
	struct age_seen last;
	bool old;
	bool perhaps;		/* in a call with a time limit, if it runs */
	uint64_t since_ns;	/* its call has not begun before; 0: not known */
	uint64_t from_ns;	/* its CPU time when it was in such a call, or perhaps was */
	int grown;		/* how often its CPU time was seen to have grown since */
};

/* Takes in a look; a->old: it must not be stopped. */
void age_look(struct age *a, const struct age_seen *seen);

#endif
