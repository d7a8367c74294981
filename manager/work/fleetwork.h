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

/* As whom this machine gives now; only where something is shared. */
int work_fleet_giver(struct work *w, struct store_giver *g, struct err *err);
/* NULL: it was not asked for. */
struct work_fleet_wanted *work_fleet_wanted(const struct work_fleet *f,
					    const struct digest *original);
/* Is the fleet's evidence of the module used that this policy is for? */
bool work_fleet_takes(const struct policy *p);
/* May its executions, which are everybody's here, be given as things are now? */
bool work_fleet_gives_counts(struct work *w, const struct store_module *m);
/* Brings executions to one sum; what ran at all still does. */
void work_fleet_level(struct store_profile *executions);
/* An exchange is over: when the next one is.  `more`: not all was given. */
void work_fleet_plan(struct work *w, bool succeeded, bool more);

#endif
