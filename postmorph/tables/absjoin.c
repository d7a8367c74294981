/* absjoin.c - joins two states of the jump table analysis where ways of control meet
 *
 * What holds after the join holds in both states.  Values that were equal on both ways stay
 * equal: they get a common name of the join point, which no instruction gives.
 *
 * Most joins change nothing, because the walk comes to a point again with what it knew there:
 * is_joined() sees that without making the join.
 *
 * Tested by tests/unit/postmorph/tables/test_absint.c.
 */
#include "postmorph/tables/absint.h"

#include <string.h>

static const uint32_t PHI = (uint32_t)1 << 31;	/* names given at joins, not instructions */

/* Cells of both; those of `from` are brought into the order of s. */
static void join_cells(struct abs_state *s, struct abs_state *from)
{
	struct abs_state in = *from;

	for (unsigned k = 0; k < ABS_NCELL; k++) {
		unsigned j = 0;

		while (j < ABS_NCELL && (in.cell[j].bytes == 0 ||
					 memcmp(&in.cell[j], &s->cell[k], sizeof(s->cell[k]))))
			j++;
		if (s->cell[k].bytes == 0 || j == ABS_NCELL)
			absint_drop_cell(s, k);
		from->v[ABS_NREG + k] = j < ABS_NCELL ? in.v[ABS_NREG + j] : value_plain();
	}
}

/* Values with the same pair of names before the join are one class after it.  A class keeps its
 * name if it had the same one on both sides; else it gets a name of this join point. */
static uint32_t join_name(const struct abs_value *old, const struct abs_value *from, unsigned i,
			  uint32_t insn)
{
	uint32_t here = PHI | (insn * 32), name = old[i].name;
	unsigned first = i, members = 0;

	if (name == 0 || from[i].name == 0 || old[i].form != from[i].form)
		return 0;
	if (name == from[i].name && (name & ~(uint32_t)31) != here)
		return name;
	for (unsigned j = 0; j < ABS_NVALUE; j++)
		if (old[j].name == name && from[j].name == from[i].name &&
		    old[j].form == from[j].form) {
			if (j < first)
				first = j;
			members++;
		}
	return members > 1 ? here + first : 0;
}

static bool is_given_here(uint32_t name, uint32_t insn)
{
	return (name & ~(uint32_t)31) == (PHI | (insn * 32));
}

/* Joined with y it is what it was.  A name of this join point may be taken away. */
static bool stays(const struct abs_value *x, const struct abs_value *y, uint32_t insn)
{
	static const struct abs_value plain = {
		.bound = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
	};

	if (!y->may && memcmp(x, &plain, sizeof(*x)) == 0)
		return true;
	return (x->name ? !is_given_here(x->name, insn) : x->form == 0) &&
	       memcmp(x, y, sizeof(*x)) == 0;
}

/* Joining is known to change nothing: mostly so.  Where s has no cell, none comes. */
static bool is_joined(const struct abs_state *s, const struct abs_state *from, uint32_t insn)
{
	static const struct abs_compare none;
	bool compared = memcmp(&s->compare, &none, sizeof(none)) != 0;

	if ((from->flags & ~s->flags) || (s->counts & ~from->counts) ||
	    (from->flags_may & ~s->flags_may) ||
	    (compared && (memcmp(&s->compare, &from->compare, sizeof(none)) != 0 ||
			  is_given_here(s->compare.name, insn))))
		return false;
	for (unsigned i = 0; i < ABS_NREG; i++)
		if (!stays(&s->v[i], &from->v[i], insn))
			return false;
	for (unsigned k = 0; k < ABS_NCELL; k++)
		if (s->cell[k].bytes &&
		    (memcmp(&s->cell[k], &from->cell[k], sizeof(s->cell[k])) != 0 ||
		     !stays(&s->v[ABS_NREG + k], &from->v[ABS_NREG + k], insn)))
			return false;
	return true;
}

bool absint_join(struct abs_state *s, const struct abs_state *from, uint32_t insn)
{
	if (is_joined(s, from, insn))
		return false;
	struct abs_state old = *s, in = *from;

	join_cells(s, &in);
	struct abs_state aligned = *s;
	for (unsigned i = 0; i < ABS_NVALUE; i++) {
		s->v[i] = value_join(&aligned.v[i], &in.v[i]);
		s->v[i].name = join_name(aligned.v, in.v, i, insn);
		s->v[i].form = s->v[i].name ? aligned.v[i].form : 0;
	}
	if (memcmp(&s->compare, &in.compare, sizeof(s->compare)) != 0 ||
	    is_given_here(s->compare.name, insn))
		s->compare = (struct abs_compare){ 0 };
	s->flags |= in.flags;
	s->counts &= in.counts;
	s->flags_may |= in.flags_may;
	return memcmp(&old, s, sizeof(old)) != 0;
}
