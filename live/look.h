/* look.h - what a thread does, as files of /proc tell while it runs */
#ifndef LIVE_LOOK_H
#define LIVE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct live_thread;
struct live_threads;

/* The thread's file of that name, up to size - 1 bytes and a NUL; -1: there is none. */
int live_look_read(const struct live_threads *t, pid_t tid, const char *name, char *to,
		   size_t size);
/* May it be stopped?  `again`: looks only at what that depends on.  LIVE_DONE or NOT_NOW. */
int live_look_at(const struct live_threads *t, struct live_thread *x, bool again,
		 struct err *err);
#endif
