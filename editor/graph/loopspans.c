/* loopspans.c - loops as runs of blocks
 *
 * The blocks up to any one are runs, one behind the other; a loop that ends at a block makes
 * one of all runs from that which its first block is in.  The runs' first blocks are a stack,
 * and each is taken off once.
 *
 * Tested by tests/unit/editor/graph/test_loopspans.c.
 */
#include "editor/graph/loopspans.h"

/* The stack is in first[], in which its entry n is not behind the n-th run: runs are written
 * from the last one on. */
void loopspans_find(uint32_t n, const uint32_t *back, uint32_t *first)
{
	uint32_t top = 0, end = n;

	for (uint32_t i = 0; i < n; i++) {
		first[top++] = i;
		while (back[i] <= i && first[top - 1] > back[i])
			top--;
	}
	while (top > 0) {
		uint32_t of = first[--top];

		while (end > of)
			first[--end] = of;
	}
}

/* The first block from `at` on that was not looked at yet. */
static uint32_t find_next(uint32_t *next, uint32_t at)
{
	while (next[at] != at)
		at = next[at] = next[next[at]];
	return at;
}

void loopspans_spread(uint32_t n, const uint32_t *back, const bool *may, uint32_t *next,
		      bool *in)
{
	for (uint32_t i = 0; i <= n; i++)
		next[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		if (back[i] > i || !in[back[i]])
			continue;
		for (uint32_t k = find_next(next, back[i]); k <= i; k = find_next(next, k)) {
			in[k] |= may[k];
			next[k] = k + 1;
		}
	}
}
