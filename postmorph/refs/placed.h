/* placed.h - functions whose place programs ask for; internal to PostMorph */
#ifndef POSTMORPH_REFS_PLACED_H
#define POSTMORPH_REFS_PLACED_H

#include "postmorph/ir/text.h"

/* Before anything is noted. */
void placed_look_at_file(struct text *t);
static inline bool placed_is_end(const struct text *t, vaddr to)
{
	return to == t->end_of_code || to == t->end_of_exec || to == t->end;
}
/* Something holds the address, or forms it, and does not only hand it on. */
static inline void placed_note(struct text *t, vaddr to)
{
	t->asks_end |= placed_is_end(t, to);
}
/* Needs the marks of all that leads to code. */
void placed_judge(struct text *t);

#endif
