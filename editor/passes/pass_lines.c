/* pass_lines.c - marks the code that runs so often that it shall lie across few lines
 *
 * needs: counts, cold, warm.  Changes: block->in_line, block->jump_in_line, prog->line_costs.
 * Keeps: orders, cold, warm.
 *
 * Processors fetch code by lines of 64 bytes, and keep what they decoded by lines of 64 or 32.
 * A block across the end of a line takes an entry more of what is kept, a comparison is not
 * fused with a branch behind that end, and a dispatch (an indirect jump) across it made an
 * interpreter slower by a tenth.  What that costs which processors is a table
 * (lib/cpucosts.def); emit weighs it against padding (emit_lines.c).  Here are chosen the
 * costs, in a step of its own before worth.c weighs them, and the blocks for which it is done:
 * those that run most often, all but RARE of all executions.
 *
 * Intel's processors from Skylake to Comet Lake do not keep a line of 32 bytes decoded in
 * which a jump crosses the line's end or ends there ("Mitigations for Jump Conditional Code
 * Erratum", 2019): they decode it again each time.  About one jump of six lies so, and a loop
 * in which one does is up to twice as slow.  That only matters in code that would otherwise
 * stay decoded, of which there is little: the blocks that run most often, up to DECODED bytes
 * of all functions together.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/lines_*.txt).
 */
#include "editor/passes/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpu.h"
#include "lib/err.h"

enum { DECODED = 6144 };	/* 1,536 micro-operations of about 4 bytes */
static const double rare = 0.005;

static bool is_hot(const struct block *b)
{
	return !b->cold && !b->warm && !b->padding && b->count > 0;
}

/* By descending count; equal ones in the program's order. */
static int hotter(const void *x, const void *y)
{
	const struct block *a = *(struct block *const *)x, *b = *(struct block *const *)y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

int pass_lines_choose(struct prog *prog, const struct edit_options *options, struct err *err)
{
	const struct cpu here = cpu_here();
	const char *processor = options->processor;
	char known[256] = "";

	prog->line_costs = processor ? cpu_costs_named(processor) : cpu_costs(&here);
	if (prog->line_costs)
		return 0;
#define CPU(name, ...) strcat(known, *known ? ", " name : name);
#include "lib/cpucosts.def"
#undef CPU
	return err_set(err, ERR_USAGE, "no processor is called '%.40s'; there are %s",
		       processor, known);
}

static void mark(struct block **hot, size_t n, const struct cpu_costs *costs)
{
	double all = 0, sum = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		all += hot[i]->count;
	for (size_t i = 0; i < n && sum < (1 - rare) * all; i++) {
		hot[i]->in_line = true;
		bytes += hot[i]->size;
		hot[i]->jump_in_line = costs->jump > 0 && bytes <= DECODED;
		sum += hot[i]->count;
	}
}

int pass_lines(struct prog *prog, const struct edit_options *options, struct err *err)
{
	size_t n = 0;

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->norder; i++)
		n += prog->fn[prog->order[i]].nblock;

	struct arena *scratch = arena_new();
	struct block **hot = arena_array(scratch, n + 1, sizeof(struct block *));

	n = 0;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		for (uint32_t b = 0; b < fn->nblock; b++)
			if (is_hot(&fn->block[b]))
				hot[n++] = &fn->block[b];
	}
	qsort(hot, n, sizeof(struct block *), hotter);
	mark(hot, n, prog->line_costs);
	arena_free(scratch);
	return 0;
}
