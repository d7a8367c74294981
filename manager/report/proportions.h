/* proportions.h - have two shares of counts become different, or is it chance?
 *
 * Of m counts a are of some kind, of another n counts b.  Where all four expected numbers are
 * at least 10, the two-proportion z-test with pooled variance (Pearson's chi-squared with one
 * degree of freedom) tells how likely a difference as large is by chance; where fewer are
 * expected, Fisher's exact test does (two-sided: all tables that are as unlikely).  Of many
 * rows some differ by chance: proportions_adjust() is Holm's step-down procedure (Scand. J.
 * Stat. 6, 1979), after which one row too many is said to differ with that probability at
 * most.
 */
#ifndef MANAGER_REPORT_PROPORTIONS_H
#define MANAGER_REPORT_PROPORTIONS_H

#include <stdint.h>

/* The probability, 0..1.  Counts are rounded; m >= a, n >= b. */
double proportions_test(double a, double m, double b, double n);
/* p[k] becomes what it is among the `count` of them. */
void proportions_adjust(double *p, uint32_t count);

#endif
