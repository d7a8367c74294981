/* emit_longer.c - instructions whose images are longer, and which are no branches at a block's
 * end
 *
 * CALLS   The image of `call stub` is `call *slot(%rip)`, that of `jmp stub` is `jmp
 *         *slot(%rip)`, in blocks that a pass has marked: calls and tail jumps skip the
 *         procedure linkage table. Both have six bytes.
 * LOADS   of a table's entry by the address of the original's table: they get a displacement.
 * FRONTS  A block's first instruction has so many prefixes more as the jump at its end must
 *         move by.
 */
#include "editor/emit/emit.h"

#include "lib/blockmap.h"
#include "postmorph/tables/tableload.h"

enum { SLOT_LEN = 6 };

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
	if (emit_load_of(plan, p->fn, b->insn + k))
		return tableload_size((struct bytes){ prog_insn_bytes(prog, insn), insn->len });
	return insn->len;
}

uint32_t emit_insn_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k)
{
	return (k == 0 ? p->front : 0) + bare_size(plan, p, k);
}
