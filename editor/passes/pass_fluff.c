/* pass_fluff.c - fluff removal: marks the blocks that do not run, which go to the fluff text
 *
 * needs: counts.  Changes: block->cold, block->warm.  Keeps: order.
 *
 * A profile of samples is sparse, and a block that does run but stands in the fluff text costs
 * more than removing all the rest gains.  So it is not enough that a block has no samples.  An
 * unsampled block (unsampled.h) is cold when
 *   - the confidence that it does not run is medium or high; or
 *   - all blocks before it are cold; or
 *   - it can only end in an abort.
 * Any other is warm when its guessed count is less than a LIKELY part of the count of the block
 * that leads there: it then stands between the hot blocks of all functions, which so are packed
 * as closely as possible, and the cold ones.  Where the block that leads there is RARE the part
 * is an UNLIKELY one, and where hardly a sample is EXPECTED in that block the unsampled one is
 * hot.  There packing gains less, and more such blocks do run (most of them in a large
 * program), each of which would be a jump to another page.  Blocks that the compiler itself put
 * into a .cold fragment are cold unless they are known to run.  The entry is always hot.
 *
 * Where the start of a loop is warm, the loop's cold blocks are warm as well, unless they can
 * only end in an abort: a loop that runs after all shall not run across the fluff text.
 *
 * RARE and UNLIKELY were measured with cc1 and clang.  Blocks after RARE ones whose guess is
 * less than 3 % run in 5 to 35 % of the cases; with these limits cc1 has 4.7 % fewer misses in
 * a cache of 64 KiB than when no block after a RARE one was warm.  min_samples and LIKELY are
 * chosen.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/fluff_*.txt).
 */
#include "editor/passes/pass.h"

#include "editor/graph/loopspans.h"
#include "editor/infer/unsampled.h"

/* Under this many samples of the whole program nothing is known well enough. */
static const double min_samples = 3000;
static const double likely = 0.25, unlikely = 0.03;
/* executions for each instruction of the program's */
static const double rare = 0.00001;
static const double expected = 0.1;		/* samples in an instruction */

/* `all`: instructions that the program executes, in the unit of counts. */
static void mark_fn(struct arena *scratch, struct fn *fn, double all)
{
	const double *reached = unsampled_reached(fn, scratch);
	bool any = false;

	for (uint32_t i = 0; i < fn->nblock; i++)
		any |= !unsampled_is(&fn->block[i]);
	if (!any)
		return;
	for (uint32_t i = 1; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		if (!unsampled_is(b))
			continue;
		b->cold = b->leads_to_noreturn || b->confidence > CONFIDENCE_LOW ||
			  reached[i] <= 0 || b->range > 0;
		b->warm =
			!b->cold && reached[i] >= expected &&
			b->count < (reached[i] >= rare * all ? likely : unlikely) * reached[i];
	}
}

/* What is in a warm loop is warm: in one whose first block is. */
static void keep_loops(struct arena *scratch, struct fn *fn)
{
	uint32_t *back = arena_array(scratch, fn->nblock, sizeof(*back));
	uint32_t *next = arena_array(scratch, (size_t)fn->nblock + 1, sizeof(*next));
	bool *may = arena_array(scratch, fn->nblock, sizeof(*may));
	bool *in = arena_array(scratch, fn->nblock, sizeof(*in));

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		back[i] = b->taken;
		in[i] = b->warm;
		may[i] = b->cold && !b->padding && !b->leads_to_noreturn && b->range == 0;
	}
	loopspans_spread(fn->nblock, back, may, next, in);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		if (may[i] && in[i]) {
			b->cold = false;
			b->warm = true;
		}
	}
}

int pass_fluff(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *scratch = arena_new();
	double samples = 0, all = 0;

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->nfn; i++)
		samples += prog->fn[i].samples;
	for (uint32_t i = 0; i < prog->norder; i++)
		all += fn_work(&prog->fn[prog->order[i]]);
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		if (samples >= min_samples) {
			mark_fn(scratch, fn, all);
			keep_loops(scratch, fn);
		}
		arena_reset(scratch);
		for (uint32_t k = 0; k < fn->nblock; k++) {
			struct block *b = &fn->block[k];

			if (b->range > 0 && unsampled_is(b))
				b->cold = true;
		}
	}
	arena_free(scratch);
	return 0;
}
