/* pass_align.c - branch alignment: the likely successor of a block is laid behind it
 *
 * needs: counts.  Changes: fn->order.  Keeps: cold, warm, prog->order.
 *
 * Blocks that run are ordered by exttsp.h.  Blocks without a count stand behind them in their
 * old order, padding last of all.  A function of which nothing is known keeps its order.
 */
#include "editor/pass.h"

#include <stdlib.h>

#include "editor/passgraph.h"

static void align_fn(struct arena *scratch, struct fn *fn)
{
	struct exttsp_graph g;
	uint32_t *order = arena_array(scratch, (size_t)fn->nblock + 1, sizeof(*order));
	uint32_t n = 0;

	passgraph_make(fn, false, 0, &g);
	exttsp_order(&g, order);
	passgraph_free(&g);
	for (int padding = 0; padding < 2; padding++) {
		for (uint32_t i = 0; i <= fn->nblock; i++) {
			if (order[i] < fn->nblock && fn->block[order[i]].padding == padding)
				fn->order[n++] = order[i];
		}
	}
}

int pass_align(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *scratch = arena_new();

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		if (passgraph_knows(fn))
			align_fn(scratch, fn);
		arena_reset(scratch);
	}
	arena_free(scratch);
	return 0;
}
