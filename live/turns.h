/* turns.h - a process with its generation and without it, for a while each */
#ifndef LIVE_TURNS_H
#define LIVE_TURNS_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/procwork.h"

struct err;
struct live_limits;
struct live_plan;

struct live_turns {
	struct procwork done[2];	/* without it, with it */
	uint64_t pause_ns;		/* the longest one */
};

/* Two turns of `ms` milliseconds, of which chance says which is first, and what was done in
 * each.  The process has the generation afterwards, also where it is -1, unless that could not
 * be mapped again, or SIGTERM, SIGINT or SIGHUP ended it: nobody is there any more who knows of
 * it, so if it is out then it stays out. */
int live_turns(pid_t pid, const struct live_plan *plan, int generation,
	       const struct live_limits *limits, uint64_t ms, struct live_turns *out,
	       struct err *err);

#endif
