/* spread.h - gives each of some jumps an offset to end at that few others end at */
#ifndef EDITOR_GRAPH_SPREAD_H
#define EDITOR_GRAPH_SPREAD_H

#include <stdint.h>

#include "editor/graph/linefit.h"

/* Fills ends[i][k] with what it costs that jump i, which is executed count[i] times, ends at
 * offset k of LINEFIT_ENDS bytes, if the others end where that is cheapest for them: `all`
 * times its executions if all executions of others end there, 0 at the best offset.  The jumps
 * choose in turn, those that are executed most often first, of equally good offsets the first
 * from from[i] on (NULL: from 0), where it ends unless something is done; and keep the others
 * away from as many offsets as fall to their share. */
void spread_ends(const double *count, const uint32_t *from, uint32_t n, double all,
		 double (*ends)[LINEFIT_ENDS]);

#endif
