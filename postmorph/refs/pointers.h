/* pointers.h - marks every address in the code that something may hold or jump to; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_POINTERS_H
#define POSTMORPH_REFS_POINTERS_H

#include "postmorph/ir/text.h"

struct err;

/* Marks everything whose address is known to be taken, or branched to from code that no FDE
 * covers.  -1 with ERR_INPUT. */
int pointers_mark(struct text *t, struct err *err);

#endif
