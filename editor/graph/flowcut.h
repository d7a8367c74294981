/* flowcut.h - the likelihood fit of the nodes that matter, at less cost; knows graphs and
 * numbers only
 */
#ifndef EDITOR_GRAPH_FLOWCUT_H
#define EDITOR_GRAPH_FLOWCUT_H

#include "editor/graph/likelihood.h"

/* As likelihood_fit(), but nodes that are expected to have fewer samples than `least` are left
 * out if nothing was seen of them; 0: none is. */
void flowcut_fit(struct likelihood *f, double least);

#endif
