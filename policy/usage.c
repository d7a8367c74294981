/* usage.c - computes how alike two uses of a program are, from samples of its blocks
 *
 * Tested by tests/unit/policy/test_decide.c.
 */
#include "policy/usage.h"

#include <math.h>
#include <stddef.h>

static const double z95 = 1.645;	/* 95 % quantile of the normal distribution */

double usage_total(const struct usage *u)
{
	double sum = 0;

	for (uint32_t i = 0; i < u->n; i++)
		sum += u->count[i].samples;
	return sum;
}

/* Walks both in step: each block of either once, with the samples that it has in each. */
struct walk {
	const struct usage *a, *b;
	uint32_t i, j;
	double in_a, in_b;
};

static int walk_next(struct walk *w)
{
	const struct usage_count *a = w->i < w->a->n ? &w->a->count[w->i] : NULL;
	const struct usage_count *b = w->j < w->b->n ? &w->b->count[w->j] : NULL;

	w->in_a = a && (!b || a->block <= b->block) ? a->samples : 0;
	w->in_b = b && (!a || b->block <= a->block) ? b->samples : 0;
	w->i += w->in_a > 0;
	w->j += w->in_b > 0;
	return w->in_a > 0 || w->in_b > 0;
}

double usage_overlap(const struct usage *a, const struct usage *b)
{
	double na = usage_total(a), nb = usage_total(b), sum = 0;

	if (na <= 0 || nb <= 0)
		return 0;
	for (struct walk w = { .a = a, .b = b }; walk_next(&w); )
		sum += fmin(w.in_a / na, w.in_b / nb);
	return sum;
}

/* The share p of a block is estimated twice; the difference has variance p (1 - p) (1/na +
 * 1/nb) and, about normal, the mean size sqrt(2 / pi) times its deviation.  Half of the sum
 * of all differences is what the overlap lacks. */
double usage_noise(const struct usage *a, const struct usage *b)
{
	double na = usage_total(a), nb = usage_total(b), sum = 0;

	if (na <= 0 || nb <= 0)
		return 1;
	for (struct walk w = { .a = a, .b = b }; walk_next(&w); ) {
		double p = (w.in_a + w.in_b) / (na + nb);

		sum += sqrt(p * (1 - p) * (1 / na + 1 / nb));
	}
	return fmin(1, sum / sqrt(2 * M_PI));
}

double usage_drift(const struct usage *a, const struct usage *b)
{
	double noise = usage_noise(a, b);

	return noise >= 1 ? 0 : fmax(0, 1 - usage_overlap(a, b) - noise) / (1 - noise);
}

double usage_unseen(const struct usage *u)
{
	double n = usage_total(u), once = 0, twice = 0;

	if (n <= 0)
		return 1;
	for (uint32_t i = 0; i < u->n; i++) {
		once += u->count[i].samples < 1.5;
		twice += u->count[i].samples >= 1.5 && u->count[i].samples < 2.5;
	}
	double variance = once + 2 * twice - once * once / n;
	return fmin(1, (once + z95 * sqrt(fmax(0, variance))) / n);
}

double usage_spread(const struct usage *u)
{
	double n = usage_total(u), entropy = 0;

	if (n <= 0)
		return 0;
	for (uint32_t i = 0; i < u->n; i++) {
		double p = u->count[i].samples / n;

		entropy -= p * log(p);
	}
	return exp(entropy);
}

double usage_served(const struct usage *known, const struct usage *use)
{
	double nk = usage_total(known), nu = usage_total(use), sum = 0;

	if (nk <= 0 || nu <= 0)
		return 0;
	for (struct walk w = { .a = known, .b = use }; walk_next(&w); )
		sum += fmin(2 * w.in_a / nk, w.in_b / nu);
	return sum;
}
