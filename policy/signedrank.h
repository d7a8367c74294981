/* signedrank.h - estimates a shift from differences of pairs, by signed ranks
 *
 * Wilcoxon's test (Biometrics Bulletin 1, 1945) turned round: the estimate of Hodges and
 * Lehmann (Ann. Math. Stat. 34, 1963), the median of the means of each two differences, and the
 * interval of those shifts that the test does not reject (Tukey; see Hollander, Wolfe, Chicken,
 * Nonparametric Statistical Methods, 3.3).  The assumption is that each difference is as far
 * below the shift as above it as often: so it is when chance says which of a pair is which.
 * The distribution of the statistic is exact.
 */
#ifndef POLICY_SIGNEDRANK_H
#define POLICY_SIGNEDRANK_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/ranktest.h"

enum { SIGNEDRANK_MAX = 64 };

/* The largest c for which the sum of the ranks on one side is at most c with probability
 * `alpha` or less, when there is no shift; -1: none. */
int32_t signedrank_critical(uint32_t n, double alpha);
/* `alpha`: probability with which a true shift lies below low; and the same above high.
 * False when there is no difference. */
bool signedrank_shift(const double *d, uint32_t n, double alpha, struct ranktest_shift *out);

#endif
