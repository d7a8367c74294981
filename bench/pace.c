/* pace.c - how often a generation that is as fast is called slower, and when one that is slower is found
 *
 *	pace [SWAPS]
 *
 * Simulated uses of a program, observed for 10 minutes of sampled time each, 250 samples a second:
 *
 *	mixed		30 runs an observation, of sizes that spread by a factor of 3 up and down, the
 *			typical one changing by 20 % from one observation to the next; 15 % of the time
 *			elsewhere
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

#include "policy/pace.h"

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Samples that meet so much time. */
static double sampled(double time_s, uint32_t *samples)
{
	static const double period_s = 0.004;
	double mean = time_s / period_s;
	double n = floor(mean + sqrt(mean) * normal() + 0.5);

	n = n < 0 ? 0 : n;
	*samples += (uint32_t)n;
	return n * period_s;
}

struct use {
	const char *name;
	double size_s, spread;		/* of a run; of its logarithm */
	double drift;			/* of the logarithm, from one observation to another */
	double rest, mix;		/* share; of its logarithm, from one observation to another */
	bool ends;
};

static const struct use uses[] = {
	{ "mixed", 0.5, 1.2, 0.2, 0.15, 0.02, true },
	{ "even", 0.5, 0.02, 0.005, 0.15, 0.02, true },
	{ "alone", 0.5, 0.02, 0.005, 0, 0, true },
	{ "lasting", 0.5, 1.2, 0.2, 0.15, 0.02, false },
	{ "restless", 0.5, 1.2, 0.2, 0.15, 0.1, true },
};
static const double slower[] = { 0, 0.02, 0.05, 0.1, 0.2 };
enum { NUSE = sizeof(uses) / sizeof(uses[0]), NSLOWER = sizeof(slower) / sizeof(slower[0]),
       RUNS = 30, BEFORE = 32 };

/* One observation of a module that takes `times` as long. */
static void observe(struct pace *p, const struct use *u, double times)
{
	double typical = u->size_s * exp(u->drift * normal());
	double module = (1 - u->rest) * times, rest = u->rest * exp(u->mix * normal());
	struct pace_sums s = { .covered_s = 600 };

	for (int i = 0; i < RUNS; i++) {
		double size = typical * exp(u->spread * normal());

		s.module_s += sampled(size * module, &s.samples);
		s.rest_s += sampled(size * rest, &s.rest_samples);
	}
	s.samples += s.rest_samples;
	if (u->ends) {
		s.runs = RUNS;
		s.run_s = s.module_s + s.rest_s;
	}
	pace_add(p, 1, &s, 600);
}

/* Observations until it was called slower; 0: it was not. */
static uint32_t swap(const struct use *u, double times)
{
	struct pace p = { 0 };

	for (int i = 0; i < BEFORE; i++)
		observe(&p, u, 1);
	pace_swap(&p, 1);
	for (uint32_t n = 1; n <= PACE_MAX; n++) {
		observe(&p, u, times);
		if (pace_look(&p) && p.verdict != PACE_OPEN)
			return p.verdict == PACE_SLOWER ? n : 0;
	}
	return 0;
}

static void print_cell(const struct use *u, double more, uint32_t swaps)
{
	uint32_t found = 0, at[PACE_MAX + 1] = { 0 }, median = 0, sum = 0;

	for (uint32_t i = 0; i < swaps; i++) {
		uint32_t n = swap(u, 1 + more);

		found += n > 0;
		at[n]++;
	}
	for (uint32_t n = 1; n <= PACE_MAX && 2 * sum < found; n++) {
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
			print_cell(&uses[i], slower[k], k ? swaps / 20 + 1 : swaps);
		printf("\n");
	}
	return 0;
}
