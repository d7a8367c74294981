/* relax.c - branch relaxation: branches start short and grow until all reach
 *
 * Each round places all items with the sizes known so far, and makes every short branch long
 * that does not reach its target.  A branch that grows can push others out of reach, so rounds
 * repeat until none grows.  (Through alignment it can also bring a target back into reach; that
 * branch stays long.)  Real programs need under ten rounds.  A sequence made on purpose, in
 * which one branch grows a round, would cost the square of its length: after MAX_ROUNDS every
 * branch that is left is made long, which is always valid.
 *
 * Rows of items for which the ends of lines matter get their paddings in each round by
 * linefit.h, from the sizes of that round; a row of which neither these nor its offset in a
 * line have changed since the round before keeps them.
 */
#include "editor/emit/relax.h"

enum { MAX_ROUNDS = 64 };

/* Bytes in front of an item that would begin at `at`. */
static uint64_t gap_before(const struct relax_item *item, uint64_t at)
{
	uint64_t least = item->parted && at > 0;
	uint64_t gap = least + (item->fit ? (item->fit->start - at - least) % LINEFIT_LINE : 0);
	uint64_t align = item->fit ? item->fit->align : item->align;
	uint64_t pad = align > 1 ? -(at + gap) & (align - 1) : 0;

	return gap + (!item->fit && item->max_skip && pad > item->max_skip ? 0 : pad);
}

/* Chooses the starts of the row that begins with item[0], behind what ends at `at`; how many
 * items it has.  `again`: only if something is not as it was the last time. */
static uint32_t fit_row(struct relax_item *item, uint32_t nitem, uint64_t at, bool again)
{
	uint8_t offset = at % LINEFIT_LINE;
	bool same = again && item[0].fitted_at == offset;
	uint32_t n = 0;

	do {
		struct linefit_item *fit = item[n].fit;
		uint32_t size = (uint32_t)(item[n].size + relax_branch_size(&item[n]));

		same = same && fit->size == size;	/* a tail grows with it */
		fit->size = size;
		fit->tail = (uint32_t)(item[n].tail + relax_branch_size(&item[n]));
		n++;
	} while (n < nitem && item[n].fit && !item[n].begins_row);
	item[0].fitted_at = offset;
	if (!same)
		linefit_run(item[0].fit, n, offset);
	return n;
}

static uint64_t place(struct relax_item *item, uint32_t nitem, bool again)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < nitem; i++) {
		if (item[i].fit && item[i].begins_row)
			fit_row(item + i, nitem - i, at, again);
		item[i].front = item[i].fit ? item[i].fit->front : 0;
		at += gap_before(&item[i], at);
		item[i].addr = at;
		at += relax_size(&item[i]);
	}
	return at;
}

uint64_t relax_try_row(struct relax_item *item, uint32_t nitem, uint64_t at)
{
	uint32_t n = fit_row(item, nitem, at, false);
	uint64_t end = at;

	for (uint32_t i = 0; i < n; i++)
		end += gap_before(&item[i], end) + item[i].fit->front + item[i].size +
		       relax_branch_size(&item[i]);
	return end - at;
}

static bool reaches(const struct relax_item *item, uint32_t i)
{
	uint64_t from = item[i].addr + relax_size(&item[i]);
	uint64_t to = item[item[i].target].addr;

	return to >= from ? to - from <= 127 : from - to <= 128;
}

/* True when some branch grew. */
static bool grow(struct relax_item *item, uint32_t nitem, bool all)
{
	bool grew = false;

	for (uint32_t i = 0; i < nitem; i++) {
		if (item[i].target == RELAX_NONE || item[i].is_long)
			continue;
		if (all || !reaches(item, i))
			item[i].is_long = grew = true;
	}
	return grew;
}

uint64_t relax_again(struct relax_item *item, uint32_t nitem)
{
	uint64_t size;

	for (unsigned round = 0; ; round++) {
		size = place(item, nitem, round > 0);
		if (!grow(item, nitem, round >= MAX_ROUNDS))
			return size;
	}
}

uint64_t relax_run(struct relax_item *item, uint32_t nitem)
{
	for (uint32_t i = 0; i < nitem; i++)
		item[i].is_long = item[i].target == RELAX_FAR;
	return relax_again(item, nitem);
}
