/* proclayout.h - procedure ordering over a weighted call graph; knows graphs and numbers only
 *
 *   closest   the heaviest edge first: Pettis, Hansen: Profile Guided Code Positioning, PLDI
 *             1990
 *   C3        each procedure behind its likeliest caller: Ottoni, Maher: Optimizing Function
 *             Placement for Large-Scale Data-Center Applications, CGO 2017
 *   CDSort    calls short and hot code dense, by one gain: as llvm-bolt and lld do since LLVM
 *             17
 *
 * Deterministic: ties go to lower indices.
 */
#ifndef EDITOR_GRAPH_PROCLAYOUT_H
#define EDITOR_GRAPH_PROCLAYOUT_H

#include <stdint.h>

struct proc_edge {		/* parallel edges add up */
	uint32_t from, to;
	double weight;
	uint64_t off;		/* bytes of the caller in front of the call */
};

struct proc_graph {
	uint32_t nproc, nedge;
	const uint64_t *size;		/* [nproc] bytes */
	const double *samples;		/* [nproc] how hot it is as a whole */
	const struct proc_edge *edge;	/* [nedge] */
};

/* Each gives a permutation in order[nproc]; groups of procedures that call each other come
 * by density (samples / size) descending. */
typedef void proclayout_fn(const struct proc_graph *g, uint32_t *order);
proclayout_fn proclayout_closest, proclayout_c3, proclayout_cdsort;

#endif
