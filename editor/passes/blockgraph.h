/* blockgraph.h - makes the graph that exttsp.h orders from one function's blocks and edges */
#ifndef EDITOR_PASSES_BLOCKGRAPH_H
#define EDITOR_PASSES_BLOCKGRAPH_H

#include "editor/graph/exttsp_score.h"
#include "postmorph/ir/ir.h"

/* Bytes that emit has to place for a block: without trailing NOPs, none for padding. */
uint32_t blockgraph_block_size(const struct fn *fn, const struct block *b);

/* True when the count of some block is known; else no edge of the function has a weight. */
bool blockgraph_knows(const struct fn *fn);

/* Nodes are the blocks, by their ids, and one more, node nblock, which has no count and no
 * edges: a gap of `extra` bytes that a caller may lay between others.  Sizes are those of the
 * original blocks, or what emit has to place.  Malloc-backed; free with blockgraph_free(). */
void blockgraph_make(const struct fn *fn, bool original_sizes, uint64_t extra,
		     struct exttsp_graph *out);
void blockgraph_free(struct exttsp_graph *g);

#endif
