/* hot.c - a profile of some functions of a program, chosen by chance
 *
 *	hot TABLE PATH FUNCTIONS
 *
 * TABLE is what `morph-edit analyze --table` says of the program at PATH.  The profile on
 * standard output is as ticks of a clock make it: few of the chosen functions have thousands of
 * samples, most have one or two, and some of a function's blocks take most of what it has.  The
 * same input gives the same profile.  What it costs to work with a profile can be told by it,
 * not what is gained.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/blocktable.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"

enum { MAX_TABLE = 1 << 30, MOST_SAMPLES = 4096, HOTTEST_BLOCK = 64 };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* 1 with chance 1/2, 2 or more with chance 1/2, 3 or more with 1/3, and so on up to `most`. */
static double few_are_great(uint64_t *seed, uint32_t most)
{
	return floor(most / (1.0 + (double)(next_random(seed) % most)));
}

/* samples[f] of `want` functions that can be moved, 0 of the others. */
static void choose(const struct blocktable *t, uint32_t want, double *samples, uint64_t *seed)
{
	uint32_t left = 0;

	for (uint32_t f = 0; f < t->nfn; f++)
		left += t->fn[f].reason == 0;
	for (uint32_t f = 0; f < t->nfn; f++) {
		if (t->fn[f].reason || next_random(seed) % left-- >= want)
			continue;
		samples[f] = few_are_great(seed, MOST_SAMPLES);
		want--;
	}
}

/* Each block's share of its function's samples, as a whole number: the rest by chance. */
static void spread(const struct blocktable *t, struct arena *a, const double *samples,
		   uint64_t *seed, struct profile *p)
{
	double *weight = arena_array(a, t->nblock, sizeof(*weight));
	double *sum = arena_array(a, t->nfn, sizeof(*sum));

	for (uint32_t i = 0; i < t->nblock; i++) {
		weight[i] = t->block[i].ninsn * few_are_great(seed, HOTTEST_BLOCK);
		sum[t->block[i].fn] += weight[i];
	}
	p->block = arena_array(a, t->nblock, sizeof(*p->block));
	for (uint32_t i = 0; i < t->nblock; i++) {
		const struct blocktable_block *b = &t->block[i];
		double share = samples[b->fn] * weight[i] / sum[b->fn];
		double chance = (double)(next_random(seed) % 65536) / 65536;
		double n = floor(share + chance);

		if (n > 0)
			p->block[p->nblock++] = (struct profile_block){ t->base + b->off, n };
	}
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct blocktable t;
	struct bytes file;
	struct err err;
	struct wr out = { 0 };
	uint64_t seed = 88172645463325252;

	if (argc != 4) {
		(void)fprintf(stderr, "usage: hot TABLE PATH FUNCTIONS\n");
		return 2;
	}
	int fd = io_open_read(argv[1], &err);
	if (fd < 0 || io_read_all(fd, MAX_TABLE, a, &file, &err) < 0 ||
	    blocktable_read(file, &t, &err) < 0) {
		(void)fprintf(stderr, "hot: %s\n", err.text);
		return 1;
	}
	double *samples = arena_array(a, t.nfn, sizeof(*samples));
	struct profile p = { .module = argv[2], .original = t.original, .clock = "tick" };

	choose(&t, (uint32_t)strtoul(argv[3], NULL, 10), samples, &seed);
	spread(&t, a, samples, &seed, &p);
	profile_write(&p, &out);
	if (io_write_all(STDOUT_FILENO, out.p, out.n, &err) < 0) {
		(void)fprintf(stderr, "hot: %s\n", err.text);
		return 1;
	}
	wr_free(&out);
	blocktable_free(&t);
	arena_free(a);
	return 0;
}
