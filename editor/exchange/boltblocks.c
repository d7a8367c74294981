/* boltblocks.c - the blocks of a function as llvm-bolt cuts them; see boltblocks.h
 *
 * Tested by tests/e2e/bolt.sh.
 */
#include "editor/exchange/boltblocks.h"

static bool *find_labels(const struct fn *fn, struct arena *a)
{
	bool *label = arena_array(a, fn->nblock, sizeof(*label));

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		label[i] |= b->pinned || b->landing || !i || b->range != fn->block[i - 1].range;
		if (b->taken != NO_BLOCK)
			label[b->taken] = true;
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t k = 0; k < fn->table[t].nentry; k++)
			if (fn->table[t].succ[k] != NO_BLOCK)
				label[fn->table[t].succ[k]] = true;
	return label;
}

/* Its last instruction if that ends a block, else NULL. */
static const struct insn *end_of(const struct fn *fn, const struct block *b)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	bool ends = insn_ends_flow(last) || (insn_is_branch(last) && last->kind != INSN_CALL);

	return ends ? last : NULL;
}

/* A jump inside the function that goes into the block of the branch in front of it. */
static bool joins(const struct fn *fn, const struct block *b, const struct block *before)
{
	const struct insn *first = &fn->insn[b->insn], *end = end_of(fn, before);

	return first->kind == INSN_JMP && b->taken != NO_BLOCK &&
	       fn->block[b->taken].range == b->range &&
	       (end->kind == INSN_JCC || end->kind == INSN_LOOP) &&
	       before->taken != NO_BLOCK && fn->block[before->taken].range == before->range;
}

void boltblocks_find(const struct fn *fn, struct arena *a, struct boltblocks *out)
{
	const bool *label = find_labels(fn, a);

	*out = (struct boltblocks){ .number = arena_array(a, fn->nblock, sizeof(*out->number)),
				    .begins = arena_array(a, fn->nblock, sizeof(bool)),
				    .n = arena_array(a, fn->nrange, sizeof(*out->n)) };
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		uint32_t *n = &out->n[b->range];

		out->begins[i] = label[i] || (end_of(fn, b - 1) && !joins(fn, b, b - 1));
		*n += out->begins[i];
		out->number[i] = *n - 1;
	}
}
