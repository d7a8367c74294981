/* relativeprofile.h - functions that were counted exactly, in a program of which all else is
 * estimated
 *
 * What was counted tells how often each block and edge ran beside the others of its function,
 * not how often the function is called where the samples come from.  So the function's *shape*
 * is taken from the counts, and its level from the fit.
 */
#ifndef EDITOR_INFER_RELATIVEPROFILE_H
#define EDITOR_INFER_RELATIVEPROFILE_H

#include "postmorph/ir/ir.h"

struct relprofile {			/* executions */
	struct relprofile_block {
		double count, fall, taken;
		bool known;	/* samples, or edges that they tell, say that it runs */
	} *block;		/* [nblock] */
	double **table;		/* [ntable][nentry] */
	double entry;
	struct seen_edge *edge;	/* [nedge], [ncall]: as in struct fn */
	struct seen_call *call;
	uint32_t nedge, ncall;
};

/* Takes what an exact profile, attached just now, tells of functions as their shapes; the
 * program is then as if nothing had been attached. */
void relprofile_take(struct prog *prog);
/* Of functions that have a shape, its edges and calls take the place of those that samples
 * tell. */
void relprofile_show(struct prog *prog);
/* Counts of functions that have a shape: that, at the level of the estimate.  What was not
 * counted but is known to run keeps its estimate; of the rest it is sure that it does not.
 * A function of which there is no estimate has no shape any more. */
void relprofile_apply(struct prog *prog);

#endif
