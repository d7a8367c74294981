/* emit_longer.c - instructions whose images are longer than the originals; the branch at a
 * block's end is relax.c's matter
 *
 * CALLS   In blocks that a pass has marked (block->direct), the image of `call stub` is
 *         `call *slot(%rip)` and that of `jmp stub` is `jmp *slot(%rip)`: calls and tail jumps
 *         skip the procedure linkage table.  Both have six bytes.
 * LOADS   A load from a jump table that uses the address of the original's table in a register
 *         gets a displacement to the new table, and perhaps a guard in front (jumptable.c).
 * FRONTS  A block's instructions but the last may get meaningless prefixes, as many together as
 *         what is behind them must move by (emit_lines.c): the first that can gets the first
 *         ones.
 *
 * Tested by tests/unit/editor/emit/test_emit_plan.c (fronts),
 * tests/unit/editor/emit/test_emit.c (loads) and, for calls, tests/programs/unwinding.sh
 * (generations made with --passes=...,calls).
 */
#include "editor/emit/emit.h"

#include "lib/blockmap.h"
#include "postmorph/tables/tableload.h"

/* At most so many prefixes each: more may take some decoders longer. */
enum { SLOT_LEN = 6, FRONT_EACH = 3 };

vaddr emit_slot_of(const struct prog *prog, const struct block *b, const struct insn *insn)
{
	if (!b->direct || (insn->kind != INSN_CALL && insn->kind != INSN_JMP) ||
	    insn->field != 1)
		return 0;
	return prog_stub_slot(prog, insn_target(insn, prog_insn_bytes(prog, insn),
						prog_insn_addr(prog, insn)));
}

const struct emit_table *emit_load_of(const struct emit_plan *plan, uint32_t fn, uint32_t insn)
{
	const uint32_t *table_of = plan->table_of[fn];

	if (!table_of || table_of[insn] == NO_TABLE)
		return NULL;
	const struct emit_table *t = &plan->table[table_of[insn]];
	return plan->prog->fn[fn].table[t->table].kind == BLOCKMAP_TABLE_BESIDE32 ? t : NULL;
}

static uint32_t bare_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k)
{
	const struct prog *prog = plan->prog;
	const struct fn *fn = &prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	const struct insn *insn = &fn->insn[b->insn + k];

	if (insn->kind == INSN_CALL && emit_slot_of(prog, b, insn))
		return SLOT_LEN;
	const struct emit_table *t = emit_load_of(plan, p->fn, b->insn + k);
	if (!t)
		return insn->len;
	struct bytes code = { prog_insn_bytes(prog, insn), insn->len };
	uint32_t guard = fn->table[t->table].guard;

	return tableload_size(code) + (guard ? tableload_guard_size(code, guard) : 0);
}

/* How many prefixes instruction `k` may get.  The last one gets none: it may be fused with the
 * branch, and the block map would not tell where that is. */
static uint32_t front_room(const struct emit_plan *plan, const struct emit_place *p, uint32_t k)
{
	const struct fn *fn = &plan->prog->fn[p->fn];
	uint32_t index = fn->block[p->block].insn + k;

	if (k + 1 >= p->nkept || emit_load_of(plan, p->fn, index))
		return 0;
	uint32_t room = insn_front_room(&fn->insn[index],
					prog_insn_bytes(plan->prog, &fn->insn[index]));

	return room < FRONT_EACH ? room : FRONT_EACH;
}

uint32_t emit_front_room(const struct emit_plan *plan, const struct emit_place *p,
			 uint32_t most)
{
	uint32_t room = 0;

	for (uint32_t k = 0; k < p->nkept && room < most && !plan->counters; k++)
		room += front_room(plan, p, k);
	return room < most ? room : most;
}

uint32_t emit_front_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k)
{
	uint32_t left = p->front;

	for (uint32_t i = 0; left > 0 && i <= k; i++) {
		uint32_t room = front_room(plan, p, i), n = room < left ? room : left;

		if (i == k)
			return n;
		left -= n;
	}
	return 0;
}

uint32_t emit_insn_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k)
{
	return emit_front_size(plan, p, k) + bare_size(plan, p, k);
}
