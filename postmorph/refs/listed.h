/* listed.h - functions that a section lists for tools that patch code; internal to PostMorph */
#ifndef POSTMORPH_REFS_LISTED_H
#define POSTMORPH_REFS_LISTED_H

#include "postmorph/ir/text.h"

/* The word at `place` gets the value `to`. */
void listed_note(struct text *t, vaddr place, vaddr to);
/* All words of such sections, as addresses and as distances from where they stand. */
void listed_note_words(struct text *t);

#endif
