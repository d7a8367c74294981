/* flowcut.h - the same as likelihood_fit(), at less cost where hardly anything runs; knows
 * graphs and numbers only
 */
#ifndef EDITOR_GRAPH_FLOWCUT_H
#define EDITOR_GRAPH_FLOWCUT_H

#include "editor/graph/likelihood.h"

/* Nodes that are expected to have fewer samples than `least`, and have none, are not fitted
 * if nothing else was seen of them either; 0: all are.  Otherwise as likelihood_fit(). */
void flowcut_fit(struct likelihood *f, double least);

#endif
