/* perf_branches.h - the events that bring branch stacks: the last branches that a task took */
#ifndef MONITOR_PERF_BRANCHES_H
#define MONITOR_PERF_BRANCHES_H

#include <stdbool.h>

struct perf_event_attr;

enum { PERF_BRANCHES_KINDS = 2, PERF_BRANCHES_RATE_MAX = 1000 };	/* 1/s; chosen */

/* What stands in the place of the registers' ABI in samples of such an event: the raw data that
 * it does not have, 4 bytes of nothing. */
#define PERF_BRANCHES_MARK 4

/* Makes *attr, which has what all events have, an event of this kind, to be tried in ascending
 * order.  `ip`: other samples begin with their PC, so these do, too. */
void perf_branches_attr(unsigned kind, unsigned hz, bool ip, struct perf_event_attr *attr);

#endif
