/* pass_lines.c - marks the most frequent jumps, which shall not cross the end of a 32-byte line
 *
 * needs: counts, cold, warm.  Changes: block->in_line.  Keeps: orders, cold, warm.
 *
 * Intel's processors from Skylake to Comet Lake do not keep a line of 32 bytes decoded in which
 * a jump crosses the line's end or ends there ("Mitigations for Jump Conditional Code Erratum",
 * 2019): they decode it again each time.  About one jump of six lies so, and a loop in which
 * one does is up to twice as slow.  Emit moves such a jump by prefixes in its block or NOPs in
 * front of it (emit_plan.c).
 *
 * It is only worth it in code that would otherwise stay decoded, of which there is little: the
 * blocks that run most often, up to DECODED bytes of all functions together.  Elsewhere every
 * line is decoded anyway, and NOPs take as long as they save.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/lines_*.txt).
 */
#include "editor/passes/pass.h"

#include <stdlib.h>

enum { DECODED = 6144 };	/* 1,536 micro-operations of about 4 bytes */

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

int pass_lines(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *scratch = arena_new();
	uint64_t bytes = 0;
	size_t n = 0;

	(void)options;
	(void)err;
	for (uint32_t i = 0; i < prog->norder; i++)
		n += prog->fn[prog->order[i]].nblock;
	struct block **hot = arena_array(scratch, n + 1, sizeof(struct block *));

	n = 0;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		for (uint32_t b = 0; b < fn->nblock; b++)
			if (is_hot(&fn->block[b]))
				hot[n++] = &fn->block[b];
	}
	qsort(hot, n, sizeof(struct block *), hotter);
	for (size_t i = 0; i < n && (bytes += hot[i]->size) <= DECODED; i++)
		hot[i]->in_line = true;
	arena_free(scratch);
	return 0;
}
