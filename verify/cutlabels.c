/* cutlabels.c - no jump of a function calculates a place inside its entry jump
 *
 * Code may go to a label by its distance from another one (`goto *(&&base + distance[i])`), of
 * which no word of data tells where it leads.  In a function of which something, an instruction
 * or a word, holds an address inside, a jump which calculates its target (ways.c) may go to any
 * instruction of its FDE of which the unwind table says the same: an entry jump over such a one
 * is refused.  So may one that fetches its target, where the function has code to which nothing
 * seems to lead: what it fetches may have been calculated before.
 *
 * Tested by tests/unit/verify/test_cutlabels.c.
 */
#include "verify/holders.h"
#include "verify/lookup.h"

static uint32_t row_at(const struct verify *v, vaddr addr)
{
	struct vcursor at = { .cfi = &v->ocfi, .fde = NO_FDE };

	return vcfi_state(&at, addr);
}

static int check_start(struct verify *v, const struct vref *jump, vaddr addr)
{
	uint32_t from = row_at(v, jump->addr), there = row_at(v, addr);

	if (from != ROW_NONE && there != ROW_NONE && from != there)
		return 0;
	return refuse(v, "the jump at 0x%llx may calculate 0x%llx, inside an entry jump",
		      ULL(jump->addr), ULL(addr));
}

static int note_word(struct verify *v, const struct vholder *h, void *ctx)
{
	bool relocated = h->kind == HOLDS_RELATIVE || h->kind == HOLDS_RELR ||
			 h->kind == HOLDS_RELOCATED;
	bool word = relocated || (h->kind == HOLDS_WORD && verify_is_start(v, h->value));
	uint32_t fde = word ? vcfi_find(&v->ocfi, h->value) : NO_FDE;

	(void)ctx;		/* a sum of a label and something is relocated as well */
	if (fde != NO_FDE && v->ocfi.fde[fde].addr != h->value)
		v->walk.own_label[fde] = true;
	return 0;
}

static bool is_jump(const struct verify *v, const struct vref *r)
{
	return r->kind == REF_JUMP && r->fde != NO_FDE && v->walk.own_label[r->fde];
}

static bool may_calculate(struct verify *v, const struct vref *jump)
{
	enum verify_way way = verify_way_of(v, jump->addr);

	return way == WAY_CALCULATED || (way == WAY_FETCHED && verify_unled(v, jump->fde));
}

int verify_cutlabels(struct verify *v)
{
	enum { JUMP = 5 };

	(void)verify_each_holder(v, note_word, NULL);
	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *r = &v->refs.all.v[i];

		if (!is_jump(v, r) || !may_calculate(v, r))
			continue;
		vaddr start = v->ocfi.fde[r->fde].addr;
		for (vaddr at = start; at < start + 2 * JUMP; at++)
			if (verify_is_start(v, at) && verify_is_cut(v, at) &&
			    check_start(v, r, at) < 0)
				return -1;
	}
	return 0;
}
