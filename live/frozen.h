/* frozen.h - is a process held by the freezer of its control group, as "docker pause" does? */
#ifndef LIVE_FROZEN_H
#define LIVE_FROZEN_H

#include <stdbool.h>
#include <sys/types.h>

/* Of a thread, or the main one of a process, as far as that can be seen. */
bool live_frozen(pid_t tid);

#endif
