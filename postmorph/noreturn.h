/* noreturn.h - finds the functions that never return; internal to PostMorph */
#ifndef POSTMORPH_NORETURN_H
#define POSTMORPH_NORETURN_H

#include "postmorph/ir/text.h"

/* Fills text.noreturn[].  Jump tables are not known yet: a jump through one may return. */
void noreturn_find(struct text *t);

#endif
