/* lbfgs.h - the least of a smooth function of many numbers */
#ifndef EDITOR_GRAPH_LBFGS_H
#define EDITOR_GRAPH_LBFGS_H

#include <stdint.h>

/* The function's value at x[n], and its gradient to slope[n]. */
typedef double (*descent_fn)(const double *x, double *slope, void *ctx);

struct descent_limits {
	uint32_t rounds;		/* steps */
	uint32_t calls;			/* of the function */
	double least;			/* stops where the slope promises less than so much */
};

/* Goes down from x; x is the lowest place found, whose value is returned.  The last call of
 * f is there.  Deterministic. */
double descent(uint32_t n, double *x, descent_fn f, void *ctx, struct descent_limits limits);

#endif
