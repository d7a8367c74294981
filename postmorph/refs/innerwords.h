/* innerwords.h - functions of which data knows an instruction; internal to PostMorph */
#ifndef POSTMORPH_REFS_INNERWORDS_H
#define POSTMORPH_REFS_INNERWORDS_H

#include "postmorph/ir/text.h"

/* Words of data lead inside; needs the jump tables of all functions that are kept. */
void innerwords_judge(struct text *t);

#endif
