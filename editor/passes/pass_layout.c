/* pass_layout.c - procedure layout: places functions that often call each other close together
 *
 * needs: counts, cold, warm, fn->order.  Changes: prog->order, fn->moved.  Keeps: fn->order,
 * cold, warm.
 *
 * Unless all functions are to move, those whose move would not pay are left where they are
 * (worth.h).  Functions that hardly run are dropped in an earlier step of their own, so that
 * pass align has no work with them.  proclayout.h orders the rest.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/layout_*.txt).
 */
#include "editor/passes/pass.h"

#include "editor/passes/callgraph.h"
#include "editor/graph/proclayout.h"
#include "editor/passes/worth.h"

int pass_layout_choose(struct prog *prog, const struct edit_options *options, struct err *err)
{
	(void)err;
	if (!options->all)
		worth_drop(prog);
	return 0;
}

int pass_layout(struct prog *prog, const struct edit_options *options, struct err *err)
{
	(void)err;
	if (!options->all)
		worth_select(prog, !options->keep_pointers);

	struct arena *a = arena_new();
	uint32_t *fn_of = arena_dup(a, prog->order, prog->norder * sizeof(*fn_of));
	uint32_t *order = arena_array(a, prog->norder, sizeof(*order));
	struct proc_graph g;

	callgraph_make(prog, a, &g);
	proclayout_cdsort(&g, order);
	for (uint32_t i = 0; i < prog->norder; i++)
		prog->order[i] = fn_of[order[i]];
	arena_free(a);
	return 0;
}
