/* page_flow.c - a function's flow graph on a page
 *
 * Blocks that run stand one under the other in the order in which they lie in the file, or will
 * lie in the new text.  Control that runs on goes straight down; branches forward go round on
 * the right side, those backward on the left, each in a lane of its own as far as others are in
 * the way.  A wider line runs more often, a dashed frame is less certain.
 *
 * Tested by tests/e2e/page.sh.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/table.h"
#include "manager/page/html.h"
#include "manager/page/page_parts.h"

/* In units of the picture; more blocks than that nobody looks at. */
enum { BOX_W = 216, BOX_H = 34, GAP = 16, LANES = 12, LANE_W = 7, SIDE = 12 + LANES * LANE_W,
       ARROW = 5, BLOCKS_MAX = 80, EDGES_MAX = 1000 };

struct box {
	const struct pagemodule_block *block;
	vaddr at;			/* where it lies */
	uint32_t hidden;		/* blocks in front of it that are left out */
	unsigned y;
};

struct graph {
	struct wr *w;
	const struct pagemodule_fn *fn;
	struct box *box;
	uint32_t n;
	double most;
	/* down to where each lane is taken: on the right, on the left */
	unsigned taken[2][LANES];
};

static bool runs(const struct pagemodule_block *b)
{
	return b->executions >= PAGE_LEAST;
}

bool page_flow_moved(const struct pagemodule_fn *fn)
{
	for (uint32_t i = 0; i < fn->block.n; i++)
		if (runs(&fn->block.v[i]) && fn->block.v[i].image &&
		    fn->block.v[i].image != fn->block.v[i].addr)
			return true;
	return false;
}

/* --- which blocks, in which order --- */

static int by_place(const void *a, const void *b)
{
	const struct box *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static int by_executions(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* What a block executes at least to be one of those that are drawn. */
static double least_drawn(const struct pagemodule_fn *fn)
{
	double *v = memory_new((size_t)fn->block.n + 1, sizeof(*v)), least = PAGE_LEAST;

	for (uint32_t i = 0; i < fn->block.n; i++)
		v[i] = fn->block.v[i].executions;
	qsort(v, fn->block.n, sizeof(*v), by_executions);
	if (fn->block.n > BLOCKS_MAX && v[BLOCKS_MAX] >= least)
		least = v[BLOCKS_MAX] * (1 + 1e-9) + 1e-9;
	free(v);
	return least;
}

static void choose_boxes(struct graph *g, enum pagemodule_when when)
{
	const struct pagemodule_fn *fn = g->fn;
	struct box *all = memory_new((size_t)fn->block.n + 1, sizeof(*all));
	double least = least_drawn(fn);
	uint32_t n = 0, hidden = 0;
	unsigned y = 8;

	for (uint32_t i = 0; i < fn->block.n; i++) {
		const struct pagemodule_block *b = &fn->block.v[i];

		if (when == PAGE_BEFORE || b->image)
			all[n++] = (struct box){ .block = b,
						 .at = when == PAGE_BEFORE ? b->addr
									   : b->image };
	}
	qsort(all, n, sizeof(*all), by_place);
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].block->executions < least) {
			hidden++;
			continue;
		}
		all[i].hidden = hidden;
		y += hidden ? GAP : 0;
		all[i].y = y;
		y += BOX_H + GAP;
		hidden = 0;
		g->most = all[i].block->executions > g->most ? all[i].block->executions
							     : g->most;
		all[g->n++] = all[i];
	}
	g->box = all;
}

static uint32_t box_of(const struct graph *g, vaddr addr)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->box[i].block->addr == addr)
			return i;
	return UINT32_MAX;
}

/* --- drawing --- */

static void put_box(struct graph *g, const struct box *x)
{
	const struct pagemodule_block *b = x->block;
	const char *confidence = pagemodule_confidence_name[b->confidence];
	double share = g->most > 0 ? b->executions / g->most : 0;

	if (x->hidden)
		html_put(g->w, "<text class=\"gap\" x=\"%d\" y=\"%u\">%u %s</text>\n",
			 SIDE + BOX_W / 2 + 14, x->y - 5, x->hidden,
			 x->hidden == 1 ? "block left out" : "blocks left out");
	html_put(g->w, "<g data-block=\"0x%llx\"><title>0x%llx: %u bytes, %u instructions, "
		 "%.3f executions, confidence %s, %.0f samples</title>",
		 (unsigned long long)b->addr, (unsigned long long)x->at, b->size, b->ninsn,
		 b->executions, confidence, b->samples);
	html_put(g->w, "<rect class=\"box %s\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" "
		 "fill-opacity=\"%.3f\"/>", confidence, SIDE, x->y, BOX_W, BOX_H,
		 0.04 + 0.6 * share);
	html_put(g->w, "<text x=\"%d\" y=\"%u\">0x%llx</text>", SIDE + 6, x->y + 14,
		 (unsigned long long)x->at);
	html_put(g->w, "<text class=\"r\" x=\"%d\" y=\"%u\">%u insns</text>",
		 SIDE + BOX_W - 6, x->y + 14, b->ninsn);
	html_put(g->w, "<text x=\"%d\" y=\"%u\">%.4g×</text>", SIDE + 6, x->y + 28,
		 b->executions);
	html_put(g->w, "<text class=\"r\" x=\"%d\" y=\"%u\">%s</text></g>\n",
		 SIDE + BOX_W - 6, x->y + 28, confidence);
}

/* The first lane that is free from y on; the last one is shared. */
static int take_lane(struct graph *g, int side, unsigned from, unsigned to)
{
	int k = 0;

	while (k < LANES - 1 && g->taken[side][k] > from)
		k++;
	if (to > g->taken[side][k])
		g->taken[side][k] = to;
	return k;
}

static void put_path(struct graph *g, const struct pagemodule_edge *e, uint32_t i, uint32_t k)
{
	double width = 0.7 + (g->most > 0 ? 3.3 * e->count / g->most : 0);
	const struct box *a = &g->box[i], *b = &g->box[k];

	html_put(g->w, "<path stroke-width=\"%.2f\" d=\"", width);
	if (k == i + 1 && !b->hidden) {
		int x = SIDE + BOX_W / 2;

		html_put(g->w, "M%d %uV%u", x, a->y + BOX_H, b->y - ARROW);
	} else if (k > i) {
		unsigned from = a->y + BOX_H - 7, to = b->y + 7;
		int lane = take_lane(g, 0, from, to);

		html_put(g->w, "M%d %uh%dV%uH%d", SIDE + BOX_W, from, 10 + lane * LANE_W, to,
			 SIDE + BOX_W + ARROW);
	} else {
		unsigned from = b->y + 7, to = a->y + BOX_H - 7;
		int lane = take_lane(g, 1, from, to);

		html_put(g->w, "M%d %uh-%dV%uH%d", SIDE, to, 10 + lane * LANE_W, from,
			 SIDE - ARROW);
	}
	html_put(g->w, "\"><title>0x%llx to 0x%llx: %s, %.3f</title></path>\n",
		 (unsigned long long)a->at, (unsigned long long)b->at, e->kind, e->count);
}

struct arc {
	const struct pagemodule_edge *edge;
	uint32_t from, to, top;
};

/* From above to below, short ones first: so lanes are taken from inside to outside. */
static int by_top(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;
	uint32_t lx = x->from + x->to - 2 * x->top, ly = y->from + y->to - 2 * y->top;

	if (x->top != y->top)
		return x->top < y->top ? -1 : 1;
	if (lx != ly)
		return lx < ly ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static void put_edges(struct graph *g)
{
	const struct pagemodule_fn *fn = g->fn;
	struct arc *arc = memory_new((size_t)fn->edge.n + 1, sizeof(*arc));
	uint32_t n = 0;

	for (uint32_t i = 0; i < fn->edge.n; i++) {
		const struct pagemodule_edge *e = &fn->edge.v[i];
		uint32_t from = box_of(g, e->from), to = box_of(g, e->to);

		if (e->count >= PAGE_LEAST && from != UINT32_MAX && to != UINT32_MAX)
			arc[n++] = (struct arc){ e, from, to, from < to ? from : to };
	}
	qsort(arc, n, sizeof(*arc), by_top);
	html_put(g->w, "<g class=\"edges\">\n");
	for (uint32_t i = 0; i < n; i++)
		put_path(g, arc[i].edge, arc[i].from, arc[i].to);
	html_put(g->w, "</g>\n");
	free(arc);
}

void page_flow(struct wr *w, const struct pagemodule_fn *fn, enum pagemodule_when when)
{
	static const char *const name[NPAGE_WHEN] = { "as it lies in the original",
						      "as it lies in new text" };
	struct graph g = { .w = w, .fn = fn };
	unsigned width = 2 * SIDE + BOX_W;

	choose_boxes(&g, when);
	if (g.n) {
		unsigned height = g.box[g.n - 1].y + BOX_H + 8;

		html_put(w, "<figure><figcaption>%s</figcaption>\n", name[when]);
		html_put(w, "<svg class=\"flow\" role=\"img\" width=\"%u\" height=\"%u\" "
			 "viewBox=\"0 0 %u %u\" xmlns=\"http://www.w3.org/2000/svg\">\n"
			 "<title>%s, %s</title>\n", width, height, width, height, fn->name,
			 name[when]);
		put_edges(&g);
		for (uint32_t i = 0; i < g.n; i++)
			put_box(&g, &g.box[i]);
		html_put(w, "</svg></figure>\n");
	}
	free(g.box);
}

/* --- as a table --- */

struct table *page_flow_table(const struct pagemodule_fn *fn)
{
	static const struct table_column col[] = {
		{ "from", TABLE_HEX }, { "to", TABLE_HEX }, { "kind", TABLE_TEXT },
		{ "count", TABLE_REAL }, { "share_pct", TABLE_REAL },
	};
	struct table *t = table_new("edges", 5, col);

	for (uint32_t i = 0; i < fn->edge.n && table_nrow(t) < EDGES_MAX; i++) {
		const struct pagemodule_edge *e = &fn->edge.v[i];
		const struct pagemodule_block *b = pagemodule_block_at(fn, e->from);

		if (e->count >= PAGE_LEAST && b)
			table_row(t, e->from, e->to, e->kind, e->count,
				  runs(b) ? 100 * e->count / b->executions : 0.0);
	}
	return t;
}
