/* relativeprofile.h - uses exact counts of some functions in a program that is else estimated
 *
 * Exact counts tell how often each block and edge ran in proportion to the others of its
 * function.  They do not tell how often the function is called in the runs that the samples are
 * from.  So the proportions are taken from the exact counts, and the level from the fit.
 *
 * Of a fleet's counts those are missing that too few machines have (share/functions.sql): a
 * block is executed, and by no edge is it left as often.  Such a function has no relative
 * profile.  The edges of its blocks without such a gap are evidence for the fit beside samples,
 * and so are those that samples tell of the others.
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
 * samples told; in those with gaps, its edges where it has none. */
void relprofile_show(struct prog *prog);
/* Sets the counts of functions that have a relative profile: that profile, at the level of the
 * estimate.  A block that was not counted but is known to run keeps its estimate; the rest is
 * sure not to run.  A function of which there is no estimate loses its relative profile. */
void relprofile_apply(struct prog *prog);

#endif
