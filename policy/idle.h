/* idle.h - does the machine count as idle?  The conditions apart from where their values come
 * from
 *
 * Private to policy/ and its tests: judging is a pure function of a state that tests make up.
 * Values that this machine does not offer are negative and do not stand in the way.
 */
#ifndef POLICY_IDLE_H
#define POLICY_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

enum { PRESSURE_CPU, PRESSURE_IO, PRESSURE_MEMORY, NPRESSURE };

struct idle_state {
	double load1;			/* one-minute load average */
	unsigned ncpu;			/* online CPUs, at least 1 */
	double busy_pct;		/* CPU time of others, of all CPUs */
	double pressure_pct[NPRESSURE];	/* of the time in which some task was stalled */
	int users_idle;			/* 1; 0: somebody is active */
	uint64_t users_since_s;		/* for so long they have been */
	int mains;			/* 1; 0: on battery */
	double heat_pct;		/* the hottest zone, in % of where it is throttled */
	bool throttled;			/* a CPU was, in the last minute */
	unsigned minute;		/* since local midnight, 0..1439 */
};

bool idle_judge(const struct policy *p, const struct idle_state *now,
		struct idle_condition out[IDLE_NCONDITION]);

#endif
