/* emit_counters.c - how many bytes the edge counters take in the image of a block, and where
 * those on the edges from a jump table are
 *
 * Tested by tests/programs/instrument.sh: instrumented programs compute the same and count
 * right, in every form of block end.
 */
#include "editor/emit/emit.h"

const struct edgecounter *emit_counters_find(const struct emit_plan *plan,
					     const struct emit_place *p,
					     enum edgecounter_at at, uint32_t where)
{
	return edgecounter_find(plan->counters, p->fn, p->block, at, where);
}

uint32_t emit_counters_size(const struct emit_plan *plan, const struct edgecounter *c,
			    const struct insn *insn)
{
	uint8_t unused[EDGECOUNTER_MAX];

	return edgecounter_write(plan->counters, c, plan->prog, insn, 0, unused);
}

static uint32_t size_at(const struct emit_plan *plan, const struct emit_place *p,
			enum edgecounter_at at, uint32_t where)
{
	const struct edgecounter *c = emit_counters_find(plan, p, at, where);
	const struct fn *fn = &plan->prog->fn[p->fn];

	if (!c)
		return 0;
	return emit_counters_size(plan, c, at == EDGECOUNTER_TARGET ?
				  &fn->insn[fn->block[p->block].insn + where] : NULL);
}

uint32_t emit_counters_before(const struct emit_plan *plan, const struct emit_place *p,
			   uint32_t insn)
{
	return size_at(plan, p, EDGECOUNTER_BEFORE, insn) +
	       size_at(plan, p, EDGECOUNTER_TARGET, insn);
}

uint32_t emit_counters_taken(const struct emit_plan *plan, const struct emit_place *p)
{
	return size_at(plan, p, EDGECOUNTER_TAKEN, 0);
}

uint32_t emit_counters_fall(const struct emit_plan *plan, const struct emit_place *p)
{
	return size_at(plan, p, EDGECOUNTER_FALL, 0);
}

uint32_t emit_counters_around(const struct insn *branch)
{
	return branch->kind == INSN_JCC ? 2 : 4;
}

new_vaddr emit_counters_entry(const struct emit_plan *plan, uint32_t fn, uint32_t table,
			   uint32_t to)
{
	if (!plan->counters || plan->counters->fn[fn].n == 0)
		return 0;
	uint32_t user = plan->counters->fn[fn].table_user[table], n;
	const struct edgecounter *c = user == NO_BLOCK ? NULL :
				      edgecounter_entries(plan->counters, fn, user, &n);

	if (!c)
		return 0;
	const struct emit_place *p = &plan->place[plan->place_of[fn][user]];

	for (uint32_t i = 0; i < n; i++)
		if (c[i].where == to)
			return plan->text_addr +
			       plan->item[p->item + p->nitem - p->nentry + i].addr;
	return 0;
}
