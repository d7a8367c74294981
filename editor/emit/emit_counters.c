/* emit_counters.c - how much room what counts takes in the image of a block, and where it is */
#include "editor/emit/emit.h"

static uint32_t size_of(const struct emit_plan *plan, const struct emit_place *p,
			enum tally_at at, uint32_t where)
{
	const struct tally *t = tally_find(plan->tallies, p->fn, p->block, at, where);
	const struct fn *fn = &plan->prog->fn[p->fn];
	uint8_t unused[TALLY_MAX];

	if (!t)
		return 0;
	return tally_write(plan->tallies, t, plan->prog, at == TALLY_TARGET ?
			   &fn->insn[fn->block[p->block].insn + where] : NULL, 0, unused);
}

uint32_t emit_tally_before(const struct emit_plan *plan, const struct emit_place *p,
			   uint32_t insn)
{
	return size_of(plan, p, TALLY_BEFORE, insn) + size_of(plan, p, TALLY_TARGET, insn);
}

uint32_t emit_tally_taken(const struct emit_plan *plan, const struct emit_place *p)
{
	return size_of(plan, p, TALLY_TAKEN, 0);
}

uint32_t emit_tally_fall(const struct emit_plan *plan, const struct emit_place *p)
{
	return size_of(plan, p, TALLY_FALL, 0);
}

uint32_t emit_tally_around(const struct insn *branch)
{
	return branch->kind == INSN_JCC ? 2 : 4;
}

new_vaddr emit_tally_entry(const struct emit_plan *plan, uint32_t fn, uint32_t table,
			   uint32_t to)
{
	if (!plan->tallies || plan->tallies->fn[fn].n == 0)
		return 0;
	uint32_t user = plan->tallies->fn[fn].table_user[table], n;
	const struct tally *t = user == NO_BLOCK ? NULL :
				tally_entries(plan->tallies, fn, user, &n);

	if (!t)
		return 0;
	const struct emit_place *p = &plan->place[plan->place_of[fn][user]];

	for (uint32_t i = 0; i < n; i++)
		if (t[i].where == to)
			return plan->text_addr +
			       plan->item[p->item + p->nitem - p->nentry + i].addr;
	return 0;
}
