/* blocks.h - divides a function into basic blocks and edges; internal to PostMorph */
#ifndef POSTMORPH_BLOCKS_H
#define POSTMORPH_BLOCKS_H

#include "postmorph/ir/text.h"

struct table_use;

/* Fills fn->block[], fn->order[] and the successors of its tables, in `a`, from the marks and
 * use[nuse], ascending by instruction.  Needs fn->insn[] (fn_load). */
void blocks_make(const struct text *t, struct arena *a, struct fn *fn,
		 const struct table_use *use, uint32_t nuse);

#endif
