/* loopspans.h - loops of code as it stands: what is between the target and the source of a
 * branch back
 *
 * back[i], for n blocks in the order of their addresses, is the block that block i branches to;
 * where it is larger than i no loop ends there.  Both take time in proportion to n.
 */
#ifndef EDITOR_GRAPH_LOOPSPANS_H
#define EDITOR_GRAPH_LOOPSPANS_H

#include <stdbool.h>
#include <stdint.h>

/* first[i]: the first block of the loop that block i is in, or i itself.  Loops that overlap are
 * one, in the order in which they end. */
void loopspans_find(uint32_t n, const uint32_t *back, uint32_t *first);

/* Of each loop whose first block is in, all blocks join it that may; loops count in the order
 * in which they end, with what has joined until then.  next[n + 1] is room to work in. */
void loopspans_spread(uint32_t n, const uint32_t *back, const bool *may, uint32_t *next,
		      bool *in);

#endif
