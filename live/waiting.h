/* waiting.h - the call that a thread waits in, and what being stopped would do to it */
#ifndef LIVE_WAITING_H
#define LIVE_WAITING_H

#include <stdint.h>
#include <sys/types.h>

#include "live/restart.h"

struct waiting {
	pid_t tid;
	long nr;		/* -1: in none */
	uint64_t arg[6], sp;
	bool filtered;		/* filters say which calls the thread may make (seccomp) */
};

/* The thread has descriptors of its own (unshare()): by the pidfd of its process another's are
 * asked. */
bool waiting_own_descriptors(pid_t pid, pid_t tid);
/* By the call, and by what its descriptor and its time limit are in the process. */
enum restart waiting_kind(pid_t pid, int pidfd, const struct waiting *w);

#endif
