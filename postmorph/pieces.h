/* pieces.h - decodes the code that FDEs cover; internal to PostMorph */
#ifndef POSTMORPH_PIECES_H
#define POSTMORPH_PIECES_H

#include "postmorph/ir/text.h"

struct err;

/* Fills text.piece[]: decodes all pieces, marks instructions and direct branch targets.  -1
 * with ERR_REFUSED or ERR_INPUT. */
int pieces_decode(struct text *t, struct err *err);
/* Finds the parent of every fragment. */
void pieces_join(struct text *t);

#endif
