/* lbfgs.c - L-BFGS (Nocedal 1980) with a backtracking line search
 *
 * What is searched differs in how much hangs on it by powers of ten, so where the pairs say
 * nothing each component has a scale of its own, which follows the pairs, too.
 *
 * The last few steps and changes of gradient stand for the inverse of the second derivatives.  A
 * pair whose curvature is not clearly positive is left out, so the direction always goes down.
 */
#include "editor/graph/lbfgs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/fours.h"
#include "editor/graph/larger.h"
#include "editor/graph/memory.h"

enum { PAIRS = 5, MAX_HALVINGS = 12 };

static const double enough = 1e-4;	/* of the decrease that the gradient promises */
static const double first_step = 0.5;	/* length of the first step's longest component */
static const double longest = 3.0;	/* of any component in one step */
/* curvature of one component that is believed; or its inverse */
static const double flattest = 1e-9;

struct state {
	uint32_t n;
	uint32_t npair;			/* made so far; pair i is in slot i % PAIRS */
	double *step[PAIRS], *change[PAIRS], product[PAIRS];
	double *x, *gradient;		/* tried */
	double *best, *best_gradient, *dir;
	/* [n] of the curvature by each component alone, as far as known */
	double *inverse;
};

/* dir = - (inverse curvature) * best_gradient, by the two loops over the pairs. */
static void set_direction(struct state *s)
{
	double alpha[PAIRS];
	uint32_t have = s->npair < PAIRS ? s->npair : PAIRS;

	for (uint32_t i = 0; i < s->n; i++)
		s->dir[i] = -s->best_gradient[i];
	if (!have) {
		for (uint32_t i = 0; i < s->n; i++)
			s->dir[i] = smaller(larger(s->dir[i], -first_step), first_step);
		return;
	}
	for (uint32_t k = 0; k < have; k++) {
		uint32_t p = (s->npair - 1 - k) % PAIRS;

		alpha[p] = dot(s->n, s->step[p], s->dir) / s->product[p];
		subtract_times(s->n, s->dir, alpha[p], s->change[p]);
	}
	for (uint32_t i = 0; i < s->n; i++)
		s->dir[i] *= s->inverse[i];
	for (uint32_t k = have; k-- > 0; ) {
		uint32_t p = (s->npair - 1 - k) % PAIRS;
		double beta = dot(s->n, s->change[p], s->dir) / s->product[p];

		subtract_times(s->n, s->dir, beta - alpha[p], s->step[p]);
	}
}

static double largest(uint32_t n, const double *v)
{
	double most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = larger(fabs(v[i]), most);
	return most;
}

/* What the last pair tells of each component's curvature (Gilbert, Lemarechal 1989). */
static void update_inverse(struct state *s, const double *step, const double *change,
			   double product)
{
	double along = 0, across = 0;

	if (s->npair == 0) {
		double scale = product / dot(s->n, change, change);

		for (uint32_t i = 0; i < s->n; i++)
			s->inverse[i] = scale;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		across += change[i] * change[i] * s->inverse[i];
		along += step[i] * step[i] / s->inverse[i];
	}
	for (uint32_t i = 0; i < s->n; i++) {
		double d = s->inverse[i];
		double curvature = across / product / d + change[i] * change[i] / product -
			across / product * (step[i] / d) * (step[i] / d) / along;

		s->inverse[i] = curvature > 0
					? larger(smaller(1 / curvature, 1 / flattest), flattest)
					: d;
	}
}

static void remember(struct state *s, double t)
{
	uint32_t p = s->npair % PAIRS;

	for (uint32_t i = 0; i < s->n; i++) {
		s->step[p][i] = t * s->dir[i];
		s->change[p][i] = s->gradient[i] - s->best_gradient[i];
	}
	s->product[p] = dot(s->n, s->step[p], s->change[p]);
	if (s->product[p] > 1e-10 * dot(s->n, s->change[p], s->change[p])) {
		update_inverse(s, s->step[p], s->change[p], s->product[p]);
		s->npair++;
	}
}

static void swap(double **a, double **b)
{
	double *was = *a;

	*a = *b;
	*b = was;
}

static double search(struct state *s, lbfgs_fn f, void *ctx, struct lbfgs_limits limits)
{
	double value = f(s->best, s->best_gradient, ctx);
	uint32_t calls = limits.calls - 1;
	bool lower = true;

	for (uint32_t round = 0; round < limits.rounds && calls > 0; round++) {
		set_direction(s);
		double most = largest(s->n, s->dir), down = dot(s->n, s->dir, s->best_gradient);
		double limit = s->npair ? longest : first_step,
		       t = most > limit ? limit / most : 1;

		if (!(t * down < -limits.least))
			break;
		lower = false;
		for (uint32_t half = 0; half < MAX_HALVINGS && calls > 0; half++, t /= 2) {
			for (uint32_t i = 0; i < s->n; i++)
				s->x[i] = s->best[i] + t * s->dir[i];
			double v = f(s->x, s->gradient, ctx);

			calls--;
			if (v <= value + enough * t * down) {
				lower = true;
				remember(s, t);
				memcpy(s->best, s->x, s->n * sizeof(double));
				swap(&s->best_gradient, &s->gradient);
				value = v;
				break;
			}
		}
		if (!lower && s->npair == 0)
			break;
		if (!lower)
			s->npair = 0;
	}
	if (!lower)
		(void)f(s->best, s->best_gradient, ctx);
	return value;
}

double lbfgs_minimize(uint32_t n, double *x, lbfgs_fn f, void *ctx, struct lbfgs_limits limits)
{
	double *memory = memory_grow(NULL, n, (2 * PAIRS + 5) * sizeof(double));
	struct state s = { .n = n, .best = x };

	for (uint32_t p = 0; p < PAIRS; p++) {
		s.step[p] = memory + (size_t)n * 2 * p;
		s.change[p] = s.step[p] + n;
	}
	s.x = memory + (size_t)n * 2 * PAIRS;
	s.gradient = s.x + n;
	s.best_gradient = s.gradient + n;
	s.dir = s.best_gradient + n;
	s.inverse = s.dir + n;
	double value = search(&s, f, ctx, limits);
	free(memory);
	return value;
}
