/* waiting.h - the call that a thread waits in, and what being stopped would do to it */
#ifndef LIVE_WAITING_H
#define LIVE_WAITING_H

#include <stdint.h>
#include <sys/types.h>

#include "live/restart.h"

struct waiting {
	long nr;		/* -1: in none */
	uint64_t arg[6], sp;
};

/* By the call, and by what its descriptor and its time limit are in the process. */
enum restart waiting_kind(pid_t pid, int pidfd, const struct waiting *w);

#endif
