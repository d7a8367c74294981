/* infer.h - how often everything runs, from what is known of it */
#ifndef EDITOR_INFER_INFER_H
#define EDITOR_INFER_INFER_H

#include "postmorph/ir/ir.h"

struct err;

/* Fills block.count, fall_count, taken_count, jump_table.count, fn.entry_count of every moved
 * function: by exact.c when all is known, else what is likeliest given samples, seen edges and
 * calls. */
int infer_counts(struct prog *prog, struct err *err);

/* --- its steps --- */

/* Makes the counts of moved functions with samples or seen edges likelier, calls between
 * functions included.  weight[BRANCHGUESS_WEIGHTS] gets what was learnt of signs of
 * branches.  False when there is no such function. */
bool infer_fit(struct prog *prog, struct arena *scratch, double *weight);
/* Sets the counts of moved functions of which nothing was seen, by the counts of those that
 * call them and by the signs of branches. */
void infer_callees(struct prog *prog, const double *weight, struct arena *scratch);

#endif
