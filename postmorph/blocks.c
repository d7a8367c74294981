/* blocks.c - divides a function into basic blocks and finds their edges
 *
 * The marks (ir/text.h) decide where blocks begin; the edges of a block follow from its last
 * instruction (struct block in ir.h).  Blocks of a range are contiguous: the fall-through of a
 * block is the next id, or leaves the range.
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include <string.h>

#include "postmorph/blocks.h"
#include "postmorph/tables/jumptable.h"

static const uint8_t MARK_LEADER = MARK_BRANCH | MARK_HELD | MARK_TABLE | MARK_PAD;

static bool ends_block(const struct insn *insn)
{
	return insn_ends_flow(insn) || insn->kind == INSN_JCC || insn->kind == INSN_LOOP ||
	       insn->kind == INSN_XBEGIN;
}

static bool begins_block(const struct text *t, const struct fn *fn, uint32_t i, uint32_t first)
{
	return i == first || ends_block(&fn->insn[i - 1]) ||
	       (t->mark[fn->insn[i].off] & MARK_LEADER);
}

/* First instruction of each range, and the end: [nrange + 1]. */
static uint32_t *range_starts(const struct text *t, struct arena *a, const struct fn *fn)
{
	uint32_t *start = arena_array(a, fn->nrange + 1, sizeof(*start));

	for (uint32_t r = 0; r < fn->nrange; r++)
		start[r + 1] = start[r] + t->piece[fn->range[r].fde].ninsn;
	return start;
}

static void set_taken(const struct text *t, const struct fn *fn, struct block *b)
{
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

	if (!insn_is_branch(last) || last->kind == INSN_CALL)
		return;
	vaddr target = insn_target(last, prog_insn_bytes(t->prog, last),
				   prog_insn_addr(t->prog, last));
	uint32_t to = fn_find_block(fn, target);
	if (to != NO_BLOCK && fn->block[to].addr == target)
		b->taken = to;
	else
		b->taken_out = target;
}

static void set_fall(const struct fn *fn, uint32_t id)
{
	struct block *b = &fn->block[id];
	const struct fn_range *r = &fn->range[b->range];

	if (insn_ends_flow(&fn->insn[b->insn + b->ninsn - 1]) && !block_trap_falls(fn, id))
		return;
	if (id + 1 < fn->nblock && fn->block[id + 1].range == b->range)
		b->fall = id + 1;
	else
		b->fall_out = r->addr + r->size;
}

static bool only_nops(const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (fn->insn[i].kind != INSN_NOP)
			return false;
	return true;
}

/* All `n` marks together, eight at a time. */
static uint8_t marks_of(const uint8_t *mark, uint32_t n)
{
	uint64_t any = 0, eight;

	for (; n >= sizeof(eight); n -= sizeof(eight), mark += sizeof(eight)) {
		memcpy(&eight, mark, sizeof(eight));
		any |= eight;
	}
	while (n--)
		any |= *mark++;
	for (unsigned bits = 32; bits >= 8; bits /= 2)
		any |= any >> bits;
	return (uint8_t)any;
}

static void mark_block(const struct text *t, struct fn *fn, uint32_t id)
{
	struct block *b = &fn->block[id];
	uint8_t any = marks_of(text_mark(t, b->addr), b->size);

	b->pinned = any & MARK_HELD;
	b->landing = any & MARK_PAD;
	uint32_t n = b->ninsn;
	while (n > 1 && fn->insn[b->insn + n - 1].kind == INSN_NOP)
		n--;
	b->noreturn = text_call_noreturn(t, &fn->insn[b->insn + n - 1]) ||
		      (fn->insn[b->insn + n - 1].kind == INSN_TRAP && b->fall != NO_BLOCK);
	b->padding = id != 0 && !(any & MARK_LEADER) && fn->block[id - 1].fall != id &&
		     only_nops(fn, b);
}

static void fill_blocks(const struct text *t, struct fn *fn, const uint32_t *start)
{
	struct block *b = fn->block - 1;

	for (uint32_t r = 0; r < fn->nrange; r++)
		for (uint32_t i = start[r]; i < start[r + 1]; i++) {
			const struct insn *insn = &fn->insn[i];

			if (begins_block(t, fn, i, start[r]))
				*++b = (struct block){
					.addr = prog_insn_addr(t->prog, insn),
					.insn = i, .range = r, .fall = NO_BLOCK,
					.taken = NO_BLOCK, .table = NO_TABLE,
				};
			b->size += insn->len;
			b->ninsn++;
		}
}

void blocks_make(const struct text *t, struct arena *a, struct fn *fn,
		 const struct table_use *use, uint32_t nuse)
{
	if (fn->ninsn == 0)
		return;
	const uint32_t *start = range_starts(t, a, fn);

	for (uint32_t r = 0; r < fn->nrange; r++)
		for (uint32_t i = start[r]; i < start[r + 1]; i++)
			fn->nblock += begins_block(t, fn, i, start[r]);
	fn->block = arena_array(a, fn->nblock, sizeof(*fn->block));
	fn->order = arena_array(a, fn->nblock, sizeof(*fn->order));
	fill_blocks(t, fn, start);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		fn->order[i] = i;
		set_taken(t, fn, b);
		set_fall(fn, i);
		mark_block(t, fn, i);
		while (nuse && use->insn < b->insn + b->ninsn) {
			b->table = use->table;
			use++;
			nuse--;
		}
	}
	for (uint32_t i = 0; i < fn->ntable; i++) {
		struct jump_table *table = &fn->table[i];

		for (uint32_t k = 0; k < table->nentry; k++) {
			uint32_t to = fn_find_block(fn, table->target[k]);

			table->succ[k] =
				to != NO_BLOCK && fn->block[to].addr == table->target[k]
					? to
					: NO_BLOCK;
		}
	}
}
