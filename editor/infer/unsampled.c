/* unsampled.c - judges how certain it is that a block without samples does not run
 *
 * A profile of samples is sparse: that a block has none says little where few would be
 * expected.  Had the block run for CHANCE of the executions of the blocks that lead to it, a
 * number of samples would be expected in it: the higher that is, the surer it is that the block
 * does not run (or hardly ever).  Blocks that lead to it are those in front of it and, over
 * other unsampled blocks, those before them; the hottest one counts.
 *
 * Computed jumps may come from any block of the function.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_absence.txt, fluff_*.txt).
 */
#include "editor/infer/unsampled.h"

#include <stdlib.h>

static const double chance = 0.1;	/* chosen, not measured */
/* Samples expected: with these there is none all the same once in 7 and once in 1,000 times. */
static const double clear = 2, very_clear = 7;

struct walk {
	const struct fn *fn;
	struct block *judged;	/* [nblock] that get their confidence; NULL: they have it */
	double *reached;	/* [nblock] */
	uint32_t *queue;	/* [nblock] */
	uint32_t n;
};

static enum confidence confidence_of(double expected)
{
	return expected >= very_clear ? CONFIDENCE_HIGH :
	       expected >= clear ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

/* The first time decides for a block, since it is reached from hotter blocks first. */
static void reach(struct walk *w, uint32_t id, double by)
{
	const struct block *b = id == NO_BLOCK ? NULL : &w->fn->block[id];

	if (!b || !unsampled_is(b) || w->reached[id] > 0)
		return;
	w->reached[id] = by;
	if (w->judged) {
		uint32_t length = block_length(w->fn, b);

		w->judged[id].confidence =
			(uint8_t)confidence_of(chance * by * (length ? length : 1));
	}
	if (!b->leads_to_noreturn && b->confidence == CONFIDENCE_LOW)
		w->queue[w->n++] = id;
}

static void reach_successors(struct walk *w, uint32_t id, double by)
{
	const struct block *b = &w->fn->block[id];

	if (!b->noreturn)
		reach(w, b->fall, by);
	reach(w, b->taken, by);
	if (b->table != NO_TABLE) {
		const struct jump_table *t = &w->fn->table[b->table];

		for (uint32_t i = 0; i < t->nentry; i++)
			reach(w, t->succ[i], by);
	}
}

static int by_count(const void *x, const void *y, void *block)
{
	const struct block *b = block;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;

	if (b[i].count != b[j].count)
		return b[i].count > b[j].count ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void walk_all(struct walk *w, struct arena *a)
{
	const struct fn *fn = w->fn;
	uint32_t *hot = arena_array(a, fn->nblock, sizeof(*hot)), nhot = 0;

	w->reached = arena_array(a, fn->nblock, sizeof(*w->reached));
	w->queue = arena_array(a, fn->nblock, sizeof(*w->queue));
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (!unsampled_is(&fn->block[i]))
			hot[nhot++] = i;
	if (nhot == 0)
		return;
	qsort_r(hot, nhot, sizeof(*hot), by_count, fn->block);
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (fn->block[i].pinned)
			reach(w, i, fn->block[hot[0]].count);
	for (uint32_t h = 0, head = 0; h < nhot; h++) {
		double by = fn->block[hot[h]].count;

		reach_successors(w, hot[h], by);
		for (; head < w->n; head++)
			reach_successors(w, w->queue[head], by);
	}
}

double *unsampled_reached(const struct fn *fn, struct arena *a)
{
	struct walk w = { .fn = fn };

	walk_all(&w, a);
	return w.reached;
}

void unsampled_judge(struct fn *fn, struct arena *scratch)
{
	struct walk w = { .fn = fn, .judged = fn->block };

	for (uint32_t i = 0; i < fn->nblock; i++)
		if (unsampled_is(&fn->block[i]))
			fn->block[i].confidence = CONFIDENCE_LOW;
	walk_all(&w, scratch);
	for (uint32_t i = 0; i < fn->nblock; i++)	/* only what does not run leads there */
		if (unsampled_is(&fn->block[i]) && w.reached[i] <= 0)
			fn->block[i].confidence = CONFIDENCE_MEDIUM;
}
