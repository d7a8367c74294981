/* finish.h - a thread that is let go goes on with the call that its stop has cut short */
#ifndef LIVE_FINISH_H
#define LIVE_FINISH_H

#include <stdbool.h>

struct live_thread;
struct live_threads;

/* By the registers of a stopped thread alone: may there be something to do for it? */
bool finish_may_be(const struct live_thread *x);
/* Of a stopped thread: it goes back to a call that waits with a mask of its own, and stands at
 * its entry then: FINISH_ENTERED.  False: it has none, and stands as it stood. */
bool finish_enter(const struct live_threads *t, struct live_thread *x);
/* Of a stopped thread: it goes on, with the rest of its call, or back into one that waits with
 * a mask of its own, and is traced until that is done.  False: it has neither, and stands as it
 * stood. */
bool finish_begin(const struct live_threads *t, struct live_thread *x);
/* What it told meanwhile (waitpid); once all is done it is let go: x->asked is false then. */
void finish_go_on(const struct live_threads *t, struct live_thread *x, int status);

/* No further part of it. */
void finish_end(struct live_thread *x);

#endif
