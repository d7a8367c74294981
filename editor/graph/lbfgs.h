/* lbfgs.h - a minimum of a smooth function of many variables; knows numbers only */
#ifndef EDITOR_GRAPH_LBFGS_H
#define EDITOR_GRAPH_LBFGS_H

#include <stdint.h>

/* Returns the function's value at x[n] and writes its gradient there to gradient[n]. */
typedef double (*lbfgs_fn)(const double *x, double *gradient, void *ctx);

struct lbfgs_limits {
	uint32_t rounds;		/* directions searched */
	uint32_t calls;			/* of the function */
	/* the search stops where the gradient promises less than so much */
	double least;
};

/* Goes down from x[n], which becomes the lowest place found; its value is returned.  The last
 * call of f is there, so what f keeps in ctx is of that place.  Deterministic. */
double lbfgs_minimize(uint32_t n, double *x, lbfgs_fn f, void *ctx, struct lbfgs_limits limits);

#endif
