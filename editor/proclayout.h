/* proclayout.h - procedure ordering over a weighted call graph: closest is best; knows graphs
 * and numbers only
 *
 * Pettis, Hansen: Profile Guided Code Positioning, PLDI 1990, section 3.2.
 */
#ifndef EDITOR_PROCLAYOUT_H
#define EDITOR_PROCLAYOUT_H

#include <stdint.h>

struct proc_edge {		/* undirected; parallel edges add up */
	uint32_t a, b;
	double weight;
};

/* order[nproc] gets a permutation; procedures without edges come last, by density
 * (samples / size) descending.  Deterministic: ties go to lower indices. */
void proclayout_order(uint32_t nproc, const uint64_t *size, const double *samples,
		      const struct proc_edge *edge, uint32_t nedge, uint32_t *order);

#endif
