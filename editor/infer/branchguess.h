/* branchguess.h - what the code shows of a conditional branch before anything is known of
 * its ways */
#ifndef EDITOR_INFER_BRANCHGUESS_H
#define EDITOR_INFER_BRANCHGUESS_H

#include "editor/graph/logistic.h"
#include "postmorph/ir/ir.h"

enum { BRANCHGUESS_WEIGHTS = 2200 };	/* features are numbered below it */

/* out[], [nblock]: the features of the conditional branch at the end of a block, `yes` being
 * that it is taken; no features where its two ways do not lead to two blocks of the function.
 * In arena `a`. */
void branchguess_features(const struct prog *prog, const struct fn *fn, struct arena *a,
			  struct logistic_case *out);

#endif
