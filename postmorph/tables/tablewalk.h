/* tablewalk.h - walks over one function's instructions to find its jump tables; internal to
 * jumptable.c, which explains it, and its parts */
#ifndef POSTMORPH_TABLES_TABLEWALK_H
#define POSTMORPH_TABLES_TABLEWALK_H

#include "postmorph/tables/absint.h"
#include "postmorph/ir/text.h"
#include "postmorph/tables/tablescan.h"

struct group {
	vaddr addr;
	uint32_t kind;		/* enum blockmap_table_kind */
	struct tablescan scan;
	uint32_t bound;		/* of all jumps through it; 0: none seen */
	uint32_t table;		/* index in fn->table[] once proven */
	/* enum ijump_kind: JUMP_TABLE while nothing speaks against it */
	uint8_t why_not;
	/* no bound is asked for: whoever reads an entry is to compare the index first */
	bool guarded;
	bool bare;		/* somebody who reads one cannot */
};

struct dispatch {
	uint32_t insn;
	uint16_t group;
	uint8_t why_not;	/* enum ijump_kind, as far as this jump alone is concerned;
				 * ADDRESS_USED: only the walk before has met it */
};

struct walk {
	struct text *t;
	struct fn *fn;
	struct arena *arena;
	uint32_t *range_end;	/* [nrange] instruction index behind each range */
	struct op *op;		/* [ninsn] */
	/* [ninsn] landing pad's instruction + 1 if it may throw; NULL: none */
	uint32_t *pad;
	/* [ninsn] absint_may() before an indirect jump; before the load of an entry, but for
	 * the register that it overwrites */
	uint64_t *jump_may;
	struct abs_state **state;	/* [ninsn] at join points that were reached */
	/* [ninsn] of the walk before: memory for this one; NULL: none */
	struct abs_state **before;
	uint16_t *reads;	/* [ninsn] group whose entry the load reads + 1, as seen last */
	uint64_t *dirty;	/* bit per instruction: state changed since it was walked */
	uint32_t lowest;	/* no dirty bit below */
	bool *visited;		/* [ninsn] */
	uint32_t *stamp, round;	/* [ninsn] last dispatch that went there */
	VEC(struct group) groups;
	VEC(struct dispatch) dispatches;
	struct absint ai;
	uint32_t nstate;
	uint64_t work, limit;
};

/* Instruction of the function that begins at addr, UINT32_MAX if none. */
uint32_t tablewalk_insn_at(const struct walk *w, vaddr addr);
/* Control comes to instruction i in state s, which becomes a join point. */
void tablewalk_come(struct walk *w, uint32_t i, const struct abs_state *s);
/* Where the frame is before op, which stands at addr. */
void tablewalk_frame(struct walk *w, const struct op *op, vaddr addr);
/* A call; false when it is known not to come back. */
bool tablewalk_call(struct walk *w, const struct insn *insn, const struct op *op,
		    struct abs_state *s);
/* Control runs on from code of `piece` to `behind`, if a call in front of that should come
 * back: then both belong to one function. */
static inline bool tablewalk_runs_on(const struct text *t, uint32_t piece, vaddr behind)
{
	uint32_t p = text_piece(t, behind);

	return p != UINT32_MAX && text_kin(t, p) == text_kin(t, piece);
}
/* Walks from all entries until nothing changes, or there is too much work. */
void tablewalk_all(struct walk *w);
/* Entries of the table before another one of the function begins; with `sure`, one that
 * nobody could take for something else.  A table of another function behind it may add a few
 * that are none, by chance: then more is followed than can happen. */
uint32_t tablewalk_own_entries(const struct walk *w, const struct group *g, bool sure);
/* Indexes that go by the new table, where its readers compare them. */
static inline uint32_t tablewalk_guard(const struct walk *w, const struct group *g)
{
	return tablewalk_own_entries(w, g, false);
}
/* Entries that the new table has. */
static inline uint32_t tablewalk_new_entries(const struct walk *w, const struct group *g)
{
	uint32_t n = tablewalk_own_entries(w, g, true);

	return n > g->bound ? n : g->bound;
}

/* tableaway.c: control goes to code at addr that is not the function's. */
void tableaway_follow(struct walk *w, vaddr addr, const struct abs_state *s);

#endif
