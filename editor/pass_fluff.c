/* pass_fluff.c - fluff removal: blocks that do not run go to the fluff text
 *
 * needs: counts.  Changes: block->cold, block->warm.  Keeps: order.
 *
 * A profile of samples is sparse, and a block that does run but stands in the fluff text costs
 * more than removing all the rest gains.  So no samples are not enough: a block is cold when
 *   - nothing tells that it runs, whatever its count is guessed to be, and
 *   - had it run for CHANCE of the executions of the blocks before it, it would have been seen:
 *     CLEAR_SAMPLES samples at least; or all blocks before it are cold; or it can only end in an
 *     abort.
 * Any other of which nothing tells that it runs is hot when by its guessed count a LIKELY part of what
 * runs before it goes there, else warm: it stands between the hot blocks of all functions, which
 * are so packed as closely as can be, and the cold ones.  Blocks that the compiler itself put into
 * a .cold fragment are cold unless they are known to run.  The entry is always hot.
 */
#include "editor/pass.h"

#include <stdlib.h>

/* Under this many samples of the whole program nothing is known well enough. */
static const double min_samples = 3000;
static const double chance = 0.1;
static const double clear_samples = 2;
static const double likely = 0.25;

struct work {
	struct fn *fn;
	double *reached;	/* [nblock] of what is not known to run and is reached from blocks not
				 * cold: executions of the hottest of them; else 0 */
	uint32_t *queue;	/* [nblock] */
	uint32_t n;
};

static bool is_known(const struct block *b)
{
	return b->count > 0 && !b->guessed;
}

static double insns_of(const struct fn *fn, const struct block *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->ninsn; i++)
		n += fn->insn[b->insn + i].kind != INSN_NOP;
	return n ? n : 1;
}

/* Block `id` is reached from one that ran `by` times.  Only the first call for a block decides, and
 * calls come with falling `by`. */
static void reach(struct work *w, uint32_t id, double by)
{
	if (id == NO_BLOCK || is_known(&w->fn->block[id]) || w->reached[id] > 0)
		return;
	struct block *b = &w->fn->block[id];
	w->reached[id] = by;
	b->cold = b->doomed || chance * by * insns_of(w->fn, b) >= clear_samples;
	if (!b->cold)
		w->queue[w->n++] = id;
}

static void reach_successors(struct work *w, uint32_t id, double by)
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

static void mark_fn(struct arena *scratch, struct fn *fn)
{
	uint32_t *hot = arena_array(scratch, fn->nblock, sizeof(*hot)), nhot = 0;
	struct work w = { .fn = fn };

	w.reached = arena_array(scratch, fn->nblock, sizeof(*w.reached));
	w.queue = arena_array(scratch, fn->nblock, sizeof(*w.queue));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (is_known(&fn->block[i]))
			hot[nhot++] = i;
	}
	if (nhot == 0)
		return;
	qsort_r(hot, nhot, sizeof(*hot), by_count, fn->block);
	/* Computed jumps may come from any block of the function; landing pads are cold. */
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (fn->block[i].pinned)
			reach(&w, i, fn->block[hot[0]].count);
	}
	for (uint32_t h = 0, head = 0; h < nhot; h++) {
		double by = fn->block[hot[h]].count;

		reach_successors(&w, hot[h], by);
		for (; head < w.n; head++)
			reach_successors(&w, w.queue[head], by);
	}
	for (uint32_t i = 1; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		if (is_known(b))
			continue;
		b->cold = b->cold || w.reached[i] <= 0 || b->range > 0;
		b->warm = !b->cold && b->count < likely * w.reached[i];
	}
	fn->block[0].cold = false;
}

int pass_fluff(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *scratch = arena_new();
	double samples = 0;

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->nfn; i++)
		samples += prog->fn[i].samples;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		if (samples >= min_samples)
			mark_fn(scratch, fn);
		arena_reset(scratch);
		for (uint32_t k = 0; k < fn->nblock; k++) {
			struct block *b = &fn->block[k];

			if (b->range > 0 && !is_known(b))
				b->cold = true;
		}
	}
	arena_free(scratch);
	return 0;
}
