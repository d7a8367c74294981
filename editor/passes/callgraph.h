/* callgraph.h - makes the graph that proclayout.h orders from moved functions and their
 * calls */
#ifndef EDITOR_PASSES_CALLGRAPH_H
#define EDITOR_PASSES_CALLGRAPH_H

#include "editor/graph/proclayout.h"
#include "postmorph/ir/ir.h"

/* Procedure i is function prog->order[i]; its size is that of its blocks in the hot text.
 * Needs counts, fn->order and cold and warm marks.  Lives in arena `a`. */
void callgraph_make(const struct prog *prog, struct arena *a, struct proc_graph *out);

#endif
