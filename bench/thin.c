/* thin.c - a profile as fewer samples would have given it
 *
 *	thin PROFILE SAMPLES SEED
 *
 * Prints the profile of a random subset of SAMPLES of the samples, each subset being as likely
 * as any other; edges and calls are thinned in the same proportion.  The same seed gives the
 * same subset.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"

enum { MAX_PROFILE = 1 << 30 };

struct draw {
	uint64_t seed;
	double left, want;		/* of the observations not yet looked at */
};

static double next_random(uint64_t *state)	/* splitmix64, in [0, 1) */
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* How many of the next n observations are in the subset. */
static double take(struct draw *d, double n)
{
	double taken = 0;

	for (double i = 0; i < floor(n); i++) {
		if (next_random(&d->seed) * d->left < d->want) {
			taken++;
			d->want--;
		}
		d->left--;
	}
	return taken;
}

static void thin(struct profile *p, double want, uint64_t seed)
{
	struct draw d = { .seed = seed, .want = want };
	double part, edges = 0, calls = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nblock; i++)
		d.left += floor(p->block[i].samples);
	part = d.left > 0 ? fmin(want / d.left, 1) : 0;
	for (uint32_t i = 0; i < p->nblock; i++) {
		p->block[n] = p->block[i];
		p->block[n].samples = take(&d, p->block[i].samples);
		n += p->block[n].samples > 0;
	}
	p->nblock = n;
	for (uint32_t i = 0; i < p->nedge; i++)
		edges += floor(p->edge[i].count);
	d.left = edges;
	d.want = round(part * edges);
	n = 0;
	for (uint32_t i = 0; i < p->nedge; i++) {
		p->edge[n] = p->edge[i];
		p->edge[n].count = take(&d, p->edge[i].count);
		n += p->edge[n].count > 0;
	}
	p->nedge = n;
	for (uint32_t i = 0; i < p->ncall; i++)
		calls += floor(p->call[i].count);
	d.left = calls;
	d.want = round(part * calls);
	n = 0;
	for (uint32_t i = 0; i < p->ncall; i++) {
		p->call[n] = p->call[i];
		p->call[n].count = take(&d, p->call[i].count);
		n += p->call[n].count > 0;
	}
	p->ncall = n;
	p->outside = round(part * p->outside);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct profile p;
	struct bytes text;
	struct wr out = { 0 };
	struct err err;

	if (argc != 4) {
		fprintf(stderr, "usage: thin PROFILE SAMPLES SEED\n");
		return 2;
	}
	int fd = io_open_read(argv[1], &err);
	if (fd < 0 || io_read_all(fd, MAX_PROFILE, a, &text, &err) < 0 ||
	    profile_read(text, a, &p, &err) < 0) {
		fprintf(stderr, "thin: '%s': %s\n", argv[1], err.text);
		return 1;
	}
	thin(&p, strtod(argv[2], NULL), strtoull(argv[3], NULL, 10));
	profile_write(&p, &out);
	if (io_write_all(STDOUT_FILENO, out.p, out.n, &err) < 0) {
		fprintf(stderr, "thin: %s\n", err.text);
		return 1;
	}
	return 0;
}
