/* innerwords.h - functions of which data knows an instruction; internal to PostMorph */
#ifndef POSTMORPH_REFS_INNERWORDS_H
#define POSTMORPH_REFS_INNERWORDS_H

#include "postmorph/ir/text.h"

/* Data of all kinds stands in it, tables of computed jumps, too. */
bool innerwords_is_mixed(const struct section *s);
/* Words of data may stand in it: not if it is not loaded, of unwind tables, or made by the
 * linker.  In sections of code they stand where innerwords_is_code() says no. */
bool innerwords_may_hold(const struct section *s);
/* What an FDE covers. */
bool innerwords_is_code(const struct text *t, vaddr at);
/* Words of data lead inside; needs the jump tables of all functions that are kept. */
void innerwords_judge(struct text *t);
/* Jumps of fn may go by a word that leads there: it is in the part where fn begins, or in what
 * is a fragment of it not only by its symbol. */
bool innerwords_may_be_jumped_to(const struct text *t, uint32_t fn, vaddr place);

#endif
