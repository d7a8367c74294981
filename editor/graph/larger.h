/* larger.h - the larger and the smaller of two numbers
 *
 * fmax() and fmin() would be calls.  b must be a number; if a is none, the result is b, as
 * theirs is.
 */
#ifndef EDITOR_GRAPH_LARGER_H
#define EDITOR_GRAPH_LARGER_H

static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

#endif
