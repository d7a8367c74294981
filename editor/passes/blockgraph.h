/* blockgraph.h - one function's blocks and edges as the graph that exttsp.h orders */
#ifndef EDITOR_PASSES_BLOCKGRAPH_H
#define EDITOR_PASSES_BLOCKGRAPH_H

#include "editor/graph/exttsp_score.h"
#include "postmorph/ir/ir.h"

/* Bytes that emit has to place for a block: without trailing NOPs, none for padding. */
uint32_t blockgraph_block_size(const struct fn *fn, const struct block *b);

/* Some count of the function is known: else no edge of it has a weight. */
bool blockgraph_knows(const struct fn *fn);

/* Nodes are the blocks, in id order, and one more: node nblock, of no count and without
 * edges, for a caller's purpose; its size is `extra`.  Sizes are original bytes, or those to
 * be placed.  Malloc-backed; free with blockgraph_free(). */
void blockgraph_make(const struct fn *fn, bool original_sizes, uint64_t extra,
		     struct exttsp_graph *out);
void blockgraph_free(struct exttsp_graph *g);

#endif
