/* yield.h - when work that nobody waits for makes room for others
 *
 * A state machine over times and conditions, without system calls.  Work begins when the
 * machine is idle.  When it is not idle any more, the job is stopped; when it has been calm for
 * YIELD_CALM_MS, the job goes on.  A job that has been stopped for YIELD_MOST_MS, or is stopped
 * while somebody waits for us, is given up if it can be done again as well later, else it goes
 * on, now in a hurry.
 */
#ifndef MANAGER_WORK_YIELD_H
#define MANAGER_WORK_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/parent/job.h"

enum { YIELD_CALM_MS = 5000, YIELD_MOST_MS = 600000 };

enum yield_kind {
	YIELD_NEVER,		/* somebody waits for the job */
	YIELD_STOPS,		/* others depend on its end: stopped for a while at most */
	YIELD_ENDS,		/* can be given up */
};

struct yield {			/* of one job; zeroed before it starts */
	bool stopped, done;	/* done: given up, or in a hurry */
	uint64_t stopped_ms, busy_ms;	/* when; when it was last not calm */
};

/* To be asked every quarter of a second while the job is there. */
enum yield_act yield_step(struct yield *y, enum yield_kind kind, bool calm, bool urgent,
			  uint64_t now_ms);

#endif
