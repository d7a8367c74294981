/* proclayout.h - procedure ordering over a weighted call graph */
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

/* Gives a permutation in order[nproc]; groups of procedures that call each other come by
 * density (samples / size) descending.  Deterministic: ties go to lower indices. */
void proclayout_cdsort(const struct proc_graph *g, uint32_t *order);

#endif
