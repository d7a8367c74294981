/* pass_layout.c - procedure layout: functions that call each other often stand close together
 *
 * needs: counts, cold, warm.  Changes: prog->order, fn->moved.  Keeps: fn->order, cold, warm.
 *
 * Functions whose move would not pay are left where they are (worth.h), unless all are to move.
 * The call graph is weighted by the counts of the calling blocks; sizes are those of what stays
 * in the hot text.  proclayout.h orders.
 */
#include "editor/pass.h"

#include "editor/passgraph.h"
#include "editor/proclayout.h"
#include "editor/worth.h"

static uint64_t hot_size(const struct fn *fn)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		if (!fn->block[i].cold && !fn->block[i].warm)
			size += passgraph_block_size(fn, &fn->block[i]);
	return size;
}

int pass_layout(struct prog *prog, const struct edit_options *options, struct err *err)
{
	if (!options->all)
		worth_select(prog, !options->keep_pointers);

	struct arena *a = arena_new();
	uint32_t n = prog->norder, nedge = 0;
	uint32_t *proc_of = arena_array(a, prog->nfn, sizeof(*proc_of));
	uint32_t *fn_of = arena_dup(a, prog->order, n * sizeof(*fn_of));
	uint32_t *order = arena_array(a, n, sizeof(*order));
	uint64_t *size = arena_array(a, n, sizeof(*size));
	double *samples = arena_array(a, n, sizeof(*samples));
	struct proc_edge *edge = arena_array(a, prog->ncall, sizeof(*edge));

	(void)err;
	for (uint32_t f = 0; f < prog->nfn; f++)
		proc_of[f] = NO_FN;
	for (uint32_t i = 0; i < n; i++) {
		const struct fn *fn = &prog->fn[fn_of[i]];

		proc_of[fn_of[i]] = i;
		size[i] = hot_size(fn);
		samples[i] = fn->samples;
	}
	for (uint32_t c = 0; c < prog->ncall; c++) {
		const struct call_site *call = &prog->call[c];
		uint32_t from = proc_of[call->caller], to = proc_of[call->callee];

		if (from != NO_FN && to != NO_FN)
			edge[nedge++] = (struct proc_edge){ from, to,
				prog->fn[call->caller].block[call->block].count };
	}
	proclayout_order(n, size, samples, edge, nedge, order);
	for (uint32_t i = 0; i < n; i++)
		prog->order[i] = fn_of[order[i]];
	arena_free(a);
	return 0;
}
