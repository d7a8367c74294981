/* tableopen.c - where a table of addresses ends of which no comparison says it
 *
 * A run of entries that ends is not always a whole table: arrays of labels have unused entries,
 * which lead to no code, code may form the address of an array's middle, and where the lowest
 * index is not 0 compilers form an address in front of the table, where anything may stand.
 * All of these have words in common that lead into the function and are in no run, or in one of
 * another table.  So a table whose index has no bound ends in doubt where such words are near,
 * but for those of tables that comparisons bound: no two objects are in the same place.
 *
 * Of entries that are distances (BLOCKMAP_TABLE_REL32) this is not asked: compilers fill such
 * tables, and add what is in front to where entries are read, which makes it another table.
 *
 * Tested by tests/programs/openswitch.sh.
 */
#include "postmorph/tables/tablewalk.h"

/* Words on either side; the Verifier looks at as many.  Chosen: 'z' and many opcodes more. */
enum { NEAR = 4096, SIZE = 8 };

static bool is_bounded(const struct walk *w, const struct group *g)
{
	return g->kind == BLOCKMAP_TABLE_ABS64 && g->bound && !g->loose &&
	       g->why_not == JUMP_TABLE && !w->ai.escaped[g - w->groups.v];
}

static bool is_other_tables(const struct walk *w, vaddr at)
{
	for (uint32_t i = 0; i < w->groups.n; i++) {
		const struct group *g = &w->groups.v[i];

		if (at - g->addr < (vaddr)SIZE * g->bound && is_bounded(w, g))
			return true;
	}
	return false;
}

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
		if (tablescan_leads_inside(w->t, w->fn, g->addr, at) && !is_other_tables(w, at))
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
