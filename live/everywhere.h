/* everywhere.h - a generation out of all processes that have it */
#ifndef LIVE_EVERYWHERE_H
#define LIVE_EVERYWHERE_H

#include <stdint.h>
#include <sys/types.h>

struct err;
struct live_limits;

struct live_everywhere {
	unsigned out;		/* processes that it was taken out of */
	unsigned left;		/* that have it still, of those that were asked last */
	pid_t one_left;
	uint64_t pause_ns;	/* the longest one */
};

/* Maps originals back in all processes that have that very file in their place: in `first`
 * before others (0: none is), and in what forks meanwhile.  Who cannot give it back now is
 * asked again for `within_ns`.  -1: *err says why out->one_left has it still, or that there is
 * no /proc. */
int live_off_everywhere(pid_t first, int generation, const struct live_limits *limits,
			uint64_t within_ns, struct live_everywhere *out, struct err *err);

#endif
