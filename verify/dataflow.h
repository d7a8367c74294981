/* dataflow.h - the functions that the data flow has followed */
#ifndef VERIFY_DATAFLOW_H
#define VERIFY_DATAFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"

struct vflow {
	/* [ocfi.nfde] number of the FDE in the run at hand + 1; zero between runs */
	uint32_t *range_of;
	bool *followed;		/* [ocfi.nfde] of a group: a run has followed it */
	/* one FDE of each group in which images may jump to original code by a table */
	VEC(uint32_t) stays;
	/* [map.nblock] of a block: the first from which both texts run straight on to it */
	uint32_t *stretch;
};

struct verify;

/* Follows the function of that FDE.  If comparisons bound the index wherever it jumps by a
 * table, what the entries lead to is met (walk.met), and they are in walk.extents[].  -1: an
 * entry leads inside an entry jump.  For parts behind dataflow.c. */
int verify_show_cases(struct verify *v, uint32_t fde);

#endif
