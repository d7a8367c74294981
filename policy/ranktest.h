/* ranktest.h - estimates by how much one set of numbers is larger than another, by ranks
 *
 * Mann and Whitney's test (Ann. Math. Stat. 18, 1947) turned round: the estimate of Hodges and
 * Lehmann (34, 1963), the median of all differences, and the interval of those shifts that the
 * test does not reject (Moses; see Hollander, Wolfe, Chicken, Nonparametric Statistical
 * Methods, 4.3).  The only assumption is that without an effect both sides come from the same
 * distribution, whichever it is.
 *
 * Numbers come in strata; only numbers of one stratum are compared with each other.  The
 * statistic is the sum of the strata's statistics.  Its distribution is exact, so the test is
 * valid for few numbers as well.  When each stratum is one pair, it is the sign test.
 */
#ifndef POLICY_RANKTEST_H
#define POLICY_RANKTEST_H

#include <stdbool.h>
#include <stdint.h>

enum { RANKTEST_SIDE_MAX = 32, RANKTEST_STRATA_MAX = 64,
       /* nbefore * nnow, of all strata together */
       RANKTEST_PAIRS_MAX = 8 * RANKTEST_SIDE_MAX * RANKTEST_SIDE_MAX };

struct ranktest_stratum {
	uint32_t nbefore, nnow;		/* at most RANKTEST_SIDE_MAX each */
	double before[RANKTEST_SIDE_MAX], now[RANKTEST_SIDE_MAX];
};

struct ranktest_shift {			/* of `now` against `before` */
	double estimate;
	double low, high;		/* infinite when too few numbers are there to say */
};

/* The largest c for which the statistic is at most c with probability `alpha` or less, when
 * there is no shift; -1: none. */
int32_t ranktest_critical(const struct ranktest_stratum *s, uint32_t n, double alpha);

/* The same of any statistic, by its distribution p[0..top]. */
int32_t ranktest_tail(const double *p, uint32_t top, double alpha);
/* The estimate and the interval by the shifts d[0..n), n > 0, which are sorted, and that c. */
void ranktest_interval(double *d, uint32_t n, int32_t c, struct ranktest_shift *out);

/* `alpha`: probability with which a true shift lies below low; and the same above high.
 * False when there is nothing to compare. */
bool ranktest_shift(const struct ranktest_stratum *s, uint32_t n, double alpha,
		    struct ranktest_shift *out);

#endif
