/* blockgraph.c - makes the graph that exttsp.h orders from one function's blocks and edges
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/align_*.txt, switch.txt).
 */
#include "editor/passes/blockgraph.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

bool blockgraph_knows(const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (fn->block[i].count > 0)
			return true;
	return false;
}

uint32_t blockgraph_block_size(const struct fn *fn, const struct block *b)
{
	uint32_t size = b->size;

	for (uint32_t i = b->ninsn; i-- > 0; ) {
		const struct insn *in = &fn->insn[b->insn + i];

		if (in->kind != INSN_NOP)
			break;
		size -= in->len;
	}
	return b->padding ? 0 : size;
}

static uint32_t add_edges(const struct fn *fn, uint32_t id, double share,
			  struct exttsp_edge *edge)
{
	const struct block *b = &fn->block[id];
	bool jcc = b->ninsn && fn->insn[b->insn + b->ninsn - 1].kind != INSN_JMP;
	uint32_t n = 0;

	if (b->fall != NO_BLOCK && !b->noreturn)
		edge[n++] = (struct exttsp_edge){ id, b->fall, b->fall_count,
						  b->taken == NO_BLOCK && !b->taken_out
							  ? EXTTSP_ONLY
							  : EXTTSP_CONDITIONAL };
	if (b->taken != NO_BLOCK)
		edge[n++] = (struct exttsp_edge){ id, b->taken, b->taken_count,
			jcc ? EXTTSP_CONDITIONAL : EXTTSP_ONLY };
	for (uint32_t i = 0; share > 0 && i < fn->table[b->table].nentry; i++) {
		const struct jump_table *t = &fn->table[b->table];

		if (t->succ[i] != NO_BLOCK && t->count[i] > 0)
			edge[n++] = (struct exttsp_edge){ id, t->succ[i], share * t->count[i],
				EXTTSP_INDIRECT };
	}
	return n;
}

void blockgraph_make(const struct fn *fn, bool original_sizes, uint64_t extra,
		     struct exttsp_graph *out)
{
	uint64_t *size = memory_new((size_t)fn->nblock + 1, sizeof(*size));
	double *count = memory_new((size_t)fn->nblock + 1, sizeof(*count));
	double *runs = memory_new(fn->ntable, sizeof(*runs));
	size_t nedge = 0;

	fn_table_runs(fn, runs);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		nedge += 2 + (b->table != NO_TABLE ? fn->table[b->table].nentry : 0);
		size[i] = original_sizes ? b->size : blockgraph_block_size(fn, b);
		count[i] = b->count;
	}
	size[fn->nblock] = extra;
	struct exttsp_edge *edge = memory_new(nedge, sizeof(*edge));
	uint32_t n = 0;
	for (uint32_t i = 0; i < fn->nblock; i++)
		n += add_edges(fn, i, fn_table_share(fn, runs, i), edge + n);
	free(runs);
	*out = (struct exttsp_graph){ fn->nblock + 1, n, size, count, edge };
}

void blockgraph_free(struct exttsp_graph *g)
{
	free((void *)(uintptr_t)g->size);
	free((void *)(uintptr_t)g->count);
	free((void *)(uintptr_t)g->edge);
	*g = (struct exttsp_graph){ 0 };
}
