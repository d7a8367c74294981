/* confidence.h - on how much evidence stands what is believed of a program's executions */
#ifndef EDITOR_INFER_CONFIDENCE_H
#define EDITOR_INFER_CONFIDENCE_H

#include "postmorph/ir/ir.h"

enum evidence_of {
	EVIDENCE_WORK,		/* instructions executed */
	EVIDENCE_BLOCKS,	/* executions of blocks */
	EVIDENCE_BRANCHES,	/* executions of conditional branches */
	NEVIDENCE
};

struct evidence {		/* parts of 1; 0 each when nothing is executed */
	double share[NEVIDENCE][NCONFIDENCE];
};

/* Of the moved functions, from the counts of inference. */
void evidence_sum(const struct prog *prog, struct evidence *out);

#endif
