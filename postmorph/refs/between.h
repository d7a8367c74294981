/* between.h - finds functions that lie between two places that code knows; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_BETWEEN_H
#define POSTMORPH_REFS_BETWEEN_H

#include "postmorph/ir/text.h"
#include "postmorph/refs/addressuse.h"

/* Code of an FDE, of which that at `at` is, may know `to` as a place of other code. */
bool between_knows(const struct text *t, vaddr at, vaddr to);
/* The instruction at `at` forms the address `to`; `use` and `call` are what address_use() says
 * of it. */
void between_note(struct text *t, vaddr at, vaddr to, enum address_use use, vaddr call);
/* Functions between two such places stay, once all code was looked at. */
void between_judge(struct text *t);

#endif
