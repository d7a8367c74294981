/* finish.h - a thread that is let go makes the rest of the call that its stop has cut short */
#ifndef LIVE_FINISH_H
#define LIVE_FINISH_H

#include <stdbool.h>

struct live_thread;
struct live_threads;

/* Of a stopped thread: it goes on, with the rest of its call, and is traced until that is
 * done.  False: it has no rest, and stands as it stood. */
bool finish_begin(const struct live_threads *t, struct live_thread *x);
/* What it told meanwhile (waitpid); once all is done it is let go: x->asked is false then. */
void finish_go_on(const struct live_threads *t, struct live_thread *x, int status);

/* No further part of it. */
void finish_end(struct live_thread *x);

#endif
