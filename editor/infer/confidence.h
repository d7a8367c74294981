/* confidence.h - adds up executions by the confidence that inference has in them */
#ifndef EDITOR_INFER_CONFIDENCE_H
#define EDITOR_INFER_CONFIDENCE_H

#include "postmorph/ir/ir.h"

enum confidence_of {
	CONFIDENCE_OF_WORK,		/* instructions executed */
	CONFIDENCE_OF_BLOCKS,	/* executions of blocks */
	CONFIDENCE_OF_BRANCHES,	/* executions of conditional branches */
	NCONFIDENCE_OF
};

struct confidence_shares {		/* add up to 1; all 0 when nothing is executed */
	double share[NCONFIDENCE_OF][NCONFIDENCE];
};

/* Sums over the moved functions, by the counts that inference has given. */
void confidence_sum(const struct prog *prog, struct confidence_shares *out);

#endif
