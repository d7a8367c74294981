/* functions.h - makes functions of pieces; internal to PostMorph */
#ifndef POSTMORPH_FUNCTIONS_H
#define POSTMORPH_FUNCTIONS_H

#include "postmorph/ir/text.h"

/* Fills prog->fn[] with their ranges, once fragments have their parents. */
void functions_make(struct text *t);
/* Sets the reasons to skip that are about a function as a whole, once all targets are
 * marked. */
void functions_settle(struct text *t);

#endif
