/* larger.h - fmax() and fmin(), which are calls, for where b is a number: NaN for a gives b,
 * too */
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
