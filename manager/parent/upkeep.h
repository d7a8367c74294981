/* upkeep.h - what the parent does to its own folders by itself, now and then
 *
 * At the start, and while something is left to do, swaps that were interrupted are settled
 * (install_recover.h); once a day originals that had their time go (originals.h).  What
 * happens is logged.
 */
#ifndef MANAGER_PARENT_UPKEEP_H
#define MANAGER_PARENT_UPKEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/parent/install_recover.h"

enum { UPKEEP_MOST_TOLD = 16 };

struct upkeep {
	int originals_fd, ledger_fd;
	uint64_t next_ms;		/* when upkeep_step() has something to do */
	uint64_t recover_ms, sweep_ms, wait_ms;
	int stuck;			/* operations that could not be settled the last time */
	/* not told to the manager yet; of more the log tells */
	struct install_recovered recovered[UPKEEP_MOST_TOLD];
	int nrecovered;
};

/* Settles what it can at once, and warns of originals that the ledger does not name. */
void upkeep_begin(struct upkeep *u, int originals_fd, int ledger_fd);
/* A swap has failed: if something is left of it, it is seen to within a minute. */
void upkeep_soon(struct upkeep *u);
/* Between requests.  True: u->recovered has something new. */
bool upkeep_step(struct upkeep *u);
/* Milliseconds until upkeep_step() has something to do; -1 while it may not be called, since
 * whatever it is late for has to wait for something else. */
int upkeep_poll(const struct upkeep *u, bool may);

#endif
