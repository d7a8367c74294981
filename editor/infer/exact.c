/* exact.c - sets counts of blocks and edges from a complete profile; nothing is inferred
 *
 * A block ran as often as its samples divided by its length, an edge as often as it was seen.
 * Branches out of the function were seen as calls; executions of a block that no edge and no
 * call accounts for ran out of the function's end.  Executions of block 0 that came over no
 * edge are entries.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/exact_counts.txt).
 */
#include "editor/infer/exact.h"

static double *table_count(struct fn *fn, const struct block *b, uint32_t to)
{
	if (b->table == NO_TABLE)
		return NULL;
	const struct jump_table *t = &fn->table[b->table];
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] == to)
			return &t->count[i];
	}
	return NULL;
}

/* Where both ways of a branch lead to one block, nobody knows which was taken. */
static void count_edge(struct fn *fn, const struct seen_edge *e)
{
	struct block *b = &fn->block[e->from];
	double *entry = table_count(fn, b, e->to);

	if (b->fall == e->to)
		b->fall_count += e->count;
	else if (b->taken == e->to)
		b->taken_count += e->count;
	else if (entry)
		*entry += e->count;
}

/* Blocks and calls both ascend, each range by itself. */
static void count_jumps_out(struct fn *fn)
{
	for (uint32_t i = 0, c = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];
		uint32_t end = b->insn + b->ninsn;

		for (; c < fn->nseen_call && fn->seen_call[c].insn < end; c++) {
			if (b->taken_out && fn->seen_call[c].insn == end - 1)
				b->taken_count += fn->seen_call[c].count;
		}
		if (b->fall_out && !b->noreturn)
			b->fall_count =
				b->count > b->taken_count ? b->count - b->taken_count : 0;
	}
}

void exact_counts(struct arena *a, struct fn *fn)
{
	for (uint32_t t = 0; t < fn->ntable; t++)
		fn->table[t].count = arena_array(a, fn->table[t].nentry, sizeof(double));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];
		uint32_t length = block_length(fn, b);

		b->count = b->samples / (length ? length : 1);
		b->fall_count = b->taken_count = 0;
		b->leads_to_noreturn = false;
		b->confidence = CONFIDENCE_HIGH;
	}
	fn->entry_count = fn->block[0].count;
	for (uint32_t i = 0; i < fn->nseen_edge; i++) {
		count_edge(fn, &fn->seen_edge[i]);
		if (fn->seen_edge[i].to == 0)
			fn->entry_count -= fn->seen_edge[i].count;
	}
	if (fn->entry_count < 0)
		fn->entry_count = 0;
	count_jumps_out(fn);
}
