/* watched.h - finds functions whose inner addresses other code compares with the PC; internal
 * to PostMorph */
#ifndef POSTMORPH_REFS_WATCHED_H
#define POSTMORPH_REFS_WATCHED_H

#include "postmorph/ir/text.h"

/* Code outside of the function, if it is one, has the address of an instruction in its
 * middle. */
void watched_note_inside(struct text *t, vaddr place);
/* Code asks what lies before and after this entry. */
void watched_note_order(struct text *t, vaddr entry);
/* A relocation holds the address; what that means is judged once all jumps are known. */
void watched_note_held(struct text *t, vaddr place);
void watched_judge(struct text *t);

#endif
