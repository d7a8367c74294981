/* layoutscore.h - computes the Extended TSP score of the original layout and of the new one */
#ifndef EDITOR_PASSES_LAYOUTSCORE_H
#define EDITOR_PASSES_LAYOUTSCORE_H

#include "postmorph/ir/ir.h"

/* Ext-TSP score summed over the moved functions, by the sizes of the original blocks: laid
 * out as they were, or as fn->order and block->cold say (cold blocks count as far away).
 * *edge_weight gets the sum of all edge counts, which the score of an ideal layout would
 * about reach. */
double layoutscore_sum(const struct prog *prog, bool original_order, double *edge_weight);
/* By how much the new layout of a function scores above its original one. */
double layoutscore_gain(const struct fn *fn);

#endif
