/* confidence.h - on how much evidence stands what is believed of a program's executions */
#ifndef EDITOR_INFER_CONFIDENCE_H
#define EDITOR_INFER_CONFIDENCE_H

#include "postmorph/ir/ir.h"

enum confidence_of {
	CONFIDENCE_OF_WORK,		/* instructions executed */
	CONFIDENCE_OF_BLOCKS,	/* executions of blocks */
	CONFIDENCE_OF_BRANCHES,	/* executions of conditional branches */
	NCONFIDENCE_OF
};

struct confidence_shares {		/* parts of 1; 0 each when nothing is executed */
	double share[NCONFIDENCE_OF][NCONFIDENCE];
};

/* Of the moved functions, from the counts of inference. */
void confidence_sum(const struct prog *prog, struct confidence_shares *out);

#endif
