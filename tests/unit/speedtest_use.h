/* speedtest_use.h - simulated use of a program, as its samples tell of it
 *
 * Jobs of a log-normal size, each observation with a typical size and a mix of work of its own;
 * time is known by samples, 250 a second, and what the module itself does not take is taken by
 * the kernel and libraries.
 */
#ifndef TEST_SPEEDTEST_USE_H
#define TEST_SPEEDTEST_USE_H

#include <math.h>
#include <stdint.h>

#include "policy/speedtest.h"

enum { USE_JOBS = 30 };

struct use {
	double size_s, spread;		/* of a job; of its logarithm */
	double drift;			/* of the logarithm, from one observation to another */
	/* share; of its logarithm, from one observation to another */
	double rest, mix;
	/* in an observation; 0: as much work, but no job ever ends */
	uint32_t jobs;
};

static uint64_t use_seed = 1;

static inline double use_uniform(void)
{
	use_seed = use_seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(use_seed >> 11) + 0.5) / 9007199254740992.0;
}

static inline double use_normal(void)
{
	return sqrt(-2 * log(use_uniform())) * cos(6.283185307179586 * use_uniform());
}

/* Samples that meet so much time. */
static inline double use_sampled(double time_s, uint32_t *samples)
{
	static const double period_s = 0.004;
	double mean = time_s / period_s;
	double n = floor(mean + sqrt(mean) * use_normal() + 0.5);

	n = n < 0 ? 0 : n;
	*samples += (uint32_t)n;
	return n * period_s;
}

/* One observation of a module that takes `times` as long. */
static inline void use_observe(struct speedtest *p, uint32_t key, const struct use *u,
			       double times)
{
	double typical = u->size_s * exp(u->drift * use_normal());
	double module = (1 - u->rest) * times, rest = u->rest * exp(u->mix * use_normal());
	struct speedtest_sums s = { .covered_s = 600 };

	for (uint32_t i = 0; i < (u->jobs ? u->jobs : USE_JOBS); i++) {
		double size = typical * exp(u->spread * use_normal());

		s.module_s += use_sampled(size * module, &s.samples);
		s.rest_s += use_sampled(size * rest, &s.rest_samples);
	}
	s.samples += s.rest_samples;
	s.runs = u->jobs;
	s.run_s = u->jobs ? s.module_s + s.rest_s : 0;
	speedtest_add(p, key, &s, 600);
}

#endif
