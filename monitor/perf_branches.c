/* perf_branches.c - which events bring branch stacks, and how often
 *
 * Kind 0: cycles in user mode, by frequency.  So Intel's processors have it (LBR, 16 or 32
 * branches), and AMD's from Zen 4 on (LbrExtV2, 16).  Kind 1: AMD's Zen 3 (BRS) knows it with
 * its event of retired taken branches alone, and by a fixed period.  A core retires at most
 * some 10^9 of them a second, so that a period of 10^9 by the rate keeps the rate below it; the
 * period is odd, so that it is in step with few loops.
 *
 * What it costs is bounded by the rate: an interrupt that reads 32 branches takes some
 * microseconds, and a record has at most 40 + 24 * 32 bytes.
 *
 * PERF_SAMPLE_RAW is asked for as a mark.  These events have no raw data, and then the kernel
 * writes that it is 4 bytes of zeros.  In a ring that has samples with registers as well this
 * tells them apart: there an ABI, which is 0, 1 or 2, stands at that place.
 *
 * Tested by tests/unit/monitor/test_perf_branches.c.
 */
#include "monitor/perf_branches.h"

#include <linux/perf_event.h>
#include <stdint.h>

enum { RETIRED_TAKEN_BRANCHES = 0xc4 };		/* of AMD's */
static const uint64_t TAKEN_A_SECOND = 1000000000;

void perf_branches_attr(unsigned kind, unsigned hz, bool ip, struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			     (ip ? PERF_SAMPLE_IP : 0);
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	attr->exclude_kernel = 1;
	if (kind == 0) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		attr->freq = 1;
		attr->sample_freq = hz;
		return;
	}
	attr->type = PERF_TYPE_RAW;
	attr->config = RETIRED_TAKEN_BRANCHES;
	attr->sample_period = TAKEN_A_SECOND / hz | 1;
	attr->exclude_idle = attr->exclude_hv = 0;
}
