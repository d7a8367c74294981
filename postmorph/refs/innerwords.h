/* innerwords.h - functions of which data knows an instruction; internal to PostMorph */
#ifndef POSTMORPH_REFS_INNERWORDS_H
#define POSTMORPH_REFS_INNERWORDS_H

#include "postmorph/ir/text.h"

/* Data of all kinds stands in it, tables of computed jumps, too. */
bool innerwords_is_mixed(const struct section *s);
/* Words of data lead inside; needs the jump tables of all functions that are kept. */
void innerwords_judge(struct text *t);

#endif
