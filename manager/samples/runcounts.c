/* runcounts.c - adds up what the runs of a counting generation have counted
 *
 * Tested by tests/unit/manager/samples/test_runcounts.c.
 */
#include "manager/samples/runcounts.h"

#include "lib/countsfile.h"

static uint64_t add(uint64_t x, uint64_t y)
{
	return x + y < x ? UINT64_MAX : x + y;
}

/* By how many bits the counts of a run are made smaller. */
static unsigned excess(const uint64_t *run, uint32_t n)
{
	uint64_t sum = 0;
	unsigned bits = 0;

	for (uint32_t i = COUNTSFILE_FIRST; i < n; i++)
		sum = add(sum, run[i]);
	while (sum >> bits > RUNCOUNTS_MOST)
		bits++;
	return bits;
}

void runcounts_add(uint64_t *all, const uint64_t *run, uint32_t n)
{
	unsigned bits = excess(run, n);

	all[0] = add(all[0], 1);
	for (uint32_t i = COUNTSFILE_FIRST; i < n; i++)
		if (run[i])	/* most are zero, in pages that need not be touched */
			all[i] = add(all[i], run[i] >> bits);
}
