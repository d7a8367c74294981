/* relax.c - branch relaxation: branches start short and grow until all reach
 *
 * Each round places all items with the sizes known so far, and makes every short branch long
 * that does not reach its target.  A branch that grows can push others out of reach, so rounds
 * repeat until none grows.  (Through alignment it can also bring a target back into reach; that
 * branch stays long.)  Real programs need under ten rounds.  A sequence made on purpose, in
 * which one branch grows a round, would cost the square of its length: after MAX_ROUNDS every
 * branch that is left is made long, which is always valid.
 */
#include "editor/emit/relax.h"

enum { MAX_ROUNDS = 64 };

/* By how many bytes an item that begins at `at` must move for its end to lie in one line. */
static uint64_t short_of_line(const struct relax_item *item, uint64_t at)
{
	uint64_t end = at + relax_size(item), from = at + item->front + item->size - item->tail;

	return item->in_line && from / RELAX_LINE != end / RELAX_LINE ? -from & (RELAX_LINE - 1)
								      : 0;
}

/* Bytes in front of an item.  An end in one line has priority over an alignment that may be
 * left out (max_skip).  An item that must be aligned moves by one alignment more if that brings
 * its end into one line.  An item that can grow in front does not move for its end. */
static uint64_t gap_before(const struct relax_item *item, uint64_t at)
{
	uint64_t pad = item->align > 1 ? -at & (item->align - 1u) : 0;

	if (item->max_skip && (pad > item->max_skip || short_of_line(item, at + pad)))
		pad = 0;
	uint64_t more = short_of_line(item, at + pad);

	if (more <= item->max_front)
		return pad;
	if (item->align <= 1 || item->max_skip)
		return pad + more;
	return more && !short_of_line(item, at + pad + item->align) ? pad + item->align : pad;
}

static uint64_t place(struct relax_item *item, uint32_t nitem)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < nitem; i++) {
		item[i].front = 0;
		at += gap_before(&item[i], at);
		item[i].addr = at;
		uint64_t more = short_of_line(&item[i], at);

		item[i].front = more <= item[i].max_front ? (uint8_t)more : 0;
		at += relax_size(&item[i]);
	}
	return at;
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

uint64_t relax_run(struct relax_item *item, uint32_t nitem)
{
	uint64_t size;

	for (uint32_t i = 0; i < nitem; i++)
		item[i].is_long = item[i].target == RELAX_FAR;
	for (unsigned round = 0; ; round++) {
		size = place(item, nitem);
		if (!grow(item, nitem, round >= MAX_ROUNDS))
			return size;
	}
}
