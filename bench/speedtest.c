/* speedtest.c - how often a generation that is as fast is called slower, and when one that is
 * slower is found
 *
 *	speedtest [SWAPS]
 *
 * Simulated uses of a program, observed for 10 minutes of sampled time each, 250 samples a
 * second:
 *
 *	mixed		30 runs an observation, of sizes that spread by a factor of 3 up and
 *			down, the typical one changing by 20 % from one observation to the
 *			next; 15 % of the time elsewhere
 *	even		30 runs of nearly the same size
 *	alone		the same, with all the time in the module
 *	lasting		as mixed, but no run ever ends
 *	restless	as mixed, and what a use needs of the rest changes by 10 %, not 2 %
 *
 * SWAPS of each for the first column (default 10,000), a twentieth for the others.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/speedtest.h"
#include "tests/unit/speedtest_use.h"

struct named {
	const char *name;
	struct use use;
};

static const struct named uses[] = {
	{ "mixed", { 0.5, 1.2, 0.2, 0.15, 0.02, USE_JOBS } },
	{ "even", { 0.5, 0.02, 0.005, 0.15, 0.02, USE_JOBS } },
	{ "alone", { 0.5, 0.02, 0.005, 0, 0, USE_JOBS } },
	{ "lasting", { 0.5, 1.2, 0.2, 0.15, 0.02, 0 } },
	{ "restless", { 0.5, 1.2, 0.2, 0.15, 0.1, USE_JOBS } },
};
static const double slower[] = { 0, 0.02, 0.05, 0.1, 0.2 };
enum { NUSE = sizeof(uses) / sizeof(uses[0]), NSLOWER = sizeof(slower) / sizeof(slower[0]),
       RUNS = 30, BEFORE = 32 };

/* Observations until it was called slower; 0: it was not. */
static uint32_t swap(const struct use *u, double times)
{
	struct speedtest p = { 0 };

	for (int i = 0; i < BEFORE; i++)
		use_observe(&p, 1, u, 1);
	speedtest_swap(&p, 1);
	for (uint32_t n = 1; n <= SPEEDTEST_MAX; n++) {
		use_observe(&p, 1, u, times);
		if (speedtest_look(&p) && p.verdict != SPEEDTEST_OPEN)
			return p.verdict == SPEEDTEST_SLOWER ? n : 0;
	}
	return 0;
}

static void print_cell(const struct use *u, double more, uint32_t swaps)
{
	uint32_t found = 0, at[SPEEDTEST_MAX + 1] = { 0 }, median = 0, sum = 0;

	for (uint32_t i = 0; i < swaps; i++) {
		uint32_t n = swap(u, 1 + more);

		found += n > 0;
		at[n]++;
	}
	for (uint32_t n = 1; n <= SPEEDTEST_MAX && 2 * sum < found; n++) {
		sum += at[n];
		median = n;
	}
	if (more > 0 && !found)
		printf(" none |");
	else if (more > 0)
		printf(" %.1f %%, after %u |", 100.0 * found / swaps, median);
	else
		printf(" %u of %u |", found, swaps);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	uint32_t swaps = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;

	for (int i = 0; i < NUSE; i++) {
		printf("| %s |", uses[i].name);
		for (int k = 0; k < NSLOWER; k++)
			print_cell(&uses[i].use, slower[k], k ? swaps / 20 + 1 : swaps);
		printf("\n");
	}
	return 0;
}
