/* behindtraps.h - finds functions with data behind a trap; internal to PostMorph */
#ifndef POSTMORPH_REFS_BEHINDTRAPS_H
#define POSTMORPH_REFS_BEHINDTRAPS_H

#include "postmorph/ir/text.h"

/* Once blocks and tables are known, of all functions that are kept. */
void behindtraps_judge(struct text *t);

#endif
