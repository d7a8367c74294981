/* burst.h - a process counts for a while, and then runs its original again */
#ifndef LIVE_BURST_H
#define LIVE_BURST_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct live_limits;
struct live_plan;

struct live_burst {
	uint64_t counted_ms;	/* by the clock, between both changes */
	uint64_t cpu_ms;	/* that the process took meanwhile */
	uint64_t pause_ns;	/* the longer one */
};

/* Maps the generation, which counts, for `ms` milliseconds, or until SIGTERM, SIGINT or SIGHUP
 * comes, takes it out of the process and of whatever that has forked meanwhile, and writes what
 * was counted to `out`.
 *
 * -1: ERR_REFUSED when nothing was changed; any other kind when something may have been, but
 * it is out again unless the sentence says that it, or a fork of it, goes on counting. */
int live_burst(pid_t pid, const struct live_plan *plan, int generation,
	       const struct live_limits *limits, uint64_t ms, int out, struct live_burst *burst,
	       struct err *err);

#endif
