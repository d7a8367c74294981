/* descent.h - the least of a smooth function of many numbers */
#ifndef EDITOR_DESCENT_H
#define EDITOR_DESCENT_H

#include <stdint.h>

/* The function's value at x[n], and its gradient to slope[n]. */
typedef double (*descent_fn)(const double *x, double *slope, void *ctx);

/* Goes down from x, at most `rounds` steps and `calls` calls of the function; x is the lowest place
 * found, whose value is returned.  Deterministic. */
double descent(uint32_t n, double *x, descent_fn f, void *ctx, uint32_t rounds, uint32_t calls);

#endif
