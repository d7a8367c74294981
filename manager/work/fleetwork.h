/* fleetwork.h - what the files about a fleet share among themselves */
#ifndef MANAGER_WORK_FLEETWORK_H
#define MANAGER_WORK_FLEETWORK_H

#include "manager/work/work.h"

struct work_fleet_given {
	struct digest original;
	uint32_t kind, epoch;
	uint64_t sequence;
};

/* A file that was asked for, by digest, and of which kinds an answer was taken. */
struct work_fleet_wanted {
	struct digest original;
	bool taken[2];
};

struct work_fleet_judged {
	int64_t module;
	double samples;			/* its own, when it was judged */
};

struct work_fleet_gives {
	int64_t module;
	struct digest original;
	bool yes;
};

/* NULL: it was not asked for. */
struct work_fleet_wanted *work_fleet_wanted(const struct work_fleet *f,
					    const struct digest *original);
/* An exchange is over: when the next one is.  `more`: not all was given. */
void work_fleet_plan(struct work *w, bool succeeded, bool more);

#endif
