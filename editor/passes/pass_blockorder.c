/* pass_blockorder.c - orders blocks so that the likely successor of a block stands behind it
 *
 * Policies and --passes name this pass `align`, for branch alignment as Pettis and Hansen use
 * the word; it aligns nothing to addresses.
 *
 * needs: counts, cold, warm.  Changes: fn->order.  Keeps: cold, warm, prog->order.
 *
 * Hot blocks and warm blocks are laid out far from each other, so exttsp.h orders each kind by
 * itself: an edge from one to the other scores nothing anyway.  Cold blocks stand behind them
 * in their old order, padding last of all.  A function of which nothing is known keeps its
 * order.
 *
 * A loop that did not run in training may run later, and shall then run as well as in the
 * original: its warm blocks stand together in their old order, where the first of them would
 * stand.
 *
 * Most edges of a function that was hardly sampled have guessed weights of next to nothing.
 * The rarest edges, rare_share of all weight together, are left out: the score cannot lose more
 * than that, and these edges are two fifths of the work.  Where all weights are guessed the
 * share is larger: with a hundredth cc1, clang, php and bash are as fast within 1 %, and the
 * job for cc1 takes 2.3 s instead of 2.6.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/align_*.txt).
 */
#include "editor/passes/pass.h"

#include <stdlib.h>

#include "editor/graph/exttsp.h"
#include "editor/graph/loopspans.h"
#include "editor/passes/blockgraph.h"

#define NONE UINT32_MAX

static const double rare_share = 0.0005, rare_share_guessed = 0.01;

/* The graph of the hot blocks or of the warm ones.  Node 0 stays first: among hot blocks that
 * is the entry, and in front of warm ones there is a node of no size. */
struct part {
	uint32_t *block;		/* [nnode] of each node */
	uint32_t *node_of;		/* [nblock] NONE: in another part */
	struct exttsp_graph g;
};

static bool is_in(const struct block *b, bool warm)
{
	return !b->cold && !b->padding && b->warm == warm;
}

static int by_weight(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* The weight of the heaviest edge that is left out. */
static double rare_weight(struct arena *a, const struct exttsp_graph *g, double share)
{
	double *weight = arena_array(a, g->nedge, sizeof(*weight)), all = 0, sum = 0, rare = 0;

	for (uint32_t i = 0; i < g->nedge; i++)
		all += weight[i] = g->edge[i].weight;
	if (g->nedge)
		qsort(weight, g->nedge, sizeof(*weight), by_weight);
	for (uint32_t i = 0; i < g->nedge && (sum += weight[i]) <= share * all; i++)
		rare = weight[i];
	return rare;
}

static void make_part(struct arena *a, const struct fn *fn, const struct exttsp_graph *all,
		      bool warm, double rare, struct part *p)
{
	uint64_t *size = arena_array(a, (size_t)fn->nblock + 1, sizeof(*size));
	double *count = arena_array(a, (size_t)fn->nblock + 1, sizeof(*count));
	struct exttsp_edge *edge = arena_array(a, all->nedge, sizeof(*edge));
	uint32_t n = warm ? 1 : 0, nedge = 0;

	p->block = arena_array(a, (size_t)fn->nblock + 1, sizeof(*p->block));
	p->node_of = arena_array(a, fn->nblock, sizeof(*p->node_of));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		p->node_of[i] = is_in(&fn->block[i], warm) ? n : NONE;
		if (p->node_of[i] == NONE)
			continue;
		size[n] = all->size[i];
		count[n] = all->count[i] > rare ? all->count[i] : 0;
		p->block[n++] = i;
	}
	for (uint32_t i = 0; i < all->nedge; i++) {
		struct exttsp_edge e = all->edge[i];

		e.from = p->node_of[e.from];
		e.to = p->node_of[e.to];
		if (e.weight > rare && e.from != NONE && e.to != NONE)
			edge[nedge++] = e;
	}
	p->g = (struct exttsp_graph){ n, nedge, size, count, edge };
}

/* Of each block the first one of the loop that it is in, or itself, if none of that is hot. */
static uint32_t *find_loops(struct arena *a, const struct fn *fn)
{
	uint32_t *first = arena_array(a, fn->nblock, sizeof(*first));
	uint32_t *back = arena_array(a, fn->nblock, sizeof(*back));
	uint32_t hot = 0;		/* behind the last hot block so far */

	for (uint32_t i = 0; i < fn->nblock; i++) {
		uint32_t from = fn->block[i].taken;

		if (is_in(&fn->block[i], false))
			hot = i + 1;
		back[i] = from < hot ? NONE : from;
	}
	loopspans_find(fn->nblock, back, first);
	return first;
}

/* Appends the warm blocks in the order of block[0..n), those of a loop together. */
static uint32_t put_warm(struct arena *a, struct fn *fn, const uint32_t *block, uint32_t n,
			 uint32_t at)
{
	const uint32_t *first = find_loops(a, fn);
	bool *done = arena_array(a, fn->nblock, sizeof(*done));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t of = first[block[i]];

		if (done[block[i]])
			continue;
		for (uint32_t k = of; k < fn->nblock && first[k] == of; k++) {
			if (!is_in(&fn->block[k], true))
				continue;
			fn->order[at++] = k;
			done[k] = true;
		}
	}
	return at;
}

static void align_fn(struct arena *scratch, struct fn *fn)
{
	uint32_t *order = arena_array(scratch, (size_t)fn->nblock + 1, sizeof(*order)), n = 0;
	struct exttsp_graph all;

	blockgraph_make(fn, false, 0, &all);
	double rare =
		rare_weight(scratch, &all, fn_is_seen(fn) ? rare_share : rare_share_guessed);
	for (uint32_t warm = 0; warm < 2; warm++) {
		struct part p;

		make_part(scratch, fn, &all, warm, rare, &p);
		exttsp_order(&p.g, order);
		for (uint32_t i = warm; i < p.g.nnode; i++)
			order[i] = p.block[order[i]];
		if (warm)
			n = put_warm(scratch, fn, order + 1, p.g.nnode - 1, n);
		for (uint32_t i = 0; i < p.g.nnode && !warm; i++)
			fn->order[n++] = order[i];
	}
	for (int padding = 0; padding < 2; padding++)
		for (uint32_t i = 0; i < fn->nblock; i++)
			if (fn->block[i].padding == padding && (padding || fn->block[i].cold))
				fn->order[n++] = i;
	blockgraph_free(&all);
}

int pass_align(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *scratch = arena_new();

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		if (blockgraph_knows(fn))
			align_fn(scratch, fn);
		arena_reset(scratch);
	}
	arena_free(scratch);
	return 0;
}
