/* workcost.h - CPU time for one unit of a process's work, and which work to count
 *
 * CPU time for one unit of work is what a layout changes; how much work there is to do in a
 * second is the world's affair.
 */
#ifndef POLICY_WORKCOST_H
#define POLICY_WORKCOST_H

#include <stdint.h>

#include "lib/procwork.h"

/* CPU seconds for each unit of work between two readings; 0 where there was none of either. */
double workcost(const struct procwork *from, const struct procwork *to,
		enum procwork_kind kind);
/* The same; 0 also where there were too few units to go by. */
double workcost_enough(const struct procwork *from, const struct procwork *to,
		       enum procwork_kind kind);
/* The standard deviation of the logarithms of costs; infinite where one is 0, or there is
 * none. */
double workcost_spread(const double *cost, uint32_t n);
/* The kind of work whose cost spreads least; sleeps are the last choice.  -1: all are infinite.
 * PROCWORK_COUNT is left out. */
int workcost_steadiest(const double spread[PROCWORK_KINDS]);
/* The same, from one reading to the next. */
int workcost_choose(const struct procwork *r, uint32_t n);

#endif
