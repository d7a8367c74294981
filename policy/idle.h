/* idle.h - the idle conditions apart from where their values come from
 *
 * Private to policy/ and its tests: judging is a pure function of a state that tests make up.
 */
#ifndef POLICY_IDLE_H
#define POLICY_IDLE_H

#include <stdbool.h>

#include "policy/policy.h"

struct idle_state {
	double load1;		/* one-minute load average; < 0: not available */
	unsigned ncpu;		/* online CPUs, at least 1 */
	double psi_cpu_pct;	/* some avg10; < 0: not available */
	unsigned minute;	/* since local midnight, 0..1439 */
};

/* "some avg10" of the text of /proc/pressure/cpu; -1.0 when it is not there. */
double idle_parse_psi(const char *text);
bool idle_judge(const struct policy *p, const struct idle_state *now,
		struct idle_condition out[IDLE_NCONDITION]);

#endif
