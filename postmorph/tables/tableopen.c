/* tableopen.c - where a table of addresses ends of which no comparison says it
 *
 * A run of entries that ends is not always a whole table: arrays of labels have unused entries,
 * which lead to no code, code may form the address of an array's middle, and where the lowest
 * index is not 0 compilers form an address in front of the table, where anything may stand.
 * All of these have words in common that lead into the function, or to where any begins, as a
 * part of this one may, and are not in the run.  So a table whose index has no bound ends in
 * doubt where such words are near; many lead to where functions begin, of which only the next
 * count.  That they are in another table, too, does not help: that
 * one may begin in front of what is its own as well.
 *
 * Of entries that are distances (BLOCKMAP_TABLE_REL32) this is not asked: compilers fill such
 * tables, and add what is in front to where entries are read, which makes it another table.
 *
 * Tested by tests/programs/openswitch.sh.
 */
#include "postmorph/tables/tablewalk.h"

/* Words on either side, and those behind where the beginning of any piece counts; the Verifier
 * looks at as many.  Chosen. */
enum { NEAR = 4096, NEXT = 32, SIZE = 8 };

static void refuse(struct walk *w, uint32_t group)
{
	w->groups.v[group].why_not = JUMP_NO_BOUND;
	for (uint32_t i = 0; i < w->dispatches.n; i++)
		if (w->dispatches.v[i].group == group)
			w->dispatches.v[i].why_not = JUMP_NO_BOUND;
}

static bool is_in_doubt(struct walk *w, const struct group *g)
{
	vaddr end = g->addr + (vaddr)SIZE * tablewalk_new_entries(w, g);

	w->work += NEAR / 32;	/* a word is less than an instruction */
	for (vaddr at = g->addr - SIZE * NEAR; at < end + SIZE * NEAR; at += SIZE) {
		if (at == g->addr)
			at = end;
		if (tablescan_leads_in(w->t, w->fn, g->addr, at,
				       at >= end && at < end + SIZE * NEXT))
			return true;
	}
	return false;
}

bool tableopen_doubt(struct walk *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->groups.n && w->work < w->limit; i++) {
		const struct group *g = &w->groups.v[i];

		if (g->kind != BLOCKMAP_TABLE_ABS64 || !g->open || g->why_not != JUMP_TABLE ||
		    !is_in_doubt(w, g))
			continue;
		refuse(w, i);
		any = true;
	}
	return any;
}
