/* functionnames.h - takes names of functions from symbols; internal to PostMorph */
#ifndef POSTMORPH_FUNCTIONNAMES_H
#define POSTMORPH_FUNCTIONNAMES_H

#include "postmorph/ir/text.h"

/* Marks the pieces that are fragments by the name of their symbol. */
void names_mark_fragments(struct text *t);
/* Sets fn->name and fn->symbol, once functions are made. */
void names_give(struct text *t);

#endif
