/* cutlabels.c - no jump of a function calculates a place inside its entry jump
 *
 * Code may go to a label by its distance from another one (`goto *(&&base + distance[i])`), of
 * which no word of data tells where it leads.  Code of an FDE that forms an address inside of
 * that and has a jump which calculates its target (ways.c) may go to any of its instructions at
 * which the stack is as it is at the jump: an entry jump over such a one is refused.
 *
 * Tested by tests/unit/verify/test_cutlabels.c.
 */
#include "verify/lookup.h"

/* Bytes of the frame at the instruction, 0 if that is not known. */
static int64_t depth_at(const struct verify *v, vaddr addr)
{
	struct vcursor at = { .cfi = &v->ocfi, .fde = NO_FDE };

	return vstates_depth(v->states, vcfi_state(&at, addr));
}

static int check_start(struct verify *v, const struct vref *jump, vaddr addr)
{
	int64_t there = depth_at(v, addr), depth = depth_at(v, jump->addr);

	if (there && depth && there != depth)
		return 0;
	return refuse(v, "the jump at 0x%llx may calculate 0x%llx, inside an entry jump",
		      ULL(jump->addr), ULL(addr));
}

int verify_cutlabels(struct verify *v)
{
	enum { JUMP = 5 };

	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *r = &v->refs.all.v[i];

		if (r->kind != REF_JUMP || r->fde == NO_FDE || !v->walk.own_label[r->fde] ||
		    verify_way_of(v, r->addr) != WAY_CALCULATED)
			continue;
		vaddr start = v->ocfi.fde[r->fde].addr;
		for (vaddr at = start; at < start + 2 * JUMP; at++)
			if (verify_is_start(v, at) && verify_is_cut(v, at) &&
			    check_start(v, r, at) < 0)
				return -1;
	}
	return 0;
}
