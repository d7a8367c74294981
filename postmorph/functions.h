/* functions.h - pieces become functions; internal to PostMorph */
#ifndef POSTMORPH_FUNCTIONS_H
#define POSTMORPH_FUNCTIONS_H

#include "postmorph/ir/text.h"

/* prog->fn[] with their ranges, once fragments have their parents. */
void functions_make(struct text *t);
/* Reasons to skip that hold for a function as a whole, once all targets are marked. */
void functions_settle(struct text *t);

#endif
