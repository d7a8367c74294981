/* branchguess.h - finds the features of conditional branches that the code shows */
#ifndef EDITOR_INFER_BRANCHGUESS_H
#define EDITOR_INFER_BRANCHGUESS_H

#include "editor/graph/logistic.h"
#include "postmorph/ir/ir.h"

enum { BRANCHGUESS_WEIGHTS = 2200 };	/* numbers of features are below it */

/* Sets out[nblock]: the features of the conditional branch at the end of each block; `yes` of
 * logistic.h is that it is taken.  A block without such a branch, or whose branch does not have
 * two blocks of the function as successors, gets none.  Lives in arena `a`. */
void branchguess_features(const struct prog *prog, const struct fn *fn, struct arena *a,
			  struct logistic_case *out);

#endif
