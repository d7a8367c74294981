/* lbfgs.h - the least of a smooth function of many numbers */
#ifndef EDITOR_GRAPH_LBFGS_H
#define EDITOR_GRAPH_LBFGS_H

#include <stdint.h>

/* The function's value at x[n], and its gradient to gradient[n]. */
typedef double (*lbfgs_fn)(const double *x, double *gradient, void *ctx);

struct lbfgs_limits {
	uint32_t rounds;		/* steps */
	uint32_t calls;			/* of the function */
	/* the search stops where the gradient promises less than so much */
	double least;
};

/* Goes down from x; x is the lowest place found, whose value is returned.  The last call of
 * f is there.  Deterministic. */
double lbfgs_minimize(uint32_t n, double *x, lbfgs_fn f, void *ctx, struct lbfgs_limits limits);

#endif
