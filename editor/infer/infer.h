/* infer.h - computes how often each block and edge of the moved functions runs */
#ifndef EDITOR_INFER_INFER_H
#define EDITOR_INFER_INFER_H

#include "postmorph/ir/ir.h"

struct err;

/* Fills block.count, fall_count, taken_count, jump_table.count and fn.entry_count of every
 * moved function: by exact.c where the profile is complete, else with what is likeliest given
 * samples, seen edges and calls.  Counts are executions if the profile is exact, else
 * executions in units of a sample per instruction.  -1 with *err filled when a jump table is
 * too large. */
int infer_counts(struct prog *prog, struct err *err);

#endif
