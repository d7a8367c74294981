/* idle.h - decides whether the machine is idle, from a state that sense.c has read
 *
 * Private to policy/ and its tests: judging is a pure function of a state that tests make up.
 * A value that this machine does not offer is negative, and its condition counts as met.
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
	double pressure_pct[NPRESSURE];	/* share of time in which some task was stalled */
	int users_idle;			/* 1; 0: somebody is active */
	uint64_t users_since_s;		/* how long that has been so */
	int mains;			/* 1; 0: on battery */
	double heat_pct;		/* the hottest zone, in % of where it is throttled */
	bool throttled;			/* a CPU was, in the last minute */
	unsigned minute;		/* since local midnight, 0..1439 */
};

bool idle_judge(const struct policy *p, const struct idle_state *now,
		struct idle_condition out[IDLE_NCONDITION]);

#endif
