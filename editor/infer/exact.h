/* exact.h - sets the counts of a function in which everything was counted */
#ifndef EDITOR_INFER_EXACT_H
#define EDITOR_INFER_EXACT_H

#include "postmorph/ir/ir.h"

/* Fills what infer_counts() fills, of one function, from samples and seen edges that are exact
 * and complete. */
void exact_counts(struct arena *a, struct fn *fn);

#endif
