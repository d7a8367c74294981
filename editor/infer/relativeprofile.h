/* relativeprofile.h - functions that were counted exactly, in a program of which all else is
 * estimated
 *
 * What was counted tells how often each block and edge ran beside the others of its function,
 * not how often the function is called where the samples come from.  So the relative
 * counts of a function's blocks and edges are taken from what was counted, and their level from
 * the fit.
 */
#ifndef EDITOR_INFER_RELATIVEPROFILE_H
#define EDITOR_INFER_RELATIVEPROFILE_H

#include "postmorph/ir/ir.h"

struct relprofile {			/* executions */
	struct relprofile_block {
		double count, fall, taken;
		bool known;	/* by samples, or by edges seen from them, it runs */
	} *block;		/* [nblock] */
	double **table;		/* [ntable][nentry] */
	double entry;
	struct seen_edge *edge;	/* [nedge], [ncall]: as in struct fn */
	struct seen_call *call;
	uint32_t nedge, ncall;
};

/* Keeps what an exact profile, attached just now, tells of functions as their relative
 * profiles; the program is then as if nothing had been attached. */
void relprofile_take(struct prog *prog);
/* In functions that have a relative profile its edges and calls take the place of those that
 * samples told. */
void relprofile_show(struct prog *prog);
/* Sets the counts of functions that have a relative profile: that profile, at the level of the
 * estimate.  A block that was not counted but is known to run keeps its estimate; the rest is
 * sure not to run.  A function of which there is no estimate loses its relative profile. */
void relprofile_apply(struct prog *prog);

#endif
